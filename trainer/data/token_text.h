// A text as tokens.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace longhaul {

using Token = std::uint16_t;

struct TokenText {
  std::vector<Token> tokens;
  std::uint64_t hash = 0;  // FNV-1a of its bytes as they stand in the files
};

}  // namespace longhaul
