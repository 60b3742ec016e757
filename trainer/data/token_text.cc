#include "trainer/data/token_text.h"

#include <fstream>
#include <iterator>
#include <string_view>

#include "core/base/errors.h"
#include "core/base/hash.h"

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

namespace {

void append_shard(const std::string& file, int vocabulary, const std::string& path, TokenText& text) {
  const std::size_t count = tokens_of_shard(file, path), start = text.tokens.size();
  text.tokens.resize(start + count);
  char* bytes = reinterpret_cast<char*>(text.tokens.data() + start);
  std::ifstream in(file, std::ios::binary);
  if (!in.seekg(4 * kShardHeader).read(bytes, static_cast<std::streamsize>(count * sizeof(Token))))
    throw RunError(file + ": cannot be read");
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
