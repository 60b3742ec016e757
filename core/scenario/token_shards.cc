#include "core/scenario/token_shards.h"

#include <fmt/core.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "core/base/errors.h"
#include "core/base/index.h"

namespace longhaul {

std::size_t tokens_of_shard(const std::string& file, const std::string& path) {
  std::ifstream in(file, std::ios::binary);
  std::error_code has_no_size;  // as a pipe
  const std::uintmax_t bytes = std::filesystem::file_size(file, has_no_size);
  if (!in || has_no_size) throw InputError(path, file + " cannot be read", "llm.c token shards");
  std::array<std::int32_t, kShardHeader> header{};
  if (!in.read(reinterpret_cast<char*>(header.data()), sizeof header))
    throw InputError(
        {"", path, file + " is shorter than a shard's header of 1024 bytes", "llm.c token shards", ""});
  if (header[0] != kShardMagic || header[1] != kShardVersion)
    throw InputError(path,
                     file + " begins with " + std::to_string(header[0]) + ", " + std::to_string(header[1]),
                     "a shard of llm.c: 20240520, 1", "other tokenized files have to be converted");
  if (header[2] < 0)
    throw InputError(
        {"", path, file + " says it holds " + std::to_string(header[2]) + " tokens", "0 or more", ""});
  const std::size_t said = as_index(header[2]);
  const std::uintmax_t there = (bytes - sizeof header) / kShardTokenBytes;
  if (there < said)
    throw InputError({"", path, fmt::format("{} ends after {} of {} tokens", file, there, said),
                      "a whole shard", "was its download or conversion interrupted?"});
  if (bytes > sizeof header + said * kShardTokenBytes)
    throw InputError(path, fmt::format("{} goes on after the {} tokens that it says it holds", file, said),
                     "a shard of llm.c, 2 bytes a token", "was it written twice, or with wider tokens?");
  return said;
}

}  // namespace longhaul
