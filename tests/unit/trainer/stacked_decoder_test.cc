// The stacked decoder against the one that does a replica at a time.
#include "trainer/model/stacked_decoder.h"

#include "tests/support/said.h"
#include "tests/unit/trainer/stacked_support.h"
#include "trainer/model/cpu_decoder.h"

namespace longhaul::stacked_decoder_test {

using testing_stacked::expect_near;
using testing_stacked::expect_same_bits;
using testing_stacked::relative_difference;
using testing_stacked::Replicas;
using testing_stacked::run;

constexpr ModelShape kSmall{12, 2, 3, 10, 7, 11}, kTraining{96, 3, 4, 256, 65, 256};

// The memory that so many replicas, with so many sequences each, take at a time.
std::int64_t memory_for(const ModelShape& shape, int replicas, int sequences,
                        Precision precision = Precision::kFloat32) {
  return StackedDecoder::workspace_bytes(shape, precision, replicas, sequences, true, {});
}

StackedDecoder in_float32(const ModelShape& shape, std::int64_t memory_limit = 0,
                          const Boundaries& boundaries = {}) {
  return StackedDecoder(shape, Device::kCpu, Precision::kFloat32, memory_limit, boundaries);
}

// The larger model has weights as in a training: with 0.3 softmaxes saturate, and the two differ by 2.4e-5.
TEST(StackedDecoder, InFloat32LossesAndGradientsAreThoseOfTheLoop) {
  const struct {
    ModelShape shape;
    int replicas, sequences;
    std::int64_t limit;
    double deviation = 0.3;  // of the weights
  } settings[] = {{kSmall, 1, 1, 0},
                  {kSmall, 5, 3, 0},
                  {kSmall, 5, 3, memory_for(kSmall, 2, 3)},
                  {kSmall, 2, 5, memory_for(kSmall, 1, 2)},
                  {kSmall, 2, 3, 1},
                  {{12, 0, 3, 10, 7, 11}, 2, 2, 0},
                  {{12, 1, 3, 10, 60, 1500}, 3, 4, 0},
                  {{12, 1, 3, 10, 60, 1500}, 3, 4, 1},
                  {kTraining, 3, 4, 0, 0.05}};
  for (const auto& s : settings) {
    SCOPED_TRACE(&s - settings);
    const Replicas replicas(s.shape, s.replicas, s.sequences, s.deviation);
    expect_near(run(in_float32(s.shape, s.limit), replicas), replicas.one_by_one(), replicas, 1e-5, 1e-5);
  }
}

// A sign and a scale for each block: what rounding does before the boundary does not change them much.
TEST(StackedDecoder, BoundariesForAllHopsAndByHopAreThoseOfTheLoop) {
  constexpr Quantized kSign{Quantizer::kSign, 42};
  const Replicas replicas(kSmall, 5, 3, 0.3);
  const auto whole = replicas.one_by_one();
  const HopFormats all(kSign), one({std::nullopt, kSign, std::nullopt}), others({kSign, std::nullopt, kSign});
  for (const Boundaries& boundaries : {Boundaries{{0, 1, 2}, all, all}, Boundaries{{0, 1, 2}, one, others}}) {
    const auto expected = replicas.one_by_one(CpuDecoder(kSmall, boundaries));
    for (std::size_t r = 0; r < 5; ++r) EXPECT_GT(std::abs(expected.losses[r] - whole.losses[r]), 1e-2);
    for (const std::int64_t limit : {std::int64_t{0}, memory_for(kSmall, 2, 3), memory_for(kSmall, 1, 1)}) {
      SCOPED_TRACE(limit);
      expect_near(run(in_float32(kSmall, limit, boundaries), replicas), expected, replicas, 1e-5, 1e-5);
    }
  }
}

TEST(StackedDecoder, PiecesThatCutABlockAreRefused) {
  const HopFormats by_hop({std::nullopt, Quantized{Quantizer::kInt8, 1024}});
  const Boundaries boundaries{{1, 2}, by_hop, std::nullopt};
  const Replicas replicas(kSmall, 1, 3, 0.3);
  const InputErrorParts refused =
      refused_parts([&] { run(in_float32(kSmall, memory_for(kSmall, 1, 1), boundaries), replicas); });
  EXPECT_EQ(refused.path, "pipeline.block");
  EXPECT_EQ(refused.allowed, "a divisor of 84 (sequences · context · hidden)");
}

TEST(StackedDecoder, PiecesOfReplicasChangeNoBit) {
  const Replicas replicas(kSmall, 5, 3, 0.3);
  const StackedDecoder pieces = in_float32(kSmall, memory_for(kSmall, 2, 3));
  ASSERT_EQ(pieces.piece_of(5, 3, true).replicas, 2);
  ASSERT_EQ(pieces.piece_of(5, 3, true).sequences, 3);
  expect_same_bits(run(pieces, replicas), run(in_float32(kSmall), replicas));
}

TEST(StackedDecoder, PieceFitsTheLimit) {
  const StackedDecoder decoder(kTraining, Device::kCpu, Precision::kBf16, 30'000'000);
  const auto piece = decoder.piece_of(64, 4, true);
  EXPECT_LE(memory_for(kTraining, piece.replicas, piece.sequences, Precision::kBf16), 30'000'000);
  EXPECT_GT(piece.replicas, 1);
  EXPECT_EQ(StackedDecoder(kTraining, Device::kCpu, Precision::kBf16, 1).piece_of(64, 4, true).sequences, 1);
}

// Worked out by hand for hidden 64 in 4 heads, 2 layers, ffn 96, context 256, 11 tokens (P 71,360): in bf16 a
// token and layer keep 2·4·65 + 2·(6·64 + 3·96) = 1864 bytes and those of attention, a token takes
// 4·2·64 + 2·(8·64 + 3·96 + 2·11) = 2156 once. Attention's weights are 2·4·256 bytes, kept and twice more;
// the logarithms of sums 4·4, the sums of queries 4·4·(32 + 1) and 4·160·32·256 once for all.
TEST(StackedDecoder, WorkspaceIsWhatTheShapesSay) {
  constexpr ModelShape kShape{64, 2, 4, 96, 256, 11};
  constexpr std::int64_t kWeights = 2 * 71360 + 2 * 64 * 192, kTokens = 3 * 256;
  EXPECT_EQ(kShape.parameters(), 71360);
  EXPECT_EQ(StackedDecoder::workspace_bytes(kShape, Precision::kBf16, 5, 3, true, {}),
            5 * (kWeights + kTokens * (2 * (1864 + 2048) + 2156 + 2 * 2048)));
  EXPECT_EQ(StackedDecoder::workspace_bytes(kShape, Precision::kBf16, 5, 3, true, {true}),
            5 * (kWeights + kTokens * (2 * (1864 + 16) + 2156 + 528)) + 5'242'880);
  // Computed again: a layer whole, and of each x and what attention gave, 4·64 + 2·64 + 16.
  EXPECT_EQ(StackedDecoder::workspace_bytes(kShape, Precision::kBf16, 5, 3, true, {true, true, true}),
            5 * (2 * 64 * 192 + kTokens * (1864 + 16 + 2 * 400 + 2156 + 528)) + 5'242'880);
}

// Less memory than one sequence takes: layers are computed again, with the bits of the whole.
TEST(StackedDecoder, WhatIsComputedAgainHasTheSameBits) {
  for (const Precision precision : {Precision::kFloat32, Precision::kBf16}) {
    const Replicas replicas(kTraining, 2, 1, 0.05);
    const std::int64_t one_sequence =
        StackedDecoder::workspace_bytes(kTraining, precision, 1, 1, true, {false, true});
    const StackedDecoder whole(kTraining, Device::kCpu, precision),
        again(kTraining, Device::kCpu, precision, one_sequence);
    EXPECT_FALSE(whole.piece_of(2, 1, true).recomputes);
    EXPECT_TRUE(again.piece_of(2, 1, true).recomputes);
    EXPECT_FALSE(again.piece_of(2, 1, false).recomputes);
    EXPECT_EQ(again.piece_of(2, 1, true).replicas, 1);
    expect_same_bits(run(again, replicas), run(whole, replicas));
  }
}

// Half a unit of bf16 is 0.2 %. The bounds are some ten times what it leaves in a sum (losses: 2e-5). Pieces
// are added up in float32: without that each is rounded to bf16, 2e-3 of it.
TEST(StackedDecoder, InBf16TheGradientIsThatOfTheLoopToSomePercentAndPiecesAddUpInFloat32) {
  const Replicas replicas(kTraining, 3, 4, 0.02);
  const StackedDecoder whole(kTraining, Device::kCpu, Precision::kBf16),
      pieces(kTraining, Device::kCpu, Precision::kBf16, 1);
  ASSERT_EQ(pieces.piece_of(3, 4, true).sequences, 1);
  const auto loop = replicas.one_by_one(), stacked = run(whole, replicas), in_pieces = run(pieces, replicas);
  expect_near(stacked, loop, replicas, 1e-3, testing_stacked::bf16_gradient_bound());
  for (int r = 0; r < 3; ++r) {
    EXPECT_GT(relative_difference(stacked, loop, replicas, r), 1e-4) << "replica " << r;  // it is bf16
    EXPECT_LT(relative_difference(in_pieces, stacked, replicas, r), 1e-4) << "replica " << r;
  }
}

TEST(StackedDecoder, LossesAloneAreTheSameAndMayBeOfTheSameTokens) {
  const Replicas replicas(kSmall, 3, 2, 0.3);
  const StackedDecoder decoder = in_float32(kSmall);
  const auto losses_with = [&](std::int64_t stride) {
    std::vector<double> losses(3);
    decoder.run({replicas.weights.data(), nullptr, replicas.tokens.data(), stride, losses.data(), 3, 2});
    return losses;
  };
  EXPECT_EQ(losses_with(replicas.token_stride()), run(decoder, replicas).losses);
  const std::vector<double> of_the_first = losses_with(0);
  const Decoder loop(kSmall, Device::kCpu);
  for (int r = 0; r < 3; ++r)
    EXPECT_NEAR(of_the_first[as_index(r)], loop.loss(replicas.row(r), replicas.batch(0)), 1e-5);
}

}  // namespace longhaul::stacked_decoder_test
