// Configurations as transformers writes them, reduced to the keys that count, against the published numbers
// of parameters (the counts of the weights on the models' cards).
#include "core/scenario/model_file.h"

#include <gtest/gtest.h>

#include "core/base/errors.h"
#include "core/scenario/case.h"
#include "tests/support/files.h"
#include "tests/support/said.h"

namespace longhaul::model_file_test {

ModelShape shape_of(const char* config) {
  const ModelShape shape = parse_model(model_of_config(Json::parse(config)), "model");
  shape.check("model");
  return shape;
}

// A word for the family, the file, and the parameters.
struct Published {
  const char *name, *config;
  std::int64_t parameters;
};

const Published kPublished[] = {
    {"Llama 3.1 8B", R"({"architectures": ["LlamaForCausalLM"], "attention_bias": false, "hidden_size": 4096,
      "intermediate_size": 14336, "max_position_embeddings": 131072, "mlp_bias": false, "model_type": "llama",
      "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 8,
      "rope_scaling": {"factor": 8.0, "original_max_position_embeddings": 8192, "rope_type": "llama3"},
      "tie_word_embeddings": false, "vocab_size": 128256})",
     8030261248},
    {"Qwen2.5 0.5B", R"({"hidden_size": 896, "intermediate_size": 4864, "max_position_embeddings": 32768,
      "model_type": "qwen2", "num_attention_heads": 14, "num_hidden_layers": 24, "num_key_value_heads": 2,
      "tie_word_embeddings": true, "vocab_size": 151936})",
     494032768},
    {"Qwen3 8B",
     R"({"attention_bias": false, "head_dim": 128, "hidden_size": 4096, "intermediate_size": 12288,
      "max_position_embeddings": 40960, "model_type": "qwen3", "num_attention_heads": 32,
      "num_hidden_layers": 36, "num_key_value_heads": 8, "rope_scaling": null, "tie_word_embeddings": false,
      "vocab_size": 151936})",
     8190735360},
    {"Qwen3 30B-A3B", R"({"decoder_sparse_step": 1, "head_dim": 128, "hidden_size": 2048,
      "intermediate_size": 6144, "max_position_embeddings": 40960, "mlp_only_layers": [],
      "model_type": "qwen3_moe", "moe_intermediate_size": 768, "num_attention_heads": 32, "num_experts": 128,
      "num_experts_per_tok": 8, "num_hidden_layers": 48, "num_key_value_heads": 4,
      "tie_word_embeddings": false, "vocab_size": 151936})",
     30532122624},
    {"Mixtral 8x7B", R"({"hidden_size": 4096, "intermediate_size": 14336, "max_position_embeddings": 32768,
      "model_type": "mixtral", "num_attention_heads": 32, "num_experts_per_tok": 2, "num_hidden_layers": 32,
      "num_key_value_heads": 8, "num_local_experts": 8, "tie_word_embeddings": false, "vocab_size": 32000})",
     46702792704},
    {"gpt-oss-20b, version 5", R"({"attention_bias": true, "head_dim": 64, "hidden_size": 2880,
      "intermediate_size": 2880, "max_position_embeddings": 131072, "model_type": "gpt_oss",
      "num_attention_heads": 64, "num_experts_per_tok": 4, "num_hidden_layers": 24, "num_key_value_heads": 8,
      "num_local_experts": 32, "rope_parameters": {"original_max_position_embeddings": 4096,
      "rope_type": "yarn"}, "tie_word_embeddings": false, "vocab_size": 201088})",
     20914757184},
    {"DeepSeek V3", R"({"first_k_dense_replace": 3, "hidden_size": 7168, "intermediate_size": 18432,
      "kv_lora_rank": 512, "max_position_embeddings": 163840, "model_type": "deepseek_v3",
      "moe_intermediate_size": 2048, "moe_layer_freq": 1, "n_routed_experts": 256, "n_shared_experts": 1,
      "num_attention_heads": 128, "num_experts_per_tok": 8, "num_hidden_layers": 61,
      "num_key_value_heads": 128, "num_nextn_predict_layers": 1, "q_lora_rank": 1536,
      "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "rope_scaling": {"factor": 40,
      "original_max_position_embeddings": 4096, "type": "yarn"}, "tie_word_embeddings": false,
      "v_head_dim": 128, "vocab_size": 129280})",
     671026404352},
    {"Gemma 2 9B", R"({"head_dim": 256, "hidden_size": 3584, "intermediate_size": 14336,
      "max_position_embeddings": 8192, "model_type": "gemma2", "num_attention_heads": 16,
      "num_hidden_layers": 42, "num_key_value_heads": 8, "vocab_size": 256000})",
     9241705984},
    {"Gemma 3 4B, whose text leaves out what is the class's own", R"({"model_type": "gemma3",
      "text_config": {"hidden_size": 2560, "intermediate_size": 10240, "model_type": "gemma3_text",
      "num_hidden_layers": 34, "rope_scaling": {"factor": 8.0, "rope_type": "linear"}},
      "vision_config": {"hidden_size": 1152}})",
     4300079472 - 416866032 - 1152 * 2561},
    {"Llama 4 Maverick", R"({"model_type": "llama4", "text_config": {"attention_bias": false, "head_dim": 128,
      "hidden_size": 5120, "interleave_moe_layer_step": 2, "intermediate_size": 8192,
      "intermediate_size_mlp": 16384, "max_position_embeddings": 1048576, "model_type": "llama4_text",
      "num_attention_heads": 40, "num_experts_per_tok": 1, "num_hidden_layers": 48,
      "num_key_value_heads": 8, "num_local_experts": 128, "rope_scaling": null, "tie_word_embeddings": false,
      "use_qk_norm": false, "vocab_size": 202048}, "tie_word_embeddings": false})",
     401583781376 - 871932416}};

