// FNV-1a, 64 bits: names for trainings and corpora. Not cryptographic.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace longhaul {

constexpr std::uint64_t kFnvOffset = 0xcbf29ce484222325;

std::uint64_t fnv1a(std::string_view bytes, std::uint64_t state = kFnvOffset);

std::string hex64(std::uint64_t value);  // 16 lower-case digits

}  // namespace longhaul
