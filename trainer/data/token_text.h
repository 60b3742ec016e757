// A text as tokens.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/hash.h"
#include "core/scenario/training_text.h"

namespace longhaul {

using Token = std::uint16_t;

struct TokenText {
  std::vector<Token> tokens;
  std::uint64_t hash = 0;  // FNV-1a of its bytes as they stand in the files
};

// Text files as byte tokens.

// The bytes of the files, one after the other. The hash continues `hash`, that of what was read before.
// Throws RunError for a file that cannot be read.
TokenText read_bytes(const std::vector<std::string>& files, std::uint64_t hash = kFnvOffset);

// Token shards (core/scenario/training_text.h).

// The tokens of all shards, one after the other. The hash continues `hash`, that of what was read before.
// Throws InputError (`path`) that names the file for a wrong magic or version, a file shorter than its header
// says, or a token outside the vocabulary.
TokenText read_token_shards(const std::vector<std::string>& files, int vocabulary,
                            const std::string& path = "train.data.shards", std::uint64_t hash = kFnvOffset);

}  // namespace longhaul