TEST(ModelFile, CountsThePublishedParameters) {
  for (const Published& published : kPublished)
    EXPECT_EQ(shape_of(published.config).parameters(), published.parameters) << published.name;
  EXPECT_EQ(shape_of(kPublished[0].config).context, 8192) << "of the pre-training";
  EXPECT_EQ(shape_of(kPublished[2].config).context, 8192) << "at most";
  EXPECT_EQ(shape_of(kPublished[5].config).context, 4096) << "in rope_parameters";
  EXPECT_NEAR(shape_of(kPublished[3].config).active_parameters() / 1e9, 3.35, 0.01);
}

// A scenario or plan names a file or the folder that has one, relative to itself.
TEST(ModelFile, IsNamedByAScenario) {
  const TemporaryFolder folder;
  write_text(folder.file("config.json"), kPublished[2].config);
  for (const char* name : {"config.json", "."}) {
    Json section = {{"model", name}};
    expand_model(section, folder.path, "workload.model");
    EXPECT_EQ(parse_model(section["model"], "model").parameters(), 8190735360) << name;
  }
  const auto expanded = [&](const Json& model) {
    Json section = {{"model", model}};
    expand_model(section, folder.path, "workload.model");
    return section["model"];
  };
  EXPECT_EQ(expanded("Qwen/Qwen3-8B"), "qwen3-8b");
  EXPECT_EQ(expanded({{"hidden", 8}}), Json({{"hidden", 8}}));
  EXPECT_SAYS(said_by([&] { expanded("quen3-8b"); }), "did you mean \"qwen3-8b\"?");
  EXPECT_SAYS(said_by([&] { expanded("none.json"); }), "none.json\": does not exist");
  write_text(folder.file("gpt2.json"), R"({"model_type": "gpt2", "n_embd": 768})");
  EXPECT_SAYS(said_by([&] { expanded("gpt2.json"); }), "gpt2.json: model_type: found \"gpt2\"");
  write_text(folder.file("short.json"), R"({"model_type": "llama", "hidden_size": 768})");
  EXPECT_SAYS(said_by([&] { expanded("short.json"); }), "num_hidden_layers: this key is missing");
  write_text(folder.file("listed.json"), R"({"model_type": "qwen3_moe", "hidden_size": 64,
    "num_hidden_layers": 4, "num_attention_heads": 4, "intermediate_size": 8, "vocab_size": 9,
    "num_experts": 4, "num_experts_per_tok": 1, "mlp_only_layers": [2]})");
  EXPECT_SAYS(said_by([&] { expanded("listed.json"); }), "mlp_only_layers: found [2]");
}

}  // namespace longhaul::model_file_test
