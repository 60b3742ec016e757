// Micro-batches on paths that are written down here: the columns that each meets, and those that it changes.
#include "trainer/pipeline/microbatches.h"

#include <gtest/gtest.h>

namespace longhaul::microbatches_test {

// Three parts, of the columns 0-1, 2 and 3-5.
PipelinePlan three_parts(int microbatches) {
  PipelinePlan plan;
  plan.stages = 3;
  plan.microbatches = microbatches;
  plan.routing = MicrobatchRouting::kRandom;
  plan.parts = {{0, 1, {0, 2}}, {1, 2, {2, 3}}, {2, 3, {3, 6}}};
  return plan;
}

constexpr std::int64_t kColumns = 6;

// Through each part at this replica.
Route by(int first, int second, int third) {
  return {{first, 0}, {second, 1}, {third, 2}};
}

TEST(Microbatches, EachHasItsSequencesOfTheBatch) {
  const Batch batch{4, {0, 1, 2, 10, 11, 12, 20, 21, 22, 30, 31, 32}};
  EXPECT_EQ(microbatch_of(batch, 0, 2).tokens, (std::vector<std::int64_t>{0, 1, 2, 10, 11, 12}));
  EXPECT_EQ(microbatch_of(batch, 1, 2).tokens, (std::vector<std::int64_t>{20, 21, 22, 30, 31, 32}));
  EXPECT_EQ(microbatch_of(batch, 3, 4).tokens, (std::vector<std::int64_t>{30, 31, 32}));
  EXPECT_EQ(microbatch_of(batch, 1, 2).sequences, 2);
}

// Replica r's weights are all r, and the gradient of micro-batch m of replica h is 10 h + m + 1 in all
// columns; both micro-batches count half.
TEST(Microbatches, GradientsReachThePathAndNothingElse) {
  const PipelinePlan plan = three_parts(2);
  const std::vector<std::vector<Route>> paths = {{by(0, 2, 1), by(1, 0, 0), by(2, 1, 2)},
                                                 {by(0, 0, 0), by(1, 2, 1), by(2, 1, 2)}};
  std::vector<float> weights, gradients(18, 123.f);
  for (int replica = 0; replica < 3; ++replica) weights.insert(weights.end(), 6, static_cast<float>(replica));
  std::vector<std::vector<float>> met;
  std::vector<std::int64_t> tokens;
  const MicrobatchPass<float> pass(plan, kColumns, [&](const float* w, float* gradient, const Batch& batch) {
    met.emplace_back(w, w + kColumns);
    tokens.push_back(batch.tokens.at(0));
    std::fill(gradient, gradient + kColumns, static_cast<float>(batch.tokens[0]));
    return 1.;
  });
  for (int m = 0; m < 2; ++m)
    for (int home = 2; home >= 0; --home)  // in any order
      pass.run(paths[as_index(m)][as_index(home)], m, {2, {10 * home + 1, 0, 10 * home + 2, 0}},
               {weights.data(), 0, kColumns}, {gradients.data(), 0, kColumns});

  EXPECT_EQ(tokens, (std::vector<std::int64_t>{21, 11, 1, 22, 12, 2})) << "each micro-batch once";
  EXPECT_EQ(met[0], (std::vector<float>{2, 2, 1, 2, 2, 2}));
  EXPECT_EQ(met[1], (std::vector<float>{1, 1, 0, 0, 0, 0}));
  EXPECT_EQ(met[2], (std::vector<float>{0, 0, 2, 1, 1, 1}));
  EXPECT_EQ(met[4], (std::vector<float>{1, 1, 2, 1, 1, 1}));
  EXPECT_EQ(met[5], (std::vector<float>(6, 0)));
  // Replica 0: part 0 of its own; part 1 from replica 1, then its own; part 2 likewise.
  const std::vector<float> expected = {1.5,  1.5,  6.5,  6.5,  6.5,  6.5,    // (1 + 2)/2, (11 + 2)/2
                                       11.5, 11.5, 21.5, 6.5,  6.5,  6.5,    // (21 + 22)/2, (1 + 12)/2
                                       21.5, 21.5, 6.5,  21.5, 21.5, 21.5};  // (1 + 12)/2 in part 1
  EXPECT_EQ(gradients, expected);
}

// With one micro-batch at home the gradient is the decoder's own, where it wrote it.
TEST(Microbatches, OneAtHomeIsTheDecodersCall) {
  PipelinePlan plan = three_parts(1);
  plan.routing = MicrobatchRouting::kStraight;
  std::vector<float> weights(12), gradients(12);
  const float* read = nullptr;
  float* written = nullptr;
  const MicrobatchPass<float> pass(plan, kColumns, [&](const float* w, float* gradient, const Batch&) {
    read = w;
    written = gradient;
    return 2.5;
  });
  EXPECT_EQ(straight_path(plan, 7, 1, 0, 1), by(1, 1, 1));
  EXPECT_EQ(
      pass.run(by(1, 1, 1), 0, {1, {0, 0}}, {weights.data(), 0, kColumns}, {gradients.data(), 0, kColumns}),
      2.5);
  EXPECT_EQ(read, weights.data() + kColumns);
  EXPECT_EQ(written, gradients.data() + kColumns);
}

}  // namespace longhaul::microbatches_test
