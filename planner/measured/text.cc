#include "planner/measured/text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <set>

#include "core/base/units.h"

namespace longhaul::measured {
namespace {

const std::string_view kNoBreakSpace = "\xc2\xa0";

struct Character {
  char32_t code = 0;
  std::size_t bytes = 1;
};

// `text` is valid UTF-8; of a part that is cut inside a character its bytes are characters.
Character character_at(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(at);
  const std::size_t bytes = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  if (bytes == 1 || at + bytes > text.size()) return {first, 1};
  char32_t code = first & (0xFFU >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) code = code << 6 | (byte(at + i) & 0x3FU);
  return {code, bytes};
}

std::string utf8(char32_t code) {
  if (code < 0x80) return std::string(1, static_cast<char>(code));
  return {static_cast<char>(0xC0 | code >> 6), static_cast<char>(0x80 | (code & 0x3F))};
}

bool is_ascii_letter(char32_t code) {
  return (code >= 'a' && code <= 'z') || (code >= 'A' && code <= 'Z');
}

// Signs and punctuation of the Latin and general blocks are none.
bool is_letter_or_digit(char32_t code) {
  if (code < 0x80) return is_ascii_letter(code) || (code >= '0' && code <= '9');
  if (code < 0xC0)
    return code == 0xAA || code == 0xB2 || code == 0xB3 || code == 0xB5 ||
           (code >= 0xB9 && code != 0xBB && code != 0xBF);
  return code != 0xD7 && code != 0xF7 && (code < 0x2000 || code > 0x206F) && code != 0xFFFD && code != 0xFEFF;
}

// Small letters stand 32, 80 or one behind the large ones.
char32_t small_letter(char32_t code) {
  const auto within = [&](char32_t first, char32_t last) { return code >= first && code <= last; };
  if (within('A', 'Z') || (within(0xC0, 0xDE) && code != 0xD7) || (within(0x391, 0x3A9) && code != 0x3A2) ||
      within(0x410, 0x42F))
    return code + 32;
  if (within(0x400, 0x40F)) return code + 80;
  const bool is_even_large =
      (within(0x100, 0x137) && code != 0x130) || within(0x14A, 0x177) || within(0x460, 0x481);
  const bool is_odd_large = within(0x139, 0x148) || within(0x179, 0x17E);
  if ((is_even_large && code % 2 == 0) || (is_odd_large && code % 2 == 1)) return code + 1;
  return code;
}

// Of a line end at `at`; 0 where there is none.
std::size_t line_end_bytes(std::string_view text, std::size_t at) {
  const char c = text[at];
  if (c == '\r') return text.substr(at, 2) == "\r\n" ? 2 : 1;
  if (c == '\n' || c == '\v' || c == '\f' || (c >= '\x1c' && c <= '\x1e')) return 1;
  if (text.substr(at, 2) == "\xc2\x85") return 2;
  const std::string_view three = text.substr(at, 3);
  return three == "\xe2\x80\xa8" || three == "\xe2\x80\xa9" ? 3 : 0;
}

}  // namespace

bool is_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r') || (c >= '\x1c' && c <= '\x1f');
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::string_view strip(std::string_view text) {
  while (!text.empty())
    if (is_space(text.front()))
      text.remove_prefix(1);
    else if (is_space(text.back()))
      text.remove_suffix(1);
    else if (starts_with(text, kNoBreakSpace))
      text.remove_prefix(kNoBreakSpace.size());
    else if (ends_with(text, kNoBreakSpace))
      text.remove_suffix(kNoBreakSpace.size());
    else
      break;
  return text;
}

std::string_view strip(std::string_view text, std::string_view characters) {
  const std::size_t begin = text.find_first_not_of(characters);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(characters) - begin + 1);
}

bool starts_with(std::string_view text, std::string_view begin) {
  return text.substr(0, begin.size()) == begin;
}

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::string lower_case(std::string_view text) {
  std::string small;
  for (std::size_t at = 0; at < text.size();) {
    const Character one = character_at(text, at);
    const char32_t code = small_letter(one.code);
    small += code == one.code || one.bytes > 2 ? std::string(text.substr(at, one.bytes)) : utf8(code);
    at += one.bytes;
  }
  return small;
}

bool has_letter_or_digit(std::string_view text, std::size_t at) {
  return at < text.size() && is_letter_or_digit(character_at(text, at).code);
}

std::string identifier(std::string_view text) {
  const std::string small = lower_case(text);
  std::string name;
  for (std::size_t at = 0; at < small.size();) {
    const Character one = character_at(small, at);
    if (is_letter_or_digit(one.code))
      name += small.substr(at, one.bytes);
    else if (one.code == '_' || name.empty() || name.back() != '_')
      name += '_';
    at += one.bytes;
  }
  return std::string(strip(name, "_"));
}

std::size_t characters_in(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

std::vector<std::string_view> all_lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t bytes = line_end_bytes(text, at);
    if (bytes > 0) {
      lines.push_back(text.substr(begin, at - begin));
      begin = at + bytes;
    }
    at += std::max<std::size_t>(bytes, 1);
  }
  if (begin < text.size()) lines.push_back(text.substr(begin));
  return lines;
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && !is_space(text[end])) ++end;
    if (end > at) words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

std::vector<std::string> split(std::string_view text, char at) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(at, begin), text.size());
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::optional<double> decimal(std::string_view text) {
  text = strip(text);
  const bool has_sign = !text.empty() && (text[0] == '-' || text[0] == '+');
  std::size_t at = has_sign ? 1 : 0, digits = 0, points = 0;
  for (; at < text.size() && (is_digit(text[at]) || text[at] == '.'); ++at)
    ++(text[at] == '.' ? points : digits);
  if (digits == 0 || points > 1) return std::nullopt;
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    const std::string_view exponent_text = text.substr(at + 1);
    at += starts_with(exponent_text, "-") || starts_with(exponent_text, "+") ? 2U : 1U;
    const std::size_t exponent = at;
    while (at < text.size() && is_digit(text[at])) ++at;
    if (at == exponent) return std::nullopt;
  }
  if (at != text.size()) return std::nullopt;
  return std::strtod(std::string(text).c_str(), nullptr);
}

double number_of_text(std::string_view text) {
  if (const std::optional<double> number = decimal(text)) return *number;
  throw Damaged("\"" + std::string(text) + "\" is no number");
}

long long integer_of_text(std::string_view text) {
  std::string_view plain = strip(text);
  if (starts_with(plain, "+")) plain.remove_prefix(1);
  if (const auto integer = parse_number<long long>(plain)) return *integer;
  throw Damaged("\"" + std::string(text) + "\" is no integer");
}

std::vector<std::string> unique(const std::vector<std::string>& words) {
  std::vector<std::string> once;
  std::set<std::string> seen;
  for (const std::string& word : words)
    if (seen.insert(word).second) once.push_back(word);
  return once;
}

}  // namespace longhaul::measured
