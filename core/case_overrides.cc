// The section network.overrides of a resolved case, and ranges of replicas.
#include <charconv>

#include "core/case_parts.h"
#include "core/errors.h"
#include "core/json_values.h"

namespace longhaul {
namespace {

// All of `text` as a number, or -1.
int parse_index(const std::string& text) {
  int value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? value : -1;
}

LinkOverride parse_override(const Json& json, int replicas, const std::string& path) {
  if (json.contains("link") == json.contains("replica"))
    throw InputError(path, "found " + json.dump(), "exactly one of link and replica");
  const bool has_direction = json.contains("up") || json.contains("down");
  if (json.contains("rate") && has_direction)
    throw InputError(path, "found " + json.dump(), "either rate, or up and down");
  if (!json.contains("rate") && !has_direction && !json.contains("delay"))
    throw InputError(path, "found " + json.dump(), "at least one of rate, up, down, delay",
                     "an override says what is different");
  LinkOverride one;
  if (json.contains("link")) {
    one.link = json["link"].get<std::string>();
  } else {
    const Json& replica = json["replica"];
    one.replicas = parse_replica_range(replica.is_string() ? replica.get<std::string>() : replica.dump(),
                                       replicas, path + ".replica");
  }
  one.up = optional_rate(json, json.contains("rate") ? "rate" : "up");
  one.down = optional_rate(json, json.contains("rate") ? "rate" : "down");
  one.delay = optional_duration(json, "delay");
  return one;
}

}  // namespace

std::pair<int, int> parse_replica_range(const std::string& text, int replicas, const std::string& path) {
  const std::size_t dash = text.find('-');
  const int first = parse_index(text.substr(0, dash)),
            last = dash == std::string::npos ? first : parse_index(text.substr(dash + 1));
  if (first < 0 || last < first || last >= replicas)
    throw InputError(path, "found \"" + text + "\"",
                     "a replica, 0 … " + std::to_string(replicas - 1) + ", or a range as \"0-3\"");
  return {first, last};
}

std::vector<LinkOverride> parse_overrides(const Json& json, int replicas) {
  std::vector<LinkOverride> overrides;
  for (std::size_t i = 0; i < json.size(); ++i)
    overrides.push_back(parse_override(json[i], replicas, element_path("network.overrides", i)));
  return overrides;
}

}  // namespace longhaul
