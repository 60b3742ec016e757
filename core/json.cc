#include "core/json.h"

#include <fmt/core.h>

#include "core/units.h"

namespace longhaul {

std::string child_path(const std::string& path, const std::string& key) {
  return path.empty() ? key : path + "." + key;
}

std::string element_path(const std::string& path, std::size_t index) {
  return fmt::format("{}[{}]", path, index);
}

Json member(const Json& json, const std::string& key) {
  if (!json.is_object()) return nullptr;
  const auto found = json.find(key);
  return found == json.end() ? Json(nullptr) : *found;
}

std::string plain(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string text_of(const Json& json, const std::string& key) {
  const Json value = member(json, key);
  return value.is_null() ? "?" : plain(value);
}

std::optional<double> optional_rate(const Json& json, const char* key) {
  if (!json.contains(key)) return std::nullopt;
  return parse_rate(json[key]);
}

std::optional<double> optional_duration(const Json& json, const char* key) {
  if (!json.contains(key)) return std::nullopt;
  return parse_duration(json[key]);
}

}  // namespace longhaul
