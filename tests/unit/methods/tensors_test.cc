// How many operations an average is, by hand and as torch 2.15's DDP was seen to fill its buckets.
#include "methods/common/tensors.h"

#include <gtest/gtest.h>

#include <map>

#include "core/plan/program.h"
#include "tests/support/said.h"
#include "tests/unit/methods/one_case.h"

namespace longhaul::tensors_test {

using Sizes = std::vector<std::int64_t>;

Case case_of(const Json& method, const Json& workload) {
  Json all = workload;
  all["steps"] = 100;
  return one_case({{"replicas", 8}, {"methods", {method}}, {"workload", all}});
}

Json llama(int layers, bool is_tied) {
  return {{"model",
           {{"hidden", 8},
            {"layers", layers},
            {"heads", 2},
            {"ffn", 16},
            {"context", 8},
            {"vocabulary", 32},
            {"tied", is_tied}}}};
}

// Ten layers of 4 MiB in fp32, as one matrix each.
PlannedModel ten_layers() {
  PlannedModel model;
  model.wire = Wire::kFp32;
  for (int layer = 0; layer < 10; ++layer) {
    model.layout.push_back({"layer", 1024, 1024, model.parameters, layer});
    model.parameters += 1024 * 1024;
    model.layers.push_back({model.parameters - 1024 * 1024, model.parameters});
  }
  model.tensors = tensors_of_layout(model.layout);
  return model;
}

OperationPlan ddp_plan(const std::string& tensors, double overlap = 0) {
  const Json options =
      case_of({{"name", "ddp"}, {"tensors", tensors}, {"overlap_backward", overlap}}, {{"parameters", 10}})
          .method.options;
  const PlannedModel model = ten_layers();
  OperationPlan plan = method_named("ddp").plan({"ddp", "ddp", options}, model);
  split_by_tensors(options, model, plan);
  return plan;
}

// Megabytes of 2^20 of each operation of a step.
std::vector<double> mib_of_step(const OperationPlan& plan, int step) {
  std::vector<double> sizes;
  for (const Operation& operation : operations_at(plan, {1, 8, 100, 10 * 1024 * 1024}, step))
    for (const std::int64_t bytes : bytes_of_operations(operation))
      sizes.push_back(static_cast<double>(bytes) / (1 << 20));
  return sizes;
}

// Embedding, nine a layer, the last norm, and an output where it is no embedding.
TEST(Tensors, OfALlamaAreNineALayerAndTwoOrThree) {
  for (const bool is_tied : {true, false})
    for (const char* name : {"diloco", "ddp", "local-sgd", "co2"})
      for (const char* word : {"each", "together"}) {
        const OperationPlan plan = plan_of(case_of({{"name", name}, {"tensors", word}}, llama(16, is_tied)));
        ASSERT_EQ(plan.rules.size(), 1u) << name;
        EXPECT_EQ(operation_count(plan.rules[0]), 16 * 9 + (is_tied ? 2 : 3)) << name;
        EXPECT_EQ(plan.rules[0].together, word == std::string("together"));
        EXPECT_EQ(plan.rules[0].buckets, 1);
      }
}

// Two layers of 8 wide: embedding 32 × 8, norm, four of 8 × 8, norm, three of 8 × 16, in bf16.
TEST(Tensors, HaveTheBytesOfTheModelsTensors) {
  const Case config = case_of({{"name", "ddp"}, {"tensors", "each"}}, llama(1, true));
  const OperationPlan plan = plan_of(config);
  for (const Operation& operation : operations_at(plan, plan_context(config), 1))
    EXPECT_EQ(bytes_of_operations(operation), (Sizes{512, 16, 128, 128, 128, 128, 16, 256, 256, 256, 16}));
}

// A list of tensors stands for a model, also where an operation has the least of all.
TEST(Tensors, MayBeListed) {
  const Json workload = {{"parameters", 700}, {"tensors", {500, 1, 150, 49}}, {"wire", "fp32"}};
  const auto sizes = [&](const char* word) {
    const Case config = case_of({{"name", "diloco"}, {"inner_steps", 1}, {"tensors", word}}, workload);
    const OperationPlan plan = plan_of(config);
    return bytes_of_operations(operations_at(plan, plan_context(config), 1).at(0));
  };
  EXPECT_EQ(sizes("each"), (Sizes{2000, 4, 600, 196}));
  EXPECT_EQ(sizes("800B"), (Sizes{196 + 600 + 4, 2000}));
}

TEST(Tensors, OfAListAddUpToTheParameters) {
  const auto refusal = [](const Json& workload) {
    return said_by([&] { case_of({{"name", "diloco"}}, workload); });
  };
  EXPECT_SAYS(refusal({{"parameters", 700}, {"tensors", {500, 201}}}),
              "workload.tensors: found 2 tensors with 701 parameters");
  EXPECT_SAYS(refusal({{"parameters", 700}, {"tensors", {500, 201}}}), "as many as workload.parameters, 700");
  EXPECT_SAYS(refusal({{"model", llama(1, true)["model"]}, {"tensors", {500, 201}}}),
              "workload.tensors: found without workload.parameters");
}

TEST(Tensors, FlatIsOneOperation) {
  for (const char* name : {"diloco", "ddp"}) {
    const OperationPlan plan = plan_of(case_of({{"name", name}}, llama(4, true)));
    EXPECT_TRUE(plan.rules.at(0).sizes.empty());
    EXPECT_EQ(operation_count(plan.rules.at(0)), 1);
  }
}

// Measured: iteration 1 one bucket of 40; from 2 on, from the last layer, 28 + 12 with an explicit cap of 25,
// 4 + 28 + 8 without.
TEST(Tensors, FillBucketsAsDdpDoes) {
  for (const double overlap : {0., 0.6}) {
    EXPECT_EQ(mib_of_step(ddp_plan("25MiB", overlap), 1), (std::vector<double>{40}));
    EXPECT_EQ(mib_of_step(ddp_plan("25MiB", overlap), 2), (std::vector<double>{28, 12}));
    EXPECT_EQ(mib_of_step(ddp_plan("ddp", overlap), 1), (std::vector<double>{40}));
    EXPECT_EQ(mib_of_step(ddp_plan("ddp", overlap), 2), (std::vector<double>{4, 28, 8}));
    EXPECT_EQ(mib_of_step(ddp_plan("ddp", overlap), 100), (std::vector<double>{4, 28, 8}));
  }
  EXPECT_EQ(mib_of_step(ddp_plan("1GiB"), 2), (std::vector<double>{40}));
  EXPECT_EQ(mib_of_step(ddp_plan("1B"), 2), std::vector<double>(10, 4));
}

// A backward pass of 60 % of a step is through with layers 9, 8 … 0 at even distances: 4 MiB are there after
// one, 32 after eight.
TEST(Tensors, OfDdpAreReleasedByTheBackwardPass) {
  const OperationPlan plan = ddp_plan("ddp", 0.6);
  ASSERT_EQ(plan.rules.size(), 2u);
  EXPECT_EQ(plan.rules[0].buckets, 1);
  EXPECT_EQ(plan.rules[0].overlap_backward, 0);
  ASSERT_EQ(plan.rules[1].buckets, 3);
  const double expected[] = {0.6 * 0.9, 0.6 * 0.2, 0};
  for (int bucket = 0; bucket < 3; ++bucket)
    EXPECT_NEAR(left_at_release(plan.rules[1], bucket), expected[bucket], 1e-12);
  EXPECT_EQ(ddp_plan("each", 0.6).rules.at(0).buckets, 10);
}

// Stages have the tensors of their layers, fragments those of theirs.
TEST(Tensors, OfAPartOfTheModelAreThoseInIt) {
  Json workload = llama(4, true);
  const Case streaming = case_of({{"name", "streaming-diloco"},
                                  {"inner_steps", 20},
                                  {"overlap", 2},
                                  {"fragments", 4},
                                  {"tensors", "each"}},
                                 workload);
  std::vector<int> counts;
  for (const OperationRule& rule : plan_of(streaming).rules) counts.push_back(operation_count(rule));
  EXPECT_EQ(counts, (std::vector<int>{9 + 1, 9, 9, 9 + 1}));
}

TEST(Tensors, NeedAModel) {
  const auto refusal = [](const char* word, const Json& workload) {
    return said_by([&] { plan_of(case_of({{"name", "diloco"}, {"tensors", word}}, workload)); });
  };
  for (const char* word : {"each", "together", "ddp", "25MiB"}) {
    EXPECT_SAYS(refusal(word, {{"parameters", 1000}}),
                std::string("method.tensors: found \"") + word + "\" without a model");
    EXPECT_SAYS(refusal(word, {{"parameters", 1000}}), "give workload.model");
  }
  EXPECT_SAYS(refusal("each", {{"model", "deepseek-v3"}}), "at most 4096 operations");
}

}  // namespace longhaul::tensors_test
