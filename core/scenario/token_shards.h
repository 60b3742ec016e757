// Token shards in the format of llm.c (dev/data/data_common.py): a header of 256 int32, little end first
// (magic 20240520, version 1, number of tokens, zeros), then the tokens as uint16.
//
// The trainer reads them; what their headers and sizes say is known before anything starts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>

namespace longhaul {

constexpr std::int32_t kShardMagic = 20240520;
constexpr std::int32_t kShardVersion = 1;
constexpr std::size_t kShardHeader = 256;  // int32
constexpr std::size_t kShardTokenBytes = 2;

// `file` only names it and `path` is where the scenario has it, for an InputError.

// Reads the header: how many tokens there are. Throws InputError for what is no shard.
std::size_t read_shard_header(std::istream& in, const std::string& file, const std::string& path);

// Throws InputError where the file is too short for `tokens`. A pipe has no size: it passes.
void check_shard_size(const std::string& file, std::size_t tokens, const std::string& path);

// They say so, in checking and in reading.
[[noreturn]] void refuse_short_shard(const std::string& file, std::size_t tokens, std::size_t said,
                                     const std::string& path);
[[noreturn]] void refuse_long_shard(const std::string& file, std::size_t said, const std::string& path);

// The number of tokens in a whole shard, from its header and size. Throws InputError as those above.
std::size_t tokens_of_shard(const std::string& file, const std::string& path);

}  // namespace longhaul
