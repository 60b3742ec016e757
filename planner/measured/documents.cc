#include "planner/measured/documents.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "core/base/errors.h"
#include "planner/measured/json_scanner.h"
#include "planner/measured/text.h"

namespace longhaul::measured {
namespace {

const std::string_view kReplaced = "\xef\xbf\xbd";  // U+FFFD

unsigned byte_at(std::string_view raw, std::size_t at) {
  return static_cast<unsigned char>(raw[at]);
}

// Of the character of UTF-8 that begins at `at`; where there is none `is_whole` is false, and the bytes those
// that could have begun one.
struct Encoded {
  std::size_t bytes = 1;
  bool is_whole = false;
};

Encoded encoded_at(std::string_view raw, std::size_t at) {
  const unsigned first = byte_at(raw, at);
  if (first < 0x80) return {1, true};
  if (first < 0xC2 || first > 0xF4) return {1, false};
  const std::size_t bytes = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  // Too small for as many bytes, half of a pair of UTF-16, above the last character.
  unsigned least = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
  unsigned most = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
  for (std::size_t i = 1; i < bytes; ++i) {
    if (at + i >= raw.size() || byte_at(raw, at + i) < least || byte_at(raw, at + i) > most)
      return {i, false};
    least = 0x80, most = 0xBF;
  }
  return {bytes, true};
}

std::string of_utf8(std::string_view raw) {
  std::string text;
  for (std::size_t at = 0; at < raw.size();) {
    const Encoded one = encoded_at(raw, at);
    text += one.is_whole ? raw.substr(at, one.bytes) : kReplaced;
    at += one.bytes;
  }
  return text;
}

void append(std::string& text, char32_t code) {
  if (code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) {
    text += kReplaced;
    return;
  }
  const auto put = [&](char32_t bits) { text += static_cast<char>(bits); };
  if (code < 0x80) return put(code);
  if (code >= 0x10000)
    put(0xF0 | code >> 18), put(0x80 | (code >> 12 & 0x3F));
  else if (code >= 0x800)
    put(0xE0 | code >> 12);
  if (code >= 0x800)
    put(0x80 | (code >> 6 & 0x3F));
  else
    put(0xC0 | code >> 6);
  put(0x80 | (code & 0x3F));
}

enum class Order { kLowFirst, kHighFirst };

std::string of_utf16(std::string_view raw, Order order) {
  const auto unit = [&](std::size_t at) -> char32_t {
    const unsigned first = byte_at(raw, at), second = byte_at(raw, at + 1);
    return order == Order::kLowFirst ? second << 8 | first : first << 8 | second;
  };
  std::string text;
  std::size_t at = 0;
  for (; at + 1 < raw.size(); at += 2) {
    char32_t code = unit(at);
    if (code >= 0xD800 && code < 0xDC00 && at + 3 < raw.size() && unit(at + 2) >= 0xDC00 &&
        unit(at + 2) < 0xE000) {
      at += 2;
      code = 0x10000 + ((code - 0xD800) << 10) + (unit(at) - 0xDC00);
    }
    append(text, code);
  }
  if (at < raw.size()) text += kReplaced;
  return text;
}

std::string of_utf32(std::string_view raw) {
  std::string text;
  std::size_t at = 0;
  for (; at + 3 < raw.size(); at += 4)
    append(text, byte_at(raw, at) | byte_at(raw, at + 1) << 8 | byte_at(raw, at + 2) << 16 |
                     byte_at(raw, at + 3) << 24);
  if (at < raw.size()) text += kReplaced;
  return text;
}

// Whether the bytes at every second place from `first` on are zeros, as those of Latin letters in UTF-16.
bool has_zeros(std::string_view raw, std::size_t first) {
  constexpr std::size_t kLooked = 200;
  std::size_t all = 0, zeros = 0;
  for (std::size_t at = first; at < std::min(raw.size(), kLooked); at += 2) {
    ++all;
    zeros += raw[at] == '\0';
  }
  return all > 1 && static_cast<double>(zeros) > 0.8 * static_cast<double>(all);
}

// "\x1b[31m" and its like.
std::string without_colours(const std::string& text) {
  std::string plain;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    if (text.compare(at, 2, "\x1b[") == 0) {
      end = std::min(text.find_first_not_of("0123456789;", at + 2), text.size());
      const bool is_letter = end < text.size() && ((text[end] >= 'A' && text[end] <= 'Z') ||
                                                   (text[end] >= 'a' && text[end] <= 'z'));
      end = is_letter ? end + 1 : at;
    }
    if (end == at) plain += text[end++];
    at = end;
  }
  return plain;
}

std::size_t behind_blanks(std::string_view text, std::size_t at) {
  while (at < text.size() && is_space(text[at])) ++at;
  return at;
}

// The brace of the next object: behind a comma or the bracket of an array, or at the beginning of a line.
std::optional<std::size_t> next_object(std::string_view text, std::size_t at) {
  std::size_t here = behind_blanks(text, at);
  if (here < text.size() && (text[here] == '[' || text[here] == ',')) here = behind_blanks(text, here + 1);
  if (here < text.size() && text[here] == '{') return here;
  if (at > 0 && text[at - 1] != '\n') at = std::min(text.find('\n', at), text.size());
  while (at < text.size()) {
    const std::size_t first = text.find_first_not_of(" \t", text[at] == '\n' ? at + 1 : at);
    if (first == std::string_view::npos) return std::nullopt;
    if (text[first] == '{') return first;
    at = std::min(text.find('\n', first), text.size());
  }
  return std::nullopt;
}

bool begins_array(std::string_view text) {
  const std::size_t at = behind_blanks(text, 0);
  if (at >= text.size() || text[at] != '[') return false;
  const std::size_t first = behind_blanks(text, at + 1);
  return first < text.size() && text[first] == '{';
}

InputError broken(const std::string& file, std::string_view text, const BrokenJson& error) {
  const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(error.at), '\n');
  const std::string what = error.what();
  if (strip(text.substr(error.at)).empty() || what == kNoEnd)
    return of_file(
        file, fmt::format("ends in the middle of its JSON (line {}): the test was cut off; measure again, or "
                          "leave the file out",
                          line));
  return of_file(file, fmt::format("line {} is no JSON ({})", line, what), "the file as the tool wrote it");
}

}  // namespace

