// The path of fused attention through the stacked decoder, with an attention of the same tensor layouts
// (trainer/device/flash_attention.h in this folder).
#include "tests/unit/trainer/stacked_support.h"

namespace longhaul::fused_attention_test {

using testing_stacked::Replicas;

// Heads of 64, of 16, and of 24 numbers, whose halves no pack of 8 divides. Layers are computed again too.
TEST(FusedAttention, LossesAndGradientsAreThoseOfProductsAndSoftmax) {
  for (const ModelShape& shape : {ModelShape{128, 2, 2, 64, 256, 64}, ModelShape{48, 2, 3, 64, 300, 64},
                                  ModelShape{72, 2, 3, 64, 256, 64}}) {
    SCOPED_TRACE(shape.hidden);
    const StackedDecoder decoder(shape, Device::kCuda, Precision::kBf16),
        again(shape, Device::kCuda, Precision::kBf16, 1);
    const Replicas replicas(shape, 2, 3, 0.05), fewer(shape, 2, 1, 0.05);
    const auto plain = run(StackedDecoder(shape, Device::kCpu, Precision::kBf16), replicas),
               fused = run(decoder, replicas);
    EXPECT_NE(fused.gradients, plain.gradients) << "this is the path without fused attention";
    expect_near(fused, replicas.one_by_one(), replicas, 1e-3, testing_stacked::bf16_gradient_bound());
    expect_near(fused, plain, replicas, 2e-3, testing_stacked::bf16_gradient_bound());
    ASSERT_TRUE(again.piece_of(2, 1, true).recomputes);
    expect_same_bits(run(again, fewer), run(decoder, fewer));
  }
}

// A grid of CUDA has 65,535 blocks at most in its second dimension, which counts sequences: 1,024 replicas of
// 64 are two pieces, and 70,000 sequences of one replica are two.
TEST(FusedAttentionPieces, HaveNoMoreSequencesThanAGridTakes) {
  const ModelShape shape{16, 1, 1, 16, 8, 16};
  const StackedDecoder fused(shape, Device::kCuda, Precision::kBf16),
      plain(shape, Device::kCpu, Precision::kBf16);
  EXPECT_EQ(fused.piece_of(1024, 64, true).replicas, 512);
  EXPECT_EQ(fused.piece_of(1024, 64, true).sequences, 64);
  EXPECT_EQ(fused.piece_of(2, 70000, true).replicas, 1);
  EXPECT_EQ(fused.piece_of(2, 70000, true).sequences, 35000);
  EXPECT_EQ(fused.piece_of(1023, 64, true).replicas, 1023);
  EXPECT_EQ(plain.piece_of(1024, 64, true).replicas, 1024);
}

}  // namespace longhaul::fused_attention_test
