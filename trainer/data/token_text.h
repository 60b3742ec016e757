// A text as tokens.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/hash.h"

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

// The files of all patterns, each sorted. Throws InputError, path PATH[i], for a pattern that matches
// nothing.
std::vector<std::string> files_of(const std::vector<std::string>& globs, const std::string& folder,
                                  const std::string& path);

// Token shards in the format of llm.c (dev/data/data_common.py): a header of 256 int32, little end first
// (magic 20240520, version 1, number of tokens, zeros), then the tokens as uint16.

constexpr std::int32_t kShardMagic = 20240520;
constexpr std::int32_t kShardVersion = 1;
constexpr std::size_t kShardHeader = 256;  // int32

// The tokens of all shards, one after the other. The hash continues `hash`, that of what was read before.
// Throws InputError (`path`) that names the file for a wrong magic or version, a file shorter than its header
// says, or a token outside the vocabulary.
TokenText read_token_shards(const std::vector<std::string>& files, int vocabulary,
                            const std::string& path = "train.data.shards", std::uint64_t hash = kFnvOffset);

}  // namespace longhaul
