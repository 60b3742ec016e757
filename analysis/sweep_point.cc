#include "analysis/sweep_point.h"

#include <algorithm>

namespace longhaul {
namespace {

bool addresses_method(const std::string& key) {
  return key.rfind("methods.", 0) == 0;
}

Json swept_of(const Json& record) {
  const Json swept = record.value("swept", Json::object());
  return swept.is_object() ? swept : Json::object();
}

}  // namespace

std::string sweep_point(const Json& record) {
  std::string text;
  const Json swept = swept_of(record);
  for (const auto& [key, value] : swept.items())
    if (!addresses_method(key)) text += (text.empty() ? "" : ", ") + key + " = " + plain(value);
  return text;
}

std::string method_variant(const Json& record) {
  const std::string label = record.value("label", record.value("method", "?"));
  const std::string prefix = "methods." + label + ".";
  std::string variant;
  const Json swept = swept_of(record);
  for (const auto& [key, value] : swept.items())
    if (key.rfind(prefix, 0) == 0)
      variant += (variant.empty() ? "" : ", ") + key.substr(prefix.size()) + " = " + plain(value);
  return variant.empty() ? label : label + " (" + variant + ")";
}

std::vector<std::string> swept_keys(const std::vector<Json>& records) {
  std::vector<std::string> keys;
  for (const Json& record : records) {
    const Json swept = swept_of(record);
    for (const auto& [key, value] : swept.items())
      if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
  }
  return keys;
}

}  // namespace longhaul
