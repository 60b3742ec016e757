// Lengths by hand, JSON and words of the codecs.
#include "core/codecs/codec.h"

#include <gtest/gtest.h>

#include "tests/support/said.h"

namespace longhaul::codec_test {

// SparseLoCo: 64 of 4096 with 2 bits each, 12 bits for each place. DeMo: 32 of 64 × 64. A matrix of 128 × 96
// has two times two tiles of 64 × 48 (48 is the largest divisor), whose places take 12 bits; a vector of 200
// has four tiles of 50, which keep 32 and have 6 bits; where no shapes are known, two tiles, three rows, five
// columns. Of 1000 columns 0.5 % are 5, of 1001 they are 5.005, so 6.
TEST(Codec, IsAsLongAsWorkedOutByHand) {
  const auto blocks = [](Quantizer numbers) { return Codec{Quantized{numbers, 1024}}; };
  const Codec top{TopK{4096, 128, Wire::kBf16}}, few{TopK{5, 1, Wire::kFp32}},
      sparse{TopK{4096, 64, Quantizer::kTwoBit}}, unknown{DctTopK{64, 32, Wire::kBf16}},
      dct{DctTopK{64, 32, Wire::kBf16, {{128, 96}, {1, 200}}}}, mask{RandomMask{0.005, Wire::kBf16}};
  LowRank low_rank;
  low_rank.rank = 8;
  low_rank.matrices = {{300, 200}, {1, 300}};
  LowRank narrow = low_rank;
  narrow.factors = Quantized{Quantizer::kInt4, 256};
  const std::tuple<Codec, std::int64_t, std::int64_t> rows[] = {
      {blocks(Quantizer::kInt8), 1024, 4 + 1024},
      {blocks(Quantizer::kInt8), 1025, 4 + 1024 + 4 + 1},
      {blocks(Quantizer::kInt4), 1023, 4 + 512},  // half a byte is filled up
      {blocks(Quantizer::kE3m0), 2048, 2 * (4 + 512)},
      {blocks(Quantizer::kTwoBit), 1024, 4 * 2 + 256},
      {blocks(Quantizer::kTwoBitSixSigma), 1024, 4 * 4 + 256},
      {blocks(Quantizer::kSign), 1024 + 9, 4 + 128 + 4 + 2},
      {blocks(Quantizer::kInt7), 1024, 4 + 896},
      {blocks(Quantizer::kInt6), 1024, 4 + 768},
      {blocks(Quantizer::kInt5), 1024 + 3, 4 + 640 + 4 + 2},  // 15 bits are filled up
      {blocks(Quantizer::kInt3), 1024, 4 + 384},
      {blocks(Quantizer::kInt2), 1024, 4 + 256},
      {top, 4096, 128 * 2 + 128 * 12 / 8},  // 448 bytes instead of 8192
      {top, 2 * 4096 + 100, 2 * 448 + 100 * 2 + 150},
      {few, 5, 4 + 1},  // 3 bits take a byte
      {few, 0, 0},
      {sparse, 4096, 64 * (2 + 12) / 8 + 8},
      {sparse, 4096 + 3, 120 + 8 + 1 + 5},  // three values of 2 bits, three places
      {dct, 128 * 96 + 200, 4 * (64 + 48) + 4 * (64 + 24)},
      {unknown, 2 * 4096 + 3 * 64 + 5, 2 * (64 + 48) + (64 + 32) + (10 + 2)},
      {unknown, 1, 2},  // one place needs no bits
      {unknown, 0, 0},
      {{low_rank}, 60300, 2 * 8 * (300 + 200) + 2 * 300},
      {{narrow}, 60300, 8 * ((4 + 128 + 4 + 22) + (4 + 100)) + 2 * 300},
      {mask, 1000, 5 * 2},
      {mask, 1001, 6 * 2},
      {mask, 1, 2},  // never empty
      {{RandomMask{1, Wire::kFp32}}, 77, 77 * 4},
      {{RandomMask{0.5, Quantized{Quantizer::kInt4, 16}}}, 40, (4 + 8) + (4 + 2)}};
  for (const auto& [codec, columns, bytes] : rows)
    EXPECT_EQ(encoded_bytes(codec, columns), bytes) << to_string(codec) << " of " << columns;
  for (const QuantizerFacts& facts : Words<Quantizer>::all)
    EXPECT_EQ(encoded_bytes(blocks(facts.value), 0), 0) << facts.word;
  EXPECT_THROW(encoded_bytes(dct, 128 * 96), std::logic_error);
  EXPECT_THROW(encoded_bytes({low_rank}, 60000), std::logic_error);
}

TEST(Codec, WholeNumbersByTheirBits) {
  const int largest[] = {1, 3, 7, 15, 31, 63, 127};
  for (int bits = kFewestWholeBits; bits <= kMostWholeBits; ++bits) {
    const Quantizer quantizer = whole_quantizer(bits);
    EXPECT_EQ(to_string(quantizer), "int" + std::to_string(bits));
    EXPECT_EQ(facts_of(quantizer).bits, bits);
    EXPECT_EQ(facts_of(quantizer).largest, largest[bits - kFewestWholeBits]);
  }
  EXPECT_EQ(facts_of(Quantizer::kTwoBit).largest, 0);
  EXPECT_EQ(facts_of(Quantizer::kSign).largest, 0);
  EXPECT_THROW(whole_quantizer(9), std::logic_error);
  EXPECT_THROW(whole_quantizer(1), std::logic_error);
}

TEST(Codec, MatricesAreThoseOfTheLayoutInTheColumns) {
  const std::vector<Parameter> layout = {{"a", 3, 4, 0}, {"b", 1, 5, 12}, {"c", 2, 6, 17}};  // columns 0 … 29
  EXPECT_EQ(matrices_of({}, layout), (std::vector<MatrixShape>{{3, 4}, {1, 5}, {2, 6}}));
  EXPECT_EQ(matrices_of({{0, 12}, {17, 29}}, layout), (std::vector<MatrixShape>{{3, 4}, {2, 6}}));
  EXPECT_THROW(matrices_of({{0, 13}}, layout), std::logic_error);
  EXPECT_TRUE(matrices_of({{0, 13}}, {}).empty());
}

TEST(Codec, ReadsBackFromJsonAndHasWords) {
  LowRank low_rank;
  low_rank.rank = 16;
  low_rank.matrices = {{30, 20}, {1, 7}};
  LowRank narrow = low_rank;
  narrow.factors = Quantized{Quantizer::kInt4, 512};
  narrow.plain = Wire::kFp32;
  narrow.iterations = 3;

  Codec ring{Quantized{Quantizer::kInt8, 256}};
  ring.reduction = Reduction::kRing;

  const std::pair<Codec, const char*> all[] = {
      {ring, "int8 in blocks of 256, ring reduction"},
      {{Wire::kFp16}, "fp16"},
      {{Quantized{}}, "int8 in blocks of 1024"},
      {{Quantized{Quantizer::kInt4, 64}, Feedback::kEf21}, "int4 in blocks of 64, EF21"},
      {{Quantized{Quantizer::kE3m0}}, "e3m0 in blocks of 1024"},
      {{Quantized{Quantizer::kSign}, Feedback::kClassic}, "sign in blocks of 1024, error feedback"},
      {{TopK{64, 5, Wire::kBf16}}, "top-k 5 of 64, bf16"},
      {{TopK{4096, 64, Quantizer::kTwoBit}, Feedback::kClassic, 0.95},
       "top-k 64 of 4096, two_bit, error feedback × 0.95"},
      {{DctTopK{64, 32, Wire::kFp32}}, "DCT top-k 32 of tiles 64 × 64, fp32"},
      {{DctTopK{16, 3, Quantizer::kSign, {{8, 9}}}}, "DCT top-k 3 of tiles 16 × 16, sign"},
      {{low_rank, Feedback::kClassic}, "rank 16, bf16, bf16 where plain, error feedback"},
      {{RandomMask{0.005, Wire::kBf16}}, "a random 0.5 % of the columns, bf16"},
      {{RandomMask{0.25, Quantized{Quantizer::kInt8, 1024}}, Feedback::kClassic},
       "a random 25 % of the columns, int8 in blocks of 1024, error feedback"},
      {{narrow}, "rank 16 by 3 iterations, int4 in blocks of 512, fp32 where plain"},
  };
  for (const auto& [codec, words] : all) {
    EXPECT_EQ(to_string(codec), words);
    const Codec back = codec_from(Json::parse(to_json(codec).dump()));
    EXPECT_EQ(back.format, codec.format) << words;
    EXPECT_EQ(back.feedback, codec.feedback) << words;
    EXPECT_EQ(back.decay, codec.decay) << words;
    EXPECT_EQ(back.reduction, codec.reduction) << words;
  }
  EXPECT_EQ(to_json({TopK{64, 5, Wire::kBf16}}).dump(), R"({"top_k":5,"chunk":64,"numbers":"bf16"})");
}

// By the path of the refusal.
TEST(Codec, RefusesWhatIsNone) {
  const Json refused = Json::parse(R"({
      "codec": [{}, "bf16", {"numbers": "bf16", "quantizer": "int8"}, {"share": 0.5}],
      "codec.numbers": [{"numbers": 7}],
      "codec.reduction": [{"numbers": "bf16", "reduction": "ring"},
       {"quantizer": "int4", "block": 8, "reduction": "tree"}],
      "codec.quantizer": [{"quantizer": "int1", "block": 8}],
      "codec.block": [{"quantizer": "int4"}, {"quantizer": "int4", "block": 0},
       {"quantizer": "int4", "block": 1.5}, {"rank": 1, "quantizer": "int4", "matrices": [[3, 4]]}],
      "codec.chunk": [{"top_k": 3, "numbers": "bf16"}],
      "codec.top_k": [{"top_k": 9, "chunk": 8, "quantizer": "sign"},
       {"top_k": 5, "tile": 2, "numbers": "bf16"}],
      "codec.tile": [{"top_k": 5, "tile": 5000, "numbers": "bf16"}],
      "codec.matrices": [{"top_k": 5, "tile": 8, "numbers": "bf16", "matrices": [[3]]},
       {"top_k": 5, "tile": 8, "numbers": "bf16", "matrices": [[3, 0]]}, {"rank": 4, "numbers": "bf16"}],
      "codec.share": [{"share": 0, "numbers": "bf16"}, {"share": 1.5, "numbers": "bf16"},
       {"share": "all", "numbers": "bf16"}],
      "codec.rank": [{"rank": 0, "numbers": "bf16", "matrices": [[3, 4]]}],
      "codec.plain": [{"rank": 1, "numbers": "bf16", "plain": "x", "matrices": [[3, 4]]}],
      "codec.error_feedback": [{"numbers": "bf16", "error_feedback": true}],
      "codec.decay": [{"numbers": "bf16", "decay": 0.9},
       {"numbers": "bf16", "error_feedback": "classic", "decay": 0},
       {"numbers": "bf16", "error_feedback": "classic", "decay": 1.1},
       {"numbers": "bf16", "error_feedback": "ef21", "decay": 0.9}]})");
  for (const auto& [path, codecs] : refused.items())
    for (const Json& codec : codecs) EXPECT_EQ(refused_path([&] { codec_from(codec); }), path) << codec;
}

}  // namespace longhaul::codec_test
