// Token shards in the format of llm.c (dev/data/data_common.py): a header of 256 int32, little end first
// (magic 20240520, version 1, number of tokens, zeros), then the tokens as uint16.
//
// The trainer reads them; what their headers and sizes say is known before anything starts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace longhaul {

constexpr std::int32_t kShardMagic = 20240520;
constexpr std::int32_t kShardVersion = 1;
constexpr std::size_t kShardHeader = 256;  // int32
constexpr std::size_t kShardTokenBytes = 2;

// The number of tokens in a whole shard, from its header and size. Throws InputError, at the scenario's
// `path`, for what is no shard, and for a file that is shorter or longer than its header says.
std::size_t tokens_of_shard(const std::string& file, const std::string& path);

}  // namespace longhaul
