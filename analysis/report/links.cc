#include "analysis/report/links.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "analysis/csv_stream.h"
#include "analysis/report/digits.h"

namespace longhaul {
namespace {

struct Load {
  std::string link, direction;
  double bytes = 0, busy_s = 0;
};

}  // namespace

Json busiest_links(const std::string& case_folder, std::size_t count) {
  const std::string file = case_folder + "/links.csv";
  if (!std::filesystem::exists(file)) return nullptr;
  std::vector<Load> loads;
  double total = 0;
  for (CsvStream rows(file, {"link", "direction", "bytes", "busy_s"}); rows.next();) {
    if (rows.number(2) == 0) continue;
    loads.push_back({std::string(rows.text(0)), std::string(rows.text(1)), rows.number(2), rows.number(3)});
    total += loads.back().bytes;
  }
  std::stable_sort(loads.begin(), loads.end(),
                   [](const Load& a, const Load& b) { return a.bytes > b.bytes; });
  Json links = {{"total_bytes", six_digits(total)}, {"used", loads.size()}, {"busiest", Json::array()}};
  for (std::size_t i = 0; i < std::min(count, loads.size()); ++i)
    links["busiest"].push_back({{"link", loads[i].link},
                                {"direction", loads[i].direction},
                                {"bytes", six_digits(loads[i].bytes)},
                                {"busy_s", six_digits(loads[i].busy_s)}});
  return links;
}

}  // namespace longhaul