std::string decoded(std::string_view raw) {
  using namespace std::string_view_literals;
  if (starts_with(raw, "\xef\xbb\xbf")) return of_utf8(raw.substr(3));
  if (starts_with(raw, "\xff\xfe\0\0"sv)) return of_utf32(raw.substr(4));
  if (starts_with(raw, "\xff\xfe")) return of_utf16(raw.substr(2), Order::kLowFirst);
  if (starts_with(raw, "\xfe\xff")) return of_utf16(raw.substr(2), Order::kHighFirst);
  if (has_zeros(raw, 1)) return of_utf16(raw, Order::kLowFirst);
  if (has_zeros(raw, 0)) return of_utf16(raw, Order::kHighFirst);
  return without_colours(of_utf8(raw));
}

std::string text_of_file(const MeasurementFile& file) {
  const std::string raw = decoded(file.bytes);
  std::string text;
  for (std::size_t at = 0; at < raw.size(); ++at)
    if (raw.compare(at, 2, "\r\n") != 0) text += raw[at];
  using namespace std::string_view_literals;
  const bool has_words = text.find_first_not_of("\0 \t\r\n"sv) != std::string::npos;
  if (!has_words && !is_named_table(file.name))
    throw of_file(file.name, "is empty: the test wrote nothing; measure again, or leave the file out");
  return text;
}

std::vector<Json> json_documents(const std::string& file, std::string_view text) {
  std::vector<Json> documents;
  std::size_t at = 0;
  while (const std::optional<std::size_t> begin = next_object(text, at)) {
    at = *begin;
    try {
      documents.push_back(scan_json(text, at));
    } catch (const DeepJson&) {
      throw of_file(file, "is nested too deeply to be a measurement");
    } catch (const BrokenJson& error) {
      throw broken(file, text, error);
    }
  }
  if (begins_array(text) && !contains(text.substr(at), "]"))
    throw of_file(file,
                  "ends before its array does: the file was cut off; measure again, or leave the file out");
  return documents;
}

bool is_json(std::string_view text) {
  constexpr std::size_t kLooked = 4000;
  text = text.substr(0, kLooked);
  for (std::size_t line = 0; line < text.size(); line = text.find('\n', line) + 1) {
    std::size_t at = behind_blanks(text, line);
    if (at < text.size() && text[at] == '[') at = behind_blanks(text, at + 1);
    if (at < text.size() && text[at] == '{') {
      const std::size_t next = behind_blanks(text, at + 1);
      const bool ends_line = next >= text.size() || contains(text.substr(at, next - at), "\n");
      if (ends_line || text[next] == '"' || text[next] == '}') return true;
    }
    if (text.find('\n', line) == std::string_view::npos) break;
  }
  return false;
}

}  // namespace longhaul::measured
