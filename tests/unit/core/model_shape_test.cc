// True parameter counts of the paper's set-ups, as counted in its authors' code (SwiGLU, untied, vocabulary
// 128,002): 310 M, 2.14 B, 9.64 B. Which columns belong to which hidden unit, and how units are dealt to
// replicas, against their definitions taken column by column.
#include "core/base/model_shape.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/base/errors.h"
#include "core/base/index.h"
#include "core/base/model_presets.h"
#include "core/plan/hidden_units.h"

namespace longhaul::model_shape_test {

// The counts of the published weights, as the model cards on Hugging Face show them (safetensors).
TEST(ModelShape, PresetsHaveThePublishedParameters) {
  const std::map<std::string, std::int64_t> published = {
      {"llama-2-7b", 6738415616},
      {"llama-2-13b", 13015864320},
      {"llama-2-70b", 68976648192},
      {"llama-3.2-1b", 1235814400},
      {"llama-3.2-3b", 3212749824},
      {"llama-3-8b", 8030261248},
      {"llama-3-70b", 70553706496},
      {"llama-3-405b", 405853388800},
      {"mistral-7b", 7241732096},
      {"qwen2.5-7b", 7615616512},
      {"qwen2.5-32b", 32763876352},
      {"gemma-7b", 8537680896},
      {"mpt-7b", 6649286656},
      {"tinyllama-1.1b", 1100048384},
      {"mistral-nemo-12b", 12247782400},
      {"phi-4", 14659507200},
      {"qwen2.5-0.5b", 494032768},
      {"qwen2.5-1.5b", 1543714304},
      {"qwen2.5-3b", 3085938688},
      {"qwen2.5-14b", 14770033664},
      {"qwen2.5-72b", 72706203648},
      {"qwen3-0.6b", 596049920},
      {"qwen3-1.7b", 1720574976},
      {"qwen3-4b", 4022468096},
      {"qwen3-8b", 8190735360},
      {"qwen3-14b", 14768307200},
      {"qwen3-32b", 32762123264},
      {"gemma-2-2b", 2614341888},
      {"gemma-2-9b", 9241705984},
      {"gemma-2-27b", 27227128320},
      {"gemma-3-1b", 999885952},
      {"mixtral-8x7b", 46702792704},
      {"mixtral-8x22b", 140620634112},
      {"gpt-oss-20b", 20914757184},
      {"gpt-oss-120b", 116829156672},
      {"mistral-small-3", 23572403200},
      {"qwen3-30b-a3b", 30532122624},
      {"qwen3-235b-a22b", 235093634560},
      {"deepseek-v3", 671026404352},
      // Of their published counts what is no text is left out: Gemma 3's vision part (416,866,032, and
      // 1152 · hidden + 1152 that join it), Llama 4's (871,932,416).
      {"gemma-3-4b", 4300079472 - 416866032 - 1152 * (2560 + 1)},
      {"gemma-3-12b", 12187325040 - 416866032 - 1152 * (3840 + 1)},
      {"gemma-3-27b", 27432406640 - 416866032 - 1152 * (5376 + 1)},
      {"llama-4-scout", 108641793536 - 871932416},
      {"llama-4-maverick", 401583781376 - 871932416}};
  // Published as rounded totals alone, or with layers that predict a second token.
  const std::map<std::string, double> rounded = {
      {"kimi-k2", 1.04e12}, {"glm-4.5-air", 106e9}, {"glm-4.5", 355e9}};
  const auto& presets = model_presets();
  ASSERT_EQ(presets.size(), published.size() + rounded.size() + 3);
  EXPECT_NEAR(presets[0].shape.parameters() / 1e6, 310, 0.5) << "of the paper";
  EXPECT_NEAR(presets[1].shape.parameters() / 1e9, 2.14, 0.005);
  EXPECT_NEAR(presets[2].shape.parameters() / 1e9, 9.64, 0.005);
  for (std::size_t i = 3; i < presets.size(); ++i) {
    EXPECT_NO_THROW(presets[i].shape.check("model"));
    if (const auto found = rounded.find(presets[i].name); found != rounded.end()) {
      EXPECT_NEAR(presets[i].shape.parameters() / found->second, 1, 0.015) << found->first;
      continue;
    }
    ASSERT_EQ(published.count(presets[i].name), 1u) << presets[i].name;
    EXPECT_EQ(presets[i].shape.parameters(), published.at(presets[i].name)) << presets[i].name;
  }
}

// As their cards and reports say, with the embedding, which gpt-oss's leaves out: 5.13 and 3.61 G beside 0.58
// G.
TEST(ModelShape, ActiveParametersAreThePublishedOnes) {
  const std::map<std::string, double> published = {{"qwen3-30b-a3b", 3.3e9},
                                                   {"qwen3-235b-a22b", 22e9},
                                                   {"mixtral-8x7b", 12.9e9},
                                                   {"mixtral-8x22b", 39e9},
                                                   {"deepseek-v3", 37e9},
                                                   {"kimi-k2", 32e9},
                                                   {"llama-4-scout", 17e9},
                                                   {"llama-4-maverick", 17e9},
                                                   {"gpt-oss-20b", 3.61e9 + 201088. * 2880},
                                                   {"glm-4.5", 32e9},
                                                   {"gpt-oss-120b", 5.13e9 + 201088. * 2880}};
  for (const ModelPreset& preset : model_presets()) {
    const auto active = static_cast<double>(preset.shape.active_parameters());
    if (preset.shape.experts.count == 0) {
      EXPECT_EQ(preset.shape.active_parameters(), preset.shape.parameters()) << preset.name;
    } else if (const auto found = published.find(preset.name); found != published.end()) {
      EXPECT_NEAR(active / found->second, 1, 0.055) << preset.name;
    }
  }
}

// The counts are closed forms; the layout lists every matrix.
TEST(ModelShape, CountsAreThoseOfTheLayout) {
  for (const ModelPreset& preset : model_presets()) {
    const std::vector<Parameter> layout = parameter_layout(preset.shape);
    EXPECT_EQ(layout.back().offset + layout.back().size(), preset.shape.parameters()) << preset.name;
    const std::vector<ColumnRange> layers = layer_columns(preset.shape);
    std::vector<std::int64_t> sizes(layers.size());
    for (const Parameter& parameter : layout) {
      if (parameter.layer < 0) continue;
      const auto layer = as_index(parameter.layer);
      if (sizes[layer] == 0) {
        EXPECT_EQ(parameter.offset, layers[layer].begin) << preset.name;
      }
      sizes[layer] += parameter.size();
    }
    for (std::size_t i = 0; i < layers.size(); ++i) EXPECT_EQ(sizes[i], layers[i].size()) << preset.name;
  }
}

// h 8, two layers, the first without experts (ffn 5): 3 · 8 · 5. The second: a router [4, 8], four experts 3
// wide of 72 weights, one of which computes, and a shared one 6 wide of 144. Attention of two heads 4 wide
// 4 · 64. Two norms of 8 each, 7 further weights. Embedding and output of 3 · 8, the last norm.
TEST(ModelShape, ExpertsByHand) {
  ModelShape shape{8, 2, 2, 5, 8, 3};
  shape.experts = {4, 1, 3, 6, 1};
  shape.further = 7;
  const std::int64_t each = 256 + 16 + 7, dense = 120, with = 32 + 4 * 72 + 144;
  EXPECT_EQ(shape.layer_parameters(0), each + dense);
  EXPECT_EQ(shape.layer_parameters(1), each + with);
  EXPECT_EQ(shape.parameters(), 2 * each + dense + with + 2 * 24 + 8);
  EXPECT_EQ(shape.active_parameters(), shape.parameters() - 3 * 72);
  EXPECT_EQ(shape.layer_weights(), 256 + (120 + 32 + 72 + 144) / 2.);
  std::vector<std::int64_t> experts;
  for (const Parameter& parameter : parameter_layout(shape))
    if (parameter.copies > 1) experts.push_back(parameter.size());
  EXPECT_EQ(experts, (std::vector<std::int64_t>{96, 96, 96}));
  EXPECT_EQ(matrices_of({}, parameter_layout(shape)).size(), 3u + 2 * 7 + 3 + 1 + 3 * 4 + 3);
  shape.experts.per_token = 5;
  EXPECT_THROW(shape.check("model"), InputError);
  shape.experts = {4, 1, 3, 6, 2};
  EXPECT_THROW(shape.check("model"), InputError) << "no layer is left";
}

// As people write them in threads and copy them from repositories.
TEST(ModelPresets, AreFoundByTheNamesOfRepositories) {
  const std::map<std::string, std::string> names = {
      {"Qwen3-8B", "qwen3-8b"},
      {"Qwen/Qwen3-30B-A3B-Instruct-2507", "qwen3-30b-a3b"},
      {"meta-llama/Llama-3.1-70B-Instruct", "llama-3-70b"},
      {"meta-llama/Meta-Llama-3-8B", "llama-3-8b"},
      {"llama-3.1-70b", "llama-3-70b"},
      {"meta-llama/Llama-2-7b-hf", "llama-2-7b"},
      {"meta-llama/Llama-4-Scout-17B-16E-Instruct", "llama-4-scout"},
      {"openai/gpt-oss-120b", "gpt-oss-120b"},
      {"deepseek-ai/DeepSeek-R1", "deepseek-v3"},
      {"google/gemma-2-9b-it", "gemma-2-9b"},
      {"mistralai/Mixtral-8x7B-Instruct-v0.1", "mixtral-8x7b"},
      {"mistralai/Mistral-Small-24B-Instruct-2501", "mistral-small-3"},
      {"zai-org/GLM-4.5-Air", "glm-4.5-air"},
      {"gpt-5", "gpt-5"}};
  for (const auto& [written, name] : names) EXPECT_EQ(preset_named_by(written), name);
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

const ModelShape kShape{12, 2, 3, 7, 8, 5};
const std::vector<Parameter> kLayout = parameter_layout(kShape);

std::set<std::int64_t> columns_of_unit(const HiddenUnits& units, int unit) {
  std::set<std::int64_t> found;
  for (const UnitColumns& matrix : units.matrices)
    for (std::int64_t row = 0; row < matrix.rows; ++row)
      for (std::int64_t i = 0; i < matrix.width; ++i)
        EXPECT_TRUE(found.insert(matrix.offset + unit * matrix.stride + row * matrix.row_stride + i).second);
  return found;
}

bool is_of_a_unit(const Parameter& parameter) {
  return parameter.name.find(".feed_forward.") != std::string::npos && !parameter.is_norm;
}

// Element [row, column] of a matrix of `layer` belongs to the unit that it computes, or reads.
std::set<std::int64_t> expected_columns(int layer, int unit) {
  const std::string prefix = "layers." + std::to_string(layer) + ".";
  std::set<std::int64_t> expected;
  for (const Parameter& parameter : kLayout) {
    if (parameter.name.rfind(prefix, 0) != 0 || !is_of_a_unit(parameter)) continue;
    const bool reads = parameter.name.find(".down") != std::string::npos;
    for (std::int64_t row = 0; row < parameter.rows; ++row)
      for (std::int64_t column = 0; column < parameter.columns; ++column)
        if ((reads ? column : row) == unit)
          expected.insert(parameter.offset + row * parameter.columns + column);
  }
  return expected;
}

// Without a gate a unit is a row of up and a column of down.
TEST(HiddenUnits, HaveTheRowsThatMakeThemAndTheColumnsThatReadThem) {
  const std::vector<HiddenUnits> ffn = ffn_units(kLayout);
  ModelShape shape = kShape;
  shape.gated = false;
  const std::vector<HiddenUnits> without_gate = ffn_units(parameter_layout(shape));
  ASSERT_EQ(ffn.size(), 2u);
  ASSERT_EQ(without_gate.size(), 2u);
  for (std::size_t layer = 0; layer < 2; ++layer) {
    EXPECT_EQ(ffn[layer].count, 7);
    EXPECT_EQ(ffn[layer].columns(), 3 * 12);
    for (int unit = 0; unit < 7; ++unit)
      EXPECT_EQ(columns_of_unit(ffn[layer], unit), expected_columns(static_cast<int>(layer), unit)) << unit;
    EXPECT_EQ(without_gate[layer].count, 7);
    EXPECT_EQ(without_gate[layer].columns(), 2 * 12);
  }
}

TEST(HiddenUnits, AllOfThemAreTheMatricesAndTheOthersTheRest) {
  const std::vector<HiddenUnits> units = ffn_units(kLayout);
  const Columns columns = columns_of(units), others = other_columns(columns, kShape.parameters());
  std::vector<int> seen(as_index(kShape.parameters()));
  for (const auto& [ranges, mark] : {std::pair(columns, 1), std::pair(others, 2)})
    for (const ColumnRange& range : ranges)
      for (std::int64_t at = range.begin; at < range.end; ++at) seen[as_index(at)] += mark;
  for (const Parameter& parameter : kLayout)
    for (std::int64_t at = parameter.offset; at < parameter.offset + parameter.size(); ++at)
      EXPECT_EQ(seen[as_index(at)], is_of_a_unit(parameter) ? 1 : 2) << parameter.name;
  EXPECT_EQ(columns.size(), 2u) << "the feed-forward part of each layer";
  EXPECT_EQ(other_columns({}, 9), (Columns{{0, 9}}));
}

// Each unit has one owner, and all own equally many, but for one. They are drawn anew by round, family and
// seed.
TEST(UnitOwners, AreAPartitionIntoEqualParts) {
  for (const auto& [count, replicas] : {std::pair(96, 3), {97, 3}, {8, 8}, {11, 4}})
    for (int family = 0; family < 4; ++family)
      for (int round = 0; round < 5; ++round) {
        const std::vector<int> owners = unit_owners(7, count, family, replicas, round);
        ASSERT_EQ(owners.size(), as_index(count));
        for (int replica = 0; replica < replicas; ++replica) {
          const auto owned = std::count(owners.begin(), owners.end(), replica);
          const bool has_one_more = (replica - family % replicas + replicas) % replicas < count % replicas;
          EXPECT_EQ(owned, count / replicas + has_one_more) << count << " over " << replicas;
        }
      }
  const std::vector<int> owners = unit_owners(7, 96, 0, 3, 5);
  EXPECT_EQ(owners, unit_owners(7, 96, 0, 3, 5));
  EXPECT_NE(owners, unit_owners(7, 96, 0, 3, 6));
  EXPECT_NE(owners, unit_owners(7, 96, 3, 3, 5));
  EXPECT_NE(owners, unit_owners(8, 96, 0, 3, 5));
}

// A unit is anybody's with equal chances, whoever had it before: 4000 rounds, 250 ± 14.4 of each of 16 pairs.
TEST(UnitOwners, EveryPairOfOwnersIsEquallyLikely) {
  std::map<std::pair<int, int>, int> seen;
  for (int round = 1; round <= 4000; ++round)
    ++seen[{unit_owners(1, 12, 1, 4, round - 1)[5], unit_owners(1, 12, 1, 4, round)[5]}];
  ASSERT_EQ(seen.size(), 16u);
  for (const auto& [pair, count] : seen) EXPECT_NEAR(count, 250, 5 * 14.4);
}

TEST(UnitOwners, WhatPassesFromOneToAnotherIsCountedColumnByColumn) {
  const std::vector<HiddenUnits> units = ffn_units(kLayout);
  constexpr int kReplicas = 3;
  const std::int64_t parameters = kShape.parameters();
  for (int round = 1; round < 4; ++round) {
    const std::vector<int> before = column_owners(9, units, kReplicas, round - 1, parameters),
                           after = column_owners(9, units, kReplicas, round, parameters);
    std::vector<std::int64_t> expected(kReplicas * kReplicas);
    std::int64_t owned[kReplicas] = {};
    for (std::size_t column = 0; column < before.size(); ++column) {
      ASSERT_EQ(before[column] == kShared, after[column] == kShared);
      if (before[column] == kShared) continue;
      ++expected[as_index(before[column] * kReplicas + after[column])];
      ++owned[before[column]];
    }
    EXPECT_EQ(passed_columns(9, units, kReplicas, round), expected);
    EXPECT_EQ(most_owned_columns(units, kReplicas), *std::max_element(owned, owned + kReplicas));
  }
  // 7 columns of 36 in two layers over three replicas: 3 + 2, 2 + 3 or 2 + 2.
  EXPECT_EQ(most_owned_columns(units, kReplicas), 5 * 36);
  for (const Parameter& parameter : kLayout) {
    const int owner = column_owners(9, units, 3, 1, parameters)[as_index(parameter.offset)];
    EXPECT_EQ(owner == kShared, !is_of_a_unit(parameter)) << parameter.name;
  }
}

}  // namespace longhaul::model_shape_test
