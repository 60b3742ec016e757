// FNV-1a, 64 bits: names for trainings and corpora. Not cryptographic.
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace longhaul {

constexpr std::uint64_t kFnvOffset = 0xcbf29ce484222325;

inline std::uint64_t fnv1a(std::string_view bytes, std::uint64_t state = kFnvOffset) {
  for (const char byte : bytes) state = (state ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  return state;
}

// 16 lower-case digits.
inline std::string hex64(std::uint64_t value) {
  return fmt::format("{:016x}", value);
}

}  // namespace longhaul
