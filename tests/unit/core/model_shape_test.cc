// True parameter counts of the paper's set-ups, as counted in its authors' code (SwiGLU, untied, vocabulary
// 128,002): 310 M, 2.14 B, 9.64 B.
#include "core/base/model_shape.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <map>

#include "core/base/errors.h"

namespace longhaul::model_shape_test {

// The counts of the published weights, as the model cards on Hugging Face show them (safetensors).
TEST(ModelShape, PresetsHaveThePublishedParameters) {
  const std::map<std::string, std::int64_t> published = {
      {"llama-2-7b", 6738415616},   {"llama-2-13b", 13015864320},   {"llama-2-70b", 68976648192},
      {"llama-3.2-1b", 1235814400}, {"llama-3.2-3b", 3212749824},   {"llama-3-8b", 8030261248},
      {"llama-3-70b", 70553706496}, {"llama-3-405b", 405853388800}, {"mistral-7b", 7241732096},
      {"qwen2.5-7b", 7615616512},   {"qwen2.5-32b", 32763876352},   {"gemma-7b", 8537680896},
      {"mpt-7b", 6649286656}};
  const auto& presets = model_presets();
  ASSERT_EQ(presets.size(), published.size() + 3);
  EXPECT_NEAR(presets[0].shape.parameters() / 1e6, 310, 0.5) << "of the paper";
  EXPECT_NEAR(presets[1].shape.parameters() / 1e9, 2.14, 0.005);
  EXPECT_NEAR(presets[2].shape.parameters() / 1e9, 9.64, 0.005);
  for (std::size_t i = 3; i < presets.size(); ++i) {
    ASSERT_EQ(published.count(presets[i].name), 1u) << presets[i].name;
    EXPECT_EQ(presets[i].shape.parameters(), published.at(presets[i].name)) << presets[i].name;
    EXPECT_NO_THROW(presets[i].shape.check("model"));
  }
}

// h 8, two query heads for one of keys and values, 6 wide: query [12, 8] with 12 biases, key and value [6, 8]
// with 6, output [8, 12]; no gate: up [5, 8], down [8, 5]; two norms. One embedding of 3, the last norm.
TEST(ModelShape, LayoutOfGroupedQueriesByHand) {
  ModelShape shape{8, 1, 2, 5, 8, 3, 1, 6, false, true, true};
  std::string found;
  for (const Parameter& parameter : parameter_layout(shape))
    found += fmt::format("{} {}, ", parameter.name, parameter.size());
  EXPECT_EQ(found,
            "embedding 24, layers.0.attention.norm 8, layers.0.attention.query 96, "
            "layers.0.attention.key 48, layers.0.attention.value 48, layers.0.attention.query_bias 12, "
            "layers.0.attention.key_bias 6, layers.0.attention.value_bias 6, layers.0.attention.output 96, "
            "layers.0.feed_forward.norm 8, layers.0.feed_forward.up 40, layers.0.feed_forward.down 40, "
            "norm 8, ");
  EXPECT_EQ(shape.parameters(), 440);
  EXPECT_EQ(shape.layer_weights(), 96 + 48 + 48 + 96 + 40 + 40);
  shape.kv_heads = 3;
  EXPECT_THROW(shape.check("model"), InputError);
}

// Heads 3 wide cannot be turned: rotary embeddings need pairs. 10^9 · 10^9 · 4 · 65536 would not fit 64 bits.
TEST(ModelShape, HeadsDivideHiddenAndParametersAreCounted) {
  constexpr int kMost = 2147483646, kBillion = 1000000000;
  for (const ModelShape& wrong : {ModelShape{10, 1, 3, 5, 8, 3}, ModelShape{6, 1, 2, 5, 8, 3},
                                  ModelShape{kBillion, 65536, 2, kBillion, 8, kBillion},
                                  ModelShape{kMost, 65536, kMost, kMost, 8, kMost, kMost, kMost}})
    EXPECT_THROW(wrong.check("train.model"), InputError) << wrong.hidden;
  for (const ModelShape& right :
       {ModelShape{8, 1, 2, 5, 8, 3}, ModelShape{65536, 100, 128, 4 * 65536, 8, 128002}})
    EXPECT_NO_THROW(right.check("train.model")) << right.hidden;
}

}  // namespace longhaul::model_shape_test
