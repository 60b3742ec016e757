#include "core/base/duplicate_keys.h"

#include <fmt/core.h>

#include <set>
#include <string>
#include <vector>

#include "core/base/errors.h"
#include "core/base/json.h"

namespace longhaul {
namespace {

// An object or a list that the reader is inside of.
struct Level {
  bool is_list = false;
  std::string key;  // of an object: the last one
  std::size_t index = 0;
  std::set<std::string> seen;
};

std::string path_of(const std::vector<Level>& levels) {
  std::string path;
  for (const Level& level : levels)
    path = level.is_list ? element_path(path, level.index) : child_path(path, level.key);
  return path;
}

}  // namespace

void check_no_duplicate_keys(std::string_view text) {
  using Event = Json::parse_event_t;
  std::vector<Level> levels;
  const auto follow = [&](int, Event event, const Json& parsed) {
    const bool begins = event == Event::object_start || event == Event::array_start;
    if (event == Event::key) {
      levels.back().key = parsed.get<std::string>();
      if (!levels.back().seen.insert(levels.back().key).second)
        throw InputError(path_of(levels),
                         fmt::format("the key \"{}\" stands twice in this object", levels.back().key),
                         "each key once", "remove one of them");
    } else if (begins) {
      levels.push_back({event == Event::array_start, "", 0, {}});
    } else {  // a value has ended
      if (event != Event::value) levels.pop_back();
      if (!levels.empty() && levels.back().is_list) ++levels.back().index;
    }
    return begins || event == Event::key;  // what has ended is not kept: the parser would search all of it
  };
  const Json unused = Json::parse(text, follow, /*allow_exceptions=*/false, /*ignore_comments=*/true);
}

}  // namespace longhaul
