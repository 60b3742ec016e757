#include "trainer/exported_tokenizer.h"

#include <filesystem>
#include <optional>
#include <vector>

#include "core/base/files.h"
#include "core/base/json.h"
#include "core/scenario/case.h"
#include "trainer/checkpoint/durable_file.h"

namespace longhaul {
namespace {

std::string utf8(int code) {  // below 2^11
  if (code < 0x80) return {static_cast<char>(code)};
  return {static_cast<char>(0xC0 | code >> 6), static_cast<char>(0x80 | (code & 0x3F))};
}

// The tokenizers package writes a byte as a printable character, as GPT-2's encoder.py does
// (bytes_to_unicode): itself where it is printable in Latin-1, else the next from U+0100 on. Token = byte;
// there are no merges.
std::string byte_tokenizer() {
  Json vocabulary = Json::object();
  int next = 0x100;
  for (int byte = 0; byte < 256; ++byte) {
    const bool is_printable = (byte > 0x20 && byte < 0x7F) || (byte > 0xA0 && byte != 0xAD);
    vocabulary[utf8(is_printable ? byte : next++)] = byte;
  }
  const Json bytes = {
      {"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", false}, {"use_regex", false}};
  const Json tokenizer = {{"version", "1.0"},
                          {"truncation", nullptr},
                          {"padding", nullptr},
                          {"added_tokens", Json::array()},
                          {"normalizer", nullptr},
                          {"pre_tokenizer", bytes},
                          {"post_processor", nullptr},
                          {"decoder", bytes},
                          {"model", {{"type", "BPE"}, {"vocab", vocabulary}, {"merges", Json::array()}}}};
  return tokenizer.dump(1) + "\n";
}

std::optional<std::string> tokenizer_of(const DataSpec& data, const std::string& folder) {
  if (data.kind == DataSpec::Kind::kSynthetic) return std::nullopt;
  if (data.kind != DataSpec::Kind::kShards) return byte_tokenizer();
  const std::vector<std::string> shards = files_matching(data.globs.front(), folder);
  if (shards.empty()) return std::nullopt;
  return read_file((std::filesystem::path(shards[0]).parent_path() / "tokenizer.json").string());
}

}  // namespace

void write_tokenizer(const std::string& case_file, const std::string& out) {
  if (!std::filesystem::exists(case_file)) return;
  const Case trained = read_case(case_file);
  const std::optional<std::string> tokenizer = tokenizer_of(trained.train->data, trained.folder);
  if (!tokenizer) return;
  write_durably(out + "/tokenizer.json", *tokenizer);
  // Without it AutoTokenizer would take LLaMA's own class, which adds a space and a first token.
  const Json config = {{"tokenizer_class", "PreTrainedTokenizerFast"},
                       {"model_max_length", trained.train->model.context},
                       {"clean_up_tokenization_spaces", false}};
  write_durably(out + "/tokenizer_config.json", config.dump(2) + "\n");
}

}  // namespace longhaul
