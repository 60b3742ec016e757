#include "core/scenario/token_shards.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <optional>

#include "core/base/errors.h"
#include "core/base/index.h"

namespace longhaul {
namespace {

// None where it has no size, as a pipe.
std::optional<std::uintmax_t> tokens_by_size(const std::string& file) {
  std::error_code is_no_file;
  const std::uintmax_t bytes = std::filesystem::file_size(file, is_no_file);
  if (is_no_file) return std::nullopt;
  return (bytes - std::min<std::uintmax_t>(bytes, 4 * kShardHeader)) / kShardTokenBytes;
}

}  // namespace

std::size_t read_shard_header(std::istream& in, const std::string& file, const std::string& path) {
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
  return as_index(header[2]);
}

void refuse_short_shard(const std::string& file, std::size_t tokens, std::size_t said,
                        const std::string& path) {
  throw InputError({"", path, fmt::format("{} ends after {} of {} tokens", file, tokens, said),
                    "a whole shard", "was its download or conversion interrupted?"});
}

void refuse_long_shard(const std::string& file, std::size_t said, const std::string& path) {
  throw InputError(path, fmt::format("{} goes on after the {} tokens that it says it holds", file, said),
                   "a shard of llm.c, 2 bytes a token", "was it written twice, or with wider tokens?");
}

void check_shard_size(const std::string& file, std::size_t tokens, const std::string& path) {
  const std::optional<std::uintmax_t> there = tokens_by_size(file);
  if (there && *there < tokens) refuse_short_shard(file, *there, tokens, path);
}

std::size_t tokens_of_shard(const std::string& file, const std::string& path) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw InputError(path, file + " cannot be read", "llm.c token shards");
  const std::size_t said = read_shard_header(in, file, path);
  check_shard_size(file, said, path);
  std::error_code is_no_file;
  const std::uintmax_t bytes = std::filesystem::file_size(file, is_no_file);
  if (!is_no_file && bytes > 4 * kShardHeader + said * kShardTokenBytes) refuse_long_shard(file, said, path);
  return said;
}

}  // namespace longhaul
