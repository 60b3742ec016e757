// Token shards in the format of llm.c (dev/data/data_common.py): a header of 256 int32, little end first
// (magic 20240520, version 1, number of tokens, zeros), then the tokens as uint16.
#pragma once

#include <string>
#include <vector>

#include "core/hash.h"
#include "trainer/data/token_text.h"

namespace longhaul {

constexpr std::int32_t kShardMagic = 20240520;
constexpr std::int32_t kShardVersion = 1;
constexpr std::size_t kShardHeader = 256;  // int32

// The tokens of all shards, one after the other. The hash goes on from `hash`: that of what was read before.
// Throws InputError (`path`) that names the file for a wrong magic or version, a file shorter than its header
// says, or a token outside the vocabulary.
TokenText read_token_shards(const std::vector<std::string>& files, int vocabulary,
                            const std::string& path = "train.data.shards", std::uint64_t hash = kFnvOffset);

}  // namespace longhaul
