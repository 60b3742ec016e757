#include "core/base/printable.h"

#include <fmt/core.h>

namespace longhaul {

std::string printable(const std::string& text) {
  std::string shown;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    const unsigned char next = at + 1 < text.size() ? static_cast<unsigned char>(text[at + 1]) : 0;
    if (byte == 0xC2 && next >= 0x80 && next < 0xA0) {
      shown += fmt::format("\\x{:02x}", next);
      ++at;
    } else if ((byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7F) {
      shown += fmt::format("\\x{:02x}", byte);
    } else {
      shown += text[at];
    }
  }
  return shown;
}

void say(std::FILE* to, const std::string& text) {
  std::fputs(printable(text).c_str(), to);
}

}  // namespace longhaul
