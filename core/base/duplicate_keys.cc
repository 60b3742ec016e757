#include "core/base/duplicate_keys.h"

#include <fmt/core.h>

#include <set>
#include <string>
#include <vector>

#include "core/base/errors.h"
#include "core/base/json.h"

namespace longhaul {
namespace {

// Follows the text event by event, for the path of where it is.
class KeyFollower : public nlohmann::json_sax<Json> {
 public:
  bool null() override { return value(); }
  bool boolean(bool) override { return value(); }
  bool number_integer(std::int64_t) override { return value(); }
  bool number_unsigned(std::uint64_t) override { return value(); }
  bool number_float(double, const std::string&) override { return value(); }
  bool string(std::string&) override { return value(); }
  bool binary(Json::binary_t&) override { return value(); }

  bool start_object(std::size_t) override { return open(/*is_list=*/false); }
  bool start_array(std::size_t) override { return open(/*is_list=*/true); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(std::string& name) override {
    Level& level = levels_.back();
    level.key = name;
    if (level.seen.insert(name).second) return true;
    throw InputError(path(), fmt::format("the key \"{}\" stands twice in this object", name), "each key once",
                     "remove one of them");
  }

  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }

 private:
  struct Level {
    bool is_list = false;
    std::string key;  // of an object: the last one
    std::size_t index = 0;
    std::set<std::string> seen;
  };

  bool value() {
    if (!levels_.empty() && levels_.back().is_list) ++levels_.back().index;
    return true;
  }
  bool open(bool is_list) {
    levels_.push_back({is_list, "", 0, {}});
    return true;
  }
  bool close() {
    levels_.pop_back();
    return value();
  }

  std::string path() const {
    std::string text;
    for (const Level& level : levels_)
      text = level.is_list ? element_path(text, level.index) : child_path(text, level.key);
    return text;
  }

  std::vector<Level> levels_;
};

}  // namespace

void check_no_duplicate_keys(std::string_view text) {
  KeyFollower follower;
  Json::sax_parse(text, &follower, Json::input_format_t::json, /*strict=*/true, /*ignore_comments=*/true);
}

}  // namespace longhaul
