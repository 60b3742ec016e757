#include "planner/measured/json_scanner.h"

#include <cstdlib>
#include <limits>
#include <optional>
#include <set>

#include "core/base/units.h"
#include "planner/measured/text.h"

namespace longhaul::measured {
namespace {

void append_utf8(std::string& text, char32_t code) {
  const auto put = [&](char32_t bits) { text += static_cast<char>(bits); };
  if (code < 0x80) return put(code);
  if (code < 0x800) {
    put(0xC0 | code >> 6);
  } else if (code < 0x10000) {
    put(0xE0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3F));
  } else {
    put(0xF0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3F));
    put(0x80 | (code >> 6 & 0x3F));
  }
  put(0x80 | (code & 0x3F));
}

bool is_high(char32_t code) {
  return code >= 0xD800 && code < 0xDC00;
}
bool is_low(char32_t code) {
  return code >= 0xDC00 && code < 0xE000;
}

class Scanner {
 public:
  Scanner(std::string_view text, std::size_t at) : text_(text), at_(at) {}

  std::size_t at() const { return at_; }

  Json value(int depth) {
    if (depth > kDeepestJson) throw DeepJson();
    const char c = peek();
    if (c == '{') return object(depth);
    if (c == '[') return array(depth);
    if (c == '"') return string();
    const double infinity = std::numeric_limits<double>::infinity();
    if (take("null")) return nullptr;
    if (take("true")) return true;
    if (take("false")) return false;
    if (take("NaN")) return std::numeric_limits<double>::quiet_NaN();
    if (take("Infinity")) return infinity;
    if (take("-Infinity")) return -infinity;
    return number();
  }

 private:
  // '\0' at the end; a '\0' of the text is no part of JSON either.
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  bool take(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  void skip_blanks() {
    while (peek() == ' ' || peek() == '\t' || peek() == '\n' || peek() == '\r') ++at_;
  }

  void skip_digits() {
    while (is_digit(peek())) ++at_;
  }

  void need(char c, const char* what) {
    if (peek() != c) throw BrokenJson(what, at_);
    ++at_;
  }

  Json object(int depth) {
    Json::object_t members;
    std::set<std::string> keys;
    ++at_;
    skip_blanks();
    if (take("}")) return members;
    while (true) {
      if (peek() != '"') throw BrokenJson("a key in double quotes is missing", at_);
      std::string key = string();
      skip_blanks();
      need(':', "a colon is missing");
      skip_blanks();
      Json of = value(depth + 1);
      if (starts_with(key, "sum") && keys.count(key) > 0) key += kSecond;
      // The map's own emplace() would look through all keys.
      if (keys.insert(key).second)
        static_cast<Json::object_t::Container&>(members).emplace_back(key, std::move(of));
      skip_blanks();
      if (take("}")) return members;
      need(',', "a comma is missing");
      skip_blanks();
    }
  }

  Json array(int depth) {
    Json::array_t elements;
    ++at_;
    skip_blanks();
    if (take("]")) return elements;
    while (true) {
      elements.push_back(value(depth + 1));
      skip_blanks();
      if (take("]")) return elements;
      need(',', "a comma is missing");
      skip_blanks();
    }
  }

  std::string string() {
    const std::size_t begin = at_++;
    std::string text;
    while (true) {
      if (at_ >= text_.size()) throw BrokenJson(kNoEnd, begin);
      const char c = text_[at_];
      if (c == '"') break;
      if (static_cast<unsigned char>(c) < 0x20) throw BrokenJson("a text has a control character", at_);
      ++at_;
      if (c == '\\')
        append_escape(begin, text);
      else
        text += c;
    }
    ++at_;
    return text;
  }

  // Behind the backslash.
  void append_escape(std::size_t begin, std::string& text) {
    if (at_ >= text_.size()) throw BrokenJson(kNoEnd, begin);
    const std::string_view letters = "\"\\/bfnrt", meant = "\"\\/\b\f\n\r\t";
    const char c = text_[at_++];
    if (c == 'u') return append_character(text);
    const std::size_t letter = letters.find(c);
    if (letter == std::string_view::npos)
      throw BrokenJson("a backslash stands before a letter that means nothing", at_ - 2);
    text += meant[letter];
  }

  // Half of a pair alone stands for no character.
  void append_character(std::string& text) {
    char32_t code = four_digits();
    if (is_high(code) && text_.substr(at_, 2) == "\\u") {
      const std::size_t before = at_;
      at_ += 2;
      const char32_t second = four_digits();
      if (is_low(second))
        code = 0x10000 + ((code - 0xD800) << 10) + (second - 0xDC00);
      else
        at_ = before;
    }
    append_utf8(text, is_high(code) || is_low(code) ? 0xFFFD : code);
  }

  char32_t four_digits() {
    const std::string digits(text_.substr(at_, 4));
    char* end = nullptr;
    const bool are_digits =
        digits.size() == 4 && digits.find_first_not_of("0123456789abcdefABCDEF") == std::string::npos;
    if (!are_digits) throw BrokenJson("\\u is not followed by four hexadecimal digits", at_ - 1);
    at_ += 4;
    return static_cast<char32_t>(std::strtoul(digits.c_str(), &end, 16));
  }

  Json number() {
    const std::size_t begin = at_;
    take("-");
    if (!is_digit(peek())) {
      at_ = begin;
      throw BrokenJson("a value is missing", begin);
    }
    if (!take("0")) skip_digits();
    const bool is_float = take_fraction() | take_exponent();
    const std::string_view written = text_.substr(begin, at_ - begin);
    if (!is_float) {
      if (const auto integer = parse_number<std::int64_t>(written)) return *integer;
      if (const auto integer = parse_number<std::uint64_t>(written)) return *integer;
    }
    return std::strtod(std::string(written).c_str(), nullptr);
  }

  bool is_digit_at(std::size_t at) const { return at < text_.size() && is_digit(text_[at]); }

  bool take_fraction() {
    if (peek() != '.' || !is_digit_at(at_ + 1)) return false;
    ++at_;
    skip_digits();
    return true;
  }

  bool take_exponent() {
    if (peek() != 'e' && peek() != 'E') return false;
    const bool has_sign = at_ + 1 < text_.size() && (text_[at_ + 1] == '-' || text_[at_ + 1] == '+');
    const std::size_t digits = at_ + (has_sign ? 2 : 1);
    if (!is_digit_at(digits)) return false;
    at_ = digits;
    skip_digits();
    return true;
  }

  const std::string_view text_;
  std::size_t at_;
};

}  // namespace

Json scan_json(std::string_view text, std::size_t& at) {
  Scanner scanner(text, at);
  Json value = scanner.value(1);
  at = scanner.at();
  return value;
}

}  // namespace longhaul::measured
