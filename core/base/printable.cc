#include "core/base/printable.h"

#include <fmt/core.h>

#include <array>

namespace longhaul {
namespace {

struct Character {
  char32_t code = 0;
  std::size_t bytes = 0;  // 0: the byte begins no character of UTF-8
};

Character character_at(const std::string& text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(at);
  if (first < 0x80) return {first, 1};
  struct Form {
    unsigned char mask, mark;
    char32_t least;
  };
  constexpr std::array<Form, 3> kForms = {{{0xE0, 0xC0, 0x80}, {0xF0, 0xE0, 0x800}, {0xF8, 0xF0, 0x10000}}};
  for (std::size_t form = 0; form < kForms.size(); ++form) {
    const std::size_t more = form + 1;
    if ((first & kForms[form].mask) != kForms[form].mark || at + more >= text.size()) continue;
    char32_t code = first & static_cast<unsigned char>(~kForms[form].mask);
    for (std::size_t i = 1; i <= more; ++i) {
      if ((byte(at + i) & 0xC0) != 0x80) return {};
      code = code << 6 | (byte(at + i) & 0x3F);
    }
    if (code < kForms[form].least || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) return {};
    return {code, more + 1};
  }
  return {};
}

bool is_control(char32_t code) {
  return (code < 0x20 && code != '\n' && code != '\t') || (code >= 0x7F && code < 0xA0);
}

// Marks and separators that have no width, and those that turn the direction of writing.
bool is_unseen(char32_t code) {
  return code == 0x061C || code == 0x200B || code == 0x200E || code == 0x200F ||
         (code >= 0x2028 && code <= 0x202E) || (code >= 0x2060 && code <= 0x206F) || code == 0xFEFF;
}

}  // namespace

std::string printable(const std::string& text) {
  std::string shown;
  for (std::size_t at = 0; at < text.size();) {
    const Character one = character_at(text, at);
    if (one.bytes == 0)
      shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[at]));
    else if (is_control(one.code))
      shown += fmt::format("\\x{:02x}", static_cast<unsigned>(one.code));
    else if (is_unseen(one.code))
      shown += fmt::format("\\u{:04x}", static_cast<unsigned>(one.code));
    else
      shown += text.substr(at, one.bytes);
    at += one.bytes == 0 ? 1 : one.bytes;
  }
  return shown;
}

void say(std::FILE* to, const std::string& text) {
  std::fputs(printable(text).c_str(), to);
}

}  // namespace longhaul
