#include "net/access_links.h"

#include "core/errors.h"
#include "core/json.h"
#include "core/units.h"

namespace longhaul {

AccessLinks parse_access_links(const Json& json, const std::string& path) {
  AccessLinks links;
  links.rtt = parse_duration(json.at("rtt"));
  const bool both = json.contains("up") && json.contains("down"),
             any = json.contains("up") || json.contains("down");
  if (json.contains("rate") == any || any != both)
    throw InputError(path, "found " + json.dump(), "either rate, or up and down");
  links.up = parse_rate(json.value("up", json.value("rate", "")));
  links.down = parse_rate(json.value("down", json.value("rate", "")));
  return links;
}

std::string rates_in_words(const Json& json) {
  return member(json, "rate").is_null() ? text_of(json, "up") + " up, " + text_of(json, "down") + " down"
                                        : text_of(json, "rate");
}

}  // namespace longhaul
