#include "trainer/data/token_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>

#include "core/errors.h"
#include "core/files.h"
#include "core/hash.h"
#include "core/index.h"
#include "core/options.h"

namespace longhaul {

TokenText read_bytes(const std::vector<std::string>& files, std::uint64_t hash) {
  TokenText text;
  text.hash = hash;
  for (const std::string& file : files) {
    std::ifstream in(file, std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(in), {}};
    if (!in) throw RunError(file + ": cannot be read");
    text.hash = fnv1a(bytes, text.hash);
    for (const char byte : bytes) text.tokens.push_back(static_cast<unsigned char>(byte));
  }
  return text;
}

std::vector<std::string> files_of(const std::vector<std::string>& globs, const std::string& folder,
                                  const std::string& path) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < globs.size(); ++i) {
    const std::vector<std::string> files = files_matching(globs[i], folder);
    if (files.empty())
      throw InputError(element_path(path, i), "\"" + globs[i] + "\" matches no file",
                       "a glob that matches files", "relative patterns start in " + folder);
    all.insert(all.end(), files.begin(), files.end());
  }
  return all;
}

namespace {

std::size_t read_header(std::istream& in, const std::string& file, const std::string& path) {
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

[[noreturn]] void refuse_size(const std::string& file, std::size_t tokens, std::size_t said,
                              const std::string& path) {
  throw InputError({"", path, fmt::format("{} ends after {} of {} tokens", file, tokens, said),
                    "a whole shard", "was its download or conversion interrupted?"});
}

// Before there is memory for what the header says. A pipe has no size, and shows it in reading.
void check_size(const std::string& file, std::size_t said, const std::string& path) {
  std::error_code is_no_file;
  const std::uintmax_t bytes = std::filesystem::file_size(file, is_no_file);
  if (is_no_file) return;
  const std::uintmax_t tokens = (bytes - std::min<std::uintmax_t>(bytes, 4 * kShardHeader)) / sizeof(Token);
  if (tokens < said) refuse_size(file, tokens, said, path);
}

void append_shard(const std::string& file, int vocabulary, const std::string& path, TokenText& text) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw InputError(path, file + " cannot be read", "llm.c token shards");
  const std::size_t count = read_header(in, file, path), start = text.tokens.size();
  check_size(file, count, path);
  text.tokens.resize(start + count);
  char* bytes = reinterpret_cast<char*>(text.tokens.data() + start);
  if (!in.read(bytes, static_cast<std::streamsize>(count * sizeof(Token))))
    refuse_size(file, as_index(in.gcount()) / 2, count, path);
  if (in.peek() != std::ifstream::traits_type::eof())
    throw InputError(path,
                     file + " goes on after the " + std::to_string(count) + " tokens that it says it holds",
                     "a shard of llm.c, 2 bytes a token", "was it written twice, or with wider tokens?");
  text.hash = fnv1a(std::string_view(bytes, count * sizeof(Token)), text.hash);
  for (std::size_t i = start; i < text.tokens.size(); ++i)
    if (text.tokens[i] >= vocabulary)
      throw InputError(
          {"", path,
           file + " has token " + std::to_string(text.tokens[i]) + " at " + std::to_string(i - start),
           "tokens below train.model.vocabulary, " + std::to_string(vocabulary),
           "raise the vocabulary to the tokenizer's"});
}

}  // namespace

TokenText read_token_shards(const std::vector<std::string>& files, int vocabulary, const std::string& path,
                            std::uint64_t hash) {
  TokenText text;
  text.hash = hash;
  for (const std::string& file : files) append_shard(file, vocabulary, path, text);
  return text;
}

}  // namespace longhaul
