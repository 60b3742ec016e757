// Token shards of llm.c: the same file twice, one behind the other.
#include "tests/fuzz/fuzz.h"
#include "trainer/data/token_text.h"

using namespace longhaul;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr int kVocabulary = 512;
  const std::string file = file_with("shard.bin", text_of_input(data, size));
  return allow_errors([&] {
    const TokenText text = read_token_shards({file, file}, kVocabulary, "train.data.shards");
    if (2 * text.tokens.size() != 2 * (size - 4 * kShardHeader)) abort();
    for (const Token token : text.tokens)
      if (token >= kVocabulary) abort();
  });
}
