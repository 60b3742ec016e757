#include "core/hash.h"

#include <cstdio>

namespace longhaul {

std::uint64_t fnv1a(std::string_view bytes, std::uint64_t state) {
  for (unsigned char byte : bytes) state = (state ^ byte) * 0x100000001b3;
  return state;
}

std::string hex64(std::uint64_t value) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
  return text;
}

}  // namespace longhaul
