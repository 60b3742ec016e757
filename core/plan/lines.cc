#include "core/plan/lines.h"

#include <fmt/core.h>

namespace longhaul {

InputError of_line(const InputError& error, const std::string& file, int line, const std::string& allowed) {
  InputErrorParts parts = error.parts();
  parts.file = file;
  const std::string of_text = "line 1, ";  // each line is a text of its own to parse_json
  if (parts.path.rfind(of_text, 0) == 0) parts.path.erase(0, of_text.size());
  parts.path = fmt::format("line {}{}{}", line, parts.path.empty() ? "" : ", ", parts.path);
  if (parts.allowed.empty()) parts.allowed = allowed;
  return InputError(parts);
}

std::int64_t number_at(const Json& json, const char* key) {
  const Json& value = json.at(key);
  try {
    return value.get<std::int64_t>();
  } catch (const InputError& error) {
    throw InputError(key, error.parts().found, error.parts().allowed);
  }
}

std::int64_t in_range(const std::string& path, std::int64_t found, std::int64_t least, std::int64_t most) {
  if (found < least || found > most)
    throw InputError(path, fmt::format("found {}", found), fmt::format("{} to {}", least, most));
  return found;
}

}  // namespace longhaul
