// The sequences of micro-batches, and the one that stays at home; float64/paths_test.cc has their gradients.
#include "trainer/pipeline/microbatches.h"

#include <gtest/gtest.h>

namespace longhaul::microbatches_test {

TEST(Microbatches, EachHasItsSequencesOfTheBatch) {
  const Batch batch{4, {0, 1, 2, 10, 11, 12, 20, 21, 22, 30, 31, 32}};
  EXPECT_EQ(microbatch_of(batch, 0, 2).tokens, (std::vector<std::int64_t>{0, 1, 2, 10, 11, 12}));
  EXPECT_EQ(microbatch_of(batch, 1, 2).tokens, (std::vector<std::int64_t>{20, 21, 22, 30, 31, 32}));
  EXPECT_EQ(microbatch_of(batch, 3, 4).tokens, (std::vector<std::int64_t>{30, 31, 32}));
  EXPECT_EQ(microbatch_of(batch, 1, 2).sequences, 2);
}

// With one micro-batch at home the gradient is the decoder's own, where it wrote it.
TEST(Microbatches, OneAtHomeIsTheDecodersCall) {
  constexpr std::int64_t kColumns = 6;
  PipelinePlan plan;
  plan.stages = 3;
  plan.parts = {{0, 1, {0, 2}}, {1, 2, {2, 3}}, {2, 3, {3, 6}}};
  std::vector<float> weights(12), gradients(12);
  const float* read = nullptr;
  float* written = nullptr;
  const MicrobatchPass<float> pass(plan, kColumns, [&](const float* w, float* gradient, const Batch&) {
    read = w;
    written = gradient;
    return 2.5;
  });
  const Route home = {{1, 0}, {1, 1}, {1, 2}};
  EXPECT_EQ(straight_path(plan, 7, 1, 0, 1), home);
  EXPECT_EQ(pass.run(home, 0, {1, {0, 0}}, {weights.data(), 0, kColumns}, {gradients.data(), 0, kColumns}),
            2.5);
  EXPECT_EQ(read, weights.data() + kColumns);
  EXPECT_EQ(written, gradients.data() + kColumns);
}

}  // namespace longhaul::microbatches_test
