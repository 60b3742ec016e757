// Token shards of llm.c: the same file twice, one behind the other.
#include "tests/fuzz/fuzz.h"
#include "trainer/data/token_text.h"

void longhaul::read_input(const std::string& input) {
  constexpr int kVocabulary = 512;
  const std::string file = file_with("shard.bin", input);
  const TokenText text = read_token_shards({file, file}, kVocabulary, "train.data.shards");
  if (2 * text.tokens.size() != 2 * (input.size() - 4 * kShardHeader)) abort();
  for (const Token token : text.tokens)
    if (token >= kVocabulary) abort();
}
