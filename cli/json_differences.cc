#include "cli/json_differences.h"

#include <fmt/core.h>

#include <algorithm>

namespace longhaul {
namespace {

constexpr std::size_t kLongestValue = 60;  // letters

// `value`: null where there is none.
std::string text_of_value(const Json* value) {
  if (value == nullptr) return "none";
  const std::string text = value->dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() <= kLongestValue) return text;
  std::size_t end = kLongestValue;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80)
    --end;  // inside a letter of UTF-8
  return text.substr(0, end) + "...";
}

bool has_objects_alone(const Json& list) {
  return list.is_array() &&
         std::all_of(list.begin(), list.end(), [](const Json& one) { return one.is_object(); });
}

void add_differences(const Json* there, const Json* here, const std::string& path,
                     std::vector<std::string>& words) {
  static const Json kNothing = Json::object();
  const auto is_section = [](const Json* one) {
    return one == nullptr || (one->is_object() && !one->empty());
  };
  if (there != nullptr && here != nullptr && *there == *here) return;
  if (is_section(there) && is_section(here)) {
    const Json &before = there ? *there : kNothing, &now = here ? *here : kNothing;
    for (const auto& [key, child] : now.items())
      add_differences(before.contains(key) ? &before[key] : nullptr, &child, child_path(path, key), words);
    for (const auto& [key, child] : before.items())
      if (!now.contains(key)) add_differences(&child, nullptr, child_path(path, key), words);
    return;
  }
  if (there && here && has_objects_alone(*there) && has_objects_alone(*here) &&
      there->size() == here->size()) {
    for (std::size_t i = 0; i < here->size(); ++i)
      add_differences(&(*there)[i], &(*here)[i], element_path(path, i), words);
    return;
  }
  words.push_back(fmt::format("{} ({} there, {} here)", path, text_of_value(there), text_of_value(here)));
}

}  // namespace

std::vector<std::string> differences_in_words(const Json& there, const Json& here) {
  std::vector<std::string> words;
  add_differences(&there, &here, "", words);
  return words;
}

}  // namespace longhaul
