#include "core/base/json.h"

#include <fmt/core.h>

#include <set>

#include "core/base/units.h"

namespace longhaul {
namespace {

// Byte position to "line 3, column 14".
std::string line_and_column(std::string_view text, std::size_t byte) {
  std::size_t line = 1, column = 1;
  for (std::size_t i = 0; i + 1 < byte && i < text.size(); ++i) {
    column = text[i] == '\n' ? 1 : column + 1;
    line += text[i] == '\n';
  }
  return fmt::format("line {}, column {}", line, column);
}

// The text without what the library sets before it: "[json.exception.type_error.302] ".
std::string without_prefix(const std::string& what) {
  const std::size_t end = what.find("] ");
  return !what.empty() && what.front() == '[' && end != std::string::npos ? what.substr(end + 2) : what;
}

// Behind the text or the comment that begins at `i`.
std::size_t behind_text(std::string_view text, std::size_t i) {
  for (++i; i < text.size() && text[i] != '"'; ++i)
    if (text[i] == '\\') ++i;
  return i + 1;
}
std::size_t behind_comment(std::string_view text, std::size_t i) {
  const bool is_line = text.substr(i, 2) == "//";
  const std::size_t end = text.find(is_line ? "\n" : "*/", i + 2);
  return end == std::string_view::npos ? text.size() : end + (is_line ? 1 : 2);
}

// Before anything is built of it: the library takes any depth, and copies what it has built by calling
// itself.
void check_depth(std::string_view text, JsonComments comments) {
  int depth = 0;
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == '"') {
      i = behind_text(text, i);
      continue;
    }
    if (c == '/' && comments == JsonComments::kAllowed && i + 1 < text.size() &&
        (text[i + 1] == '/' || text[i + 1] == '*')) {
      i = behind_comment(text, i);
      continue;
    }
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') --depth;
    if (depth > kDeepestJson)
      throw InputError(line_and_column(text, i + 1), fmt::format("found JSON nested {} deep", depth),
                       fmt::format("at most {}", kDeepestJson));
    ++i;
  }
}

// Of a value that may be long.
std::string shortened(const std::string& text) {
  return text.size() > 60 ? text.substr(0, 57) + "..." : text;
}

// "array" to "an array".
std::string with_article(const std::string& type) {
  const bool is_plain = type == "null";
  const bool has_vowel = !type.empty() && std::string("aeiou").find(type[0]) != std::string::npos;
  return is_plain ? type : fmt::format("{} {}", has_vowel ? "an" : "a", type);
}

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

void refuse_integer(const std::string& found, std::int64_t least, std::uint64_t most) {
  throw InputError("", fmt::format("found {}", shortened(found)),
                   fmt::format("an integer from {} to {}", least, most));
}

void refuse_value(const std::string& found, const char* allowed) {
  throw InputError("", fmt::format("found {}", shortened(found)), allowed);
}

Json parse_json(std::string_view text, JsonComments comments) {
  if (text.size() > kLargestJson)
    throw InputError("", fmt::format("found {} of JSON", human_bytes(static_cast<double>(text.size()))),
                     fmt::format("at most {}", human_bytes(static_cast<double>(kLargestJson))));
  check_depth(text, comments);
  try {
    return Json::parse(text, nullptr, true, comments == JsonComments::kAllowed);
  } catch (const Json::parse_error& error) {
    std::string what = error.what();
    const std::size_t tail = what.find(": ");  // behind the place, which the library counts otherwise
    if (tail != std::string::npos) what = what.substr(tail + 2);
    throw InputError(line_and_column(text, error.byte), fmt::format("is not JSON ({})", what), "");
  } catch (const Json::exception& error) {  // a number that no double holds
    throw InputError("", fmt::format("is not JSON ({})", without_prefix(error.what())), "");
  }
}

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

InputError in_our_words(const Json::exception& error) {
  const std::string what = without_prefix(error.what());
  if (error.id == 403) {  // key 'steps' not found
    const std::size_t begin = what.find('\''), end = what.rfind('\'');
    return InputError(end > begin ? what.substr(begin + 1, end - begin - 1) : "", "this key is missing", "");
  }
  if (error.id == 401) return InputError("", "a list has fewer elements than are needed", "");
  const std::string must = "type must be ", is = ", but is ", with = " with ";
  if (const std::size_t at = what.find(is);
      error.id == 302 && at != std::string::npos && what.find(must) == 0)
    return InputError("", "found " + with_article(what.substr(at + is.size())),
                      with_article(what.substr(must.size(), at - must.size())));
  if (const std::size_t at = what.rfind(with);
      (error.id == 304 || error.id == 305 || error.id == 306) && at != std::string::npos)
    return InputError("", "found " + with_article(what.substr(at + with.size())), "an object or a list");
  return InputError("", what, "");
}

std::string kind_of(const Json& value) {
  return with_article(value.type_name());
}

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
