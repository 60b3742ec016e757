#include "core/base/model_presets.h"

#include <algorithm>
#include <cctype>
#include <map>

namespace longhaul {
namespace {

ModelShape with_biases(ModelShape shape) {
  shape.qkv_bias = true;
  return shape;
}

ModelShape tied(ModelShape shape) {
  shape.tied = true;
  return shape;
}

// Scales of the norms of queries and of keys, as wide as a head.
ModelShape with_qk_norms(ModelShape shape) {
  shape.further += 2 * shape.width_of_head();
  return shape;
}

// Gemma 2 and 3: a norm behind attention and feed-forward too.
ModelShape with_post_norms(ModelShape shape) {
  shape.further += 2 * shape.hidden;
  return shape;
}

ModelShape with_experts(ModelShape shape, const Experts& experts) {
  shape.experts = experts;
  return shape;
}

ModelShape with_latent(ModelShape shape, const LatentAttention& latent) {
  shape.latent = latent;
  return shape;
}

// A sink for each head, and biases of all but the norms.
ModelShape gpt_oss(int layers, int experts) {
  ModelShape shape =
      with_experts(with_biases({2880, layers, 64, 2880, 4096, 201088, 8, 64}), {experts, 4, 2880});
  shape.further = shape.hidden + shape.heads + experts + experts * (2 * 2880 + shape.hidden);
  return shape;
}

bool has_end(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

// Names of models of another preset's shape.
const std::map<std::string, std::string>& same_shapes() {
  static const std::map<std::string, std::string> names = {{"llama-3.1-8b", "llama-3-8b"},
                                                           {"llama-3.1-70b", "llama-3-70b"},
                                                           {"llama-3.3-70b", "llama-3-70b"},
                                                           {"llama-3.1-405b", "llama-3-405b"},
                                                           {"deepseek-r1-distill-llama-8b", "llama-3-8b"},
                                                           {"deepseek-r1-distill-llama-70b", "llama-3-70b"},
                                                           {"llama-4-scout-17b-16e", "llama-4-scout"},
                                                           {"llama-4-maverick-17b-128e", "llama-4-maverick"},
                                                           {"deepseek-r1", "deepseek-v3"},
                                                           {"deepseek-v3.1", "deepseek-v3"},
                                                           {"glm-4.6", "glm-4.5"},
                                                           {"mistral-small-24b", "mistral-small-3"},
                                                           {"mistral-small-3.1-24b", "mistral-small-3"},
                                                           {"mistral-small-3.2-24b", "mistral-small-3"},
                                                           {"mistral-nemo", "mistral-nemo-12b"},
                                                           {"qwen2.5-coder-7b", "qwen2.5-7b"},
                                                           {"qwen2.5-coder-32b", "qwen2.5-32b"},
                                                           {"qwq-32b", "qwen2.5-32b"},
                                                           {"qwen3-coder-30b-a3b", "qwen3-30b-a3b"}};
  return names;
}

}  // namespace

const std::vector<ModelPreset>& model_presets() {
  constexpr int kLlama3 = 128256, kQwen = 151936, kBigQwen = 152064, kGemma3 = 262208;  // vocabularies
  static const std::vector<ModelPreset> presets = {
      {"llama-small",
       {768, 12, 16, 3072, 1024, 128002},
       "the paper's small model, called 125M: 310 M true parameters"},
      {"llama-medium",
       {2048, 24, 32, 8192, 1024, 128002},
       "the paper's medium model, called 1.3B: 2.14 B true parameters"},
      {"llama-large",
       {4096, 32, 32, 16384, 1024, 128002},
       "the paper's large model, called 6.8B: 9.64 B true parameters"},
      {"tinyllama-1.1b", {2048, 22, 32, 5632, 2048, 32000, 4}, "TinyLlama 1.1B, 4 kv_heads"},
      {"llama-2-7b", {4096, 32, 32, 11008, 4096, 32000}, "Llama 2 7B"},
      {"llama-2-13b", {5120, 40, 40, 13824, 4096, 32000}, "Llama 2 13B"},
      {"llama-2-70b", {8192, 80, 64, 28672, 4096, 32000, 8}, "Llama 2 70B, 8 kv_heads"},
      {"llama-3.2-1b", tied({2048, 16, 32, 8192, 8192, kLlama3, 8}), "Llama 3.2 1B, 8 kv_heads, tied"},
      {"llama-3.2-3b", tied({3072, 28, 24, 8192, 8192, kLlama3, 8}), "Llama 3.2 3B, 8 kv_heads, tied"},
      {"llama-3-8b", {4096, 32, 32, 14336, 8192, kLlama3, 8}, "Llama 3 and 3.1 8B, 8 kv_heads"},
      {"llama-3-70b", {8192, 80, 64, 28672, 8192, kLlama3, 8}, "Llama 3, 3.1 and 3.3 70B, 8 kv_heads"},
      {"llama-3-405b", {16384, 126, 128, 53248, 8192, kLlama3, 8}, "Llama 3.1 405B, 8 kv_heads"},
      {"llama-4-scout", with_experts({5120, 48, 40, 16384, 8192, 202048, 8, 128}, {16, 1, 8192, 8192}),
       "Llama 4 Scout without its vision part, 1 of 16 experts"},
      {"llama-4-maverick",
       with_experts({5120, 48, 40, 16384, 8192, 202048, 8, 128}, {128, 1, 8192, 8192, 0, 2}),
       "Llama 4 Maverick without its vision part, 1 of 128 experts in every second layer"},
      {"mistral-7b", {4096, 32, 32, 14336, 8192, 32000, 8}, "Mistral 7B 0.1, 8 kv_heads"},
      {"mistral-nemo-12b", {5120, 40, 32, 14336, 8192, 131072, 8, 128}, "Mistral Nemo 12B, 8 kv_heads"},
      {"mistral-small-3", {5120, 40, 32, 32768, 8192, 131072, 8, 128}, "Mistral Small 3 24B, 8 kv_heads"},
      {"mixtral-8x7b", with_experts({4096, 32, 32, 14336, 8192, 32000, 8}, {8, 2, 14336}),
       "Mixtral 8x7B, 2 of 8 experts"},
      {"mixtral-8x22b", with_experts({6144, 56, 48, 16384, 8192, 32000, 8}, {8, 2, 16384}),
       "Mixtral 8x22B 0.1, 2 of 8 experts"},
      {"qwen2.5-0.5b", tied(with_biases({896, 24, 14, 4864, 4096, kQwen, 2})), "Qwen2.5 0.5B, tied"},
      {"qwen2.5-1.5b", tied(with_biases({1536, 28, 12, 8960, 4096, kQwen, 2})), "Qwen2.5 1.5B, tied"},
      {"qwen2.5-3b", tied(with_biases({2048, 36, 16, 11008, 4096, kQwen, 2})), "Qwen2.5 3B, tied"},
      {"qwen2.5-7b", with_biases({3584, 28, 28, 18944, 4096, kBigQwen, 4}),
       "Qwen2.5 7B, 4 kv_heads, biases of query, key and value"},
      {"qwen2.5-14b", with_biases({5120, 48, 40, 13824, 4096, kBigQwen, 8}),
       "Qwen2.5 14B, 8 kv_heads, biases of query, key and value"},
      {"qwen2.5-32b", with_biases({5120, 64, 40, 27648, 4096, kBigQwen, 8}),
       "Qwen2.5 32B, 8 kv_heads, biases of query, key and value"},
      {"qwen2.5-72b", with_biases({8192, 80, 64, 29568, 4096, kBigQwen, 8}),
       "Qwen2.5 72B, 8 kv_heads, biases of query, key and value"},
      {"qwen3-0.6b", with_qk_norms(tied({1024, 28, 16, 3072, 4096, kQwen, 8, 128})), "Qwen3 0.6B, tied"},
      {"qwen3-1.7b", with_qk_norms(tied({2048, 28, 16, 6144, 4096, kQwen, 8, 128})), "Qwen3 1.7B, tied"},
      {"qwen3-4b", with_qk_norms(tied({2560, 36, 32, 9728, 4096, kQwen, 8, 128})), "Qwen3 4B, tied"},
      {"qwen3-8b", with_qk_norms({4096, 36, 32, 12288, 4096, kQwen, 8, 128}), "Qwen3 8B"},
      {"qwen3-14b", with_qk_norms({5120, 40, 40, 17408, 4096, kQwen, 8, 128}), "Qwen3 14B"},
      {"qwen3-32b", with_qk_norms({5120, 64, 64, 25600, 4096, kQwen, 8, 128}), "Qwen3 32B"},
      {"qwen3-30b-a3b", with_experts(with_qk_norms({2048, 48, 32, 6144, 4096, kQwen, 4, 128}), {128, 8, 768}),
       "Qwen3 30B-A3B, 8 of 128 experts"},
      {"qwen3-235b-a22b",
       with_experts(with_qk_norms({4096, 94, 64, 12288, 4096, kQwen, 4, 128}), {128, 8, 1536}),
       "Qwen3 235B-A22B, 8 of 128 experts"},
      {"deepseek-v3",
       with_latent(with_experts({7168, 61, 128, 18432, 4096, 129280}, {256, 8, 2048, 2048, 3}),
                   {512, 1536, 128, 64, 128}),
       "DeepSeek V3 and R1 without the part that predicts a second token, 8 of 256 experts"},
      {"kimi-k2",
       with_latent(with_experts({7168, 61, 64, 18432, 4096, 163840}, {384, 8, 2048, 2048, 1}),
                   {512, 1536, 128, 64, 128}),
       "Kimi K2, 8 of 384 experts"},
      {"gpt-oss-20b", gpt_oss(24, 32), "gpt-oss-20b, 4 of 32 experts"},
      {"gpt-oss-120b", gpt_oss(36, 128), "gpt-oss-120b, 4 of 128 experts"},
      {"glm-4.5-air",
       with_experts(with_biases({4096, 46, 96, 10944, 4096, 151552, 8, 128}), {128, 8, 1408, 1408, 1}),
       "GLM-4.5-Air without the part that predicts a second token, 8 of 128 experts"},
      {"glm-4.5",
       with_experts(with_qk_norms(with_biases({5120, 92, 96, 12288, 4096, 151552, 8, 128})),
                    {160, 8, 1536, 1536, 3}),
       "GLM-4.5 and 4.6 without the part that predicts a second token, 8 of 160 experts"},
      {"gemma-7b", tied({3072, 28, 16, 24576, 8192, 256000, 0, 256}), "Gemma 7B, heads 256 wide, tied"},
      {"gemma-2-2b", with_post_norms(tied({2304, 26, 8, 9216, 8192, 256000, 4, 256})), "Gemma 2 2B, tied"},
      {"gemma-2-9b", with_post_norms(tied({3584, 42, 16, 14336, 8192, 256000, 8, 256})), "Gemma 2 9B, tied"},
      {"gemma-2-27b", with_post_norms(tied({4608, 46, 32, 36864, 8192, 256000, 16, 128})),
       "Gemma 2 27B, tied"},
      {"gemma-3-1b", with_qk_norms(with_post_norms(tied({1152, 26, 4, 6912, 32768, 262144, 1, 256}))),
       "Gemma 3 1B, tied"},
      {"gemma-3-4b", with_qk_norms(with_post_norms(tied({2560, 34, 8, 10240, 32768, kGemma3, 4, 256}))),
       "Gemma 3 4B without its vision part, tied"},
      {"gemma-3-12b", with_qk_norms(with_post_norms(tied({3840, 48, 16, 15360, 32768, kGemma3, 8, 256}))),
       "Gemma 3 12B without its vision part, tied"},
      {"gemma-3-27b", with_qk_norms(with_post_norms(tied({5376, 62, 32, 21504, 32768, kGemma3, 16, 128}))),
       "Gemma 3 27B without its vision part, tied"},
      {"phi-4", {5120, 40, 40, 17920, 4096, 100352, 10}, "Phi-4 14B, 10 kv_heads"},
      {"mpt-7b", {4096, 32, 32, 16384, 2048, 50432, 0, 0, false, true}, "MPT 7B, without a gate, tied"},
  };
  return presets;
}

std::string preset_named_by(const std::string& written) {
  std::string name = written.substr(written.rfind('/') + 1);
  for (char& c : name) c = c == '_' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const char* front : {"meta-", "mistralai-"})
    if (name.rfind(front, 0) == 0) name.erase(0, std::string(front).size());
  const char* const variants[] = {"-instruct", "-base",     "-chat", "-hf",   "-it",           "-pt",
                                  "-2507",     "-thinking", "-2501", "-2503", "-2506",         "-2407",
                                  "-0324",     "-v0.1",     "-v0.2", "-v0.3", "-instruct-2507"};
  for (bool is_cut = true; is_cut;) {
    is_cut = false;
    for (const std::string variant : variants)
      if (has_end(name, variant)) {
        name.erase(name.size() - variant.size());
        is_cut = true;
      }
  }
  if (const auto same = same_shapes().find(name); same != same_shapes().end()) name = same->second;
  const std::vector<ModelPreset>& presets = model_presets();
  const bool is_known = std::any_of(presets.begin(), presets.end(),
                                    [&](const ModelPreset& preset) { return preset.name == name; });
  return is_known ? name : written;
}

}  // namespace longhaul
