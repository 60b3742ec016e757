#include "analysis/palette.h"

#include <algorithm>

#include "core/base/hash.h"
#include "core/base/ranges.h"

namespace longhaul {
namespace {

// Of the palette, in its order.
const std::vector<std::string> kCommonMethods = {"diloco",     "noloco", "ddp",       "streaming-diloco",
                                                 "sparseloco", "muloco", "local-sgd", "independent"};

}  // namespace

std::map<std::string, std::string> method_colors(std::vector<std::string> labels) {
  const std::vector<std::string>& palette = method_palette();
  std::sort(labels.begin(), labels.end());  // whatever the order of the scenario
  std::map<std::string, std::string> colors;
  std::vector<bool> is_taken(palette.size());
  const auto give = [&](const std::string& label, std::size_t place) {
    colors[label] = palette[place];
    is_taken[place] = true;
  };
  for (std::size_t i = 0; i < kCommonMethods.size(); ++i)
    if (contains(labels, kCommonMethods[i])) give(kCommonMethods[i], i);
  for (const std::string& label : labels) {
    if (colors.count(label)) continue;
    const std::size_t own = fnv1a(label) % palette.size();
    std::size_t place = own;
    while (is_taken[place] && (place + 1) % palette.size() != own) place = (place + 1) % palette.size();
    give(label, is_taken[place] ? own : place);
  }
  return colors;
}

}  // namespace longhaul
