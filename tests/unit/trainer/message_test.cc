#include "trainer/codecs/message.h"

#include <cstring>

#include "tests/unit/trainer/codec_support.h"
#include "tests/unit/trainer/operation_support.h"
#include "trainer/codecs/wire_format.h"

namespace longhaul::message_test {

float rounded(float value, Wire wire) {
  round_to_wire(&value, &value, 1, wire);
  return value;
}

TEST(WireFormat, Bf16KeepsEightBitsTiesToEven) {
  // Above 1 the grid of bf16 is 2^-7.
  EXPECT_EQ(rounded(1.f + 0x1p-7f, Wire::kBf16), 1.f + 0x1p-7f);
  EXPECT_EQ(rounded(1.f + 0x1p-8f, Wire::kBf16), 1.f);                // a tie, down to even
  EXPECT_EQ(rounded(1.f + 3 * 0x1p-8f, Wire::kBf16), 1.f + 0x1p-6f);  // a tie, up to even
  EXPECT_EQ(rounded(1.f + 0x1p-8f + 0x1p-20f, Wire::kBf16), 1.f + 0x1p-7f);
  EXPECT_EQ(rounded(-0.15625f, Wire::kBf16), -0.15625f);
  EXPECT_TRUE(std::isnan(rounded(NAN, Wire::kBf16)));
  EXPECT_EQ(rounded(INFINITY, Wire::kBf16), INFINITY);
}

TEST(WireFormat, Fp16HasElevenBitsSubnormalsAndInfinity) {
  EXPECT_EQ(rounded(1.f + 0x1p-10f, Wire::kFp16), 1.f + 0x1p-10f);
  EXPECT_EQ(rounded(1.f + 0x1p-11f, Wire::kFp16), 1.f);
  EXPECT_EQ(rounded(1.f + 3 * 0x1p-11f, Wire::kFp16), 1.f + 0x1p-9f);
  EXPECT_EQ(rounded(65504.f, Wire::kFp16), 65504.f);
  EXPECT_EQ(rounded(65519.9f, Wire::kFp16), 65504.f);
  EXPECT_EQ(rounded(-65520.f, Wire::kFp16), -INFINITY);
  EXPECT_EQ(rounded(0x1p-24f, Wire::kFp16), 0x1p-24f);        // the smallest subnormal
  EXPECT_EQ(rounded(0x1p-25f, Wire::kFp16), 0.f);             // a tie, down to even
  EXPECT_EQ(rounded(-3 * 0x1p-25f, Wire::kFp16), -0x1p-23f);  // a tie, up to even
  EXPECT_EQ(rounded(0x1.ffcp-15f, Wire::kFp16),
            0x1.ff8p-15f + 0x1p-25f * 2);  // 0x1.ffcp-15 = 1023.5·… rounds to even
  EXPECT_TRUE(std::isnan(rounded(NAN, Wire::kFp16)));
}

TEST(WireFormat, RoundingIsWithinHalfAStepAndPackingReadsTheSame) {
  RandomStream stream(1, Purpose::kInitialWeights);
  std::vector<float> row(3000);
  for (float& value : row) value = static_cast<float>(stream.normal() * std::exp(2 * stream.normal()));
  for (const auto& [wire, step] :
       {std::pair{Wire::kFp32, 0.}, {Wire::kBf16, 0x1p-8}, {Wire::kFp16, 0x1p-11}}) {
    const std::vector<std::uint8_t> packed = encode(wire, PlainRow{row.data(), 3000});
    EXPECT_EQ(packed.size(), 3000u * static_cast<unsigned>(bytes_per_parameter(wire)));
    std::vector<float> read(3000);
    decode(wire, EncodedRow{packed.data(), 3000}, 0, 3000, read.data());
    for (std::size_t i = 0; i < row.size(); ++i) {
      EXPECT_EQ(read[i], rounded(row[i], wire));
      EXPECT_LE(std::abs(read[i] - row[i]), std::max(step * std::abs(row[i]), 0x1p-25));
    }
  }
}

// Longer than a block, and with what a wire format does not keep.
TEST(Message, ReadsAsTheRoundedDifferenceAndAPackedOneIsACopyThatReadsTheSame) {
  constexpr std::int64_t kColumns = 2 * kBlock + 3;
  const Row b = uneven_row(kColumns, 2);
  for (Wire wire : {Wire::kFp32, Wire::kBf16, Wire::kFp16}) {
    Row a = uneven_row(kColumns, 1);
    a[1] = NAN;
    a[2] = 1e30f;
    const Message message = message_of(a.data(), kColumns, wire, b.data());
    const Message packed = message.encoded(), again = packed.encoded();
    EXPECT_EQ(message.size(), kColumns * (wire == Wire::kFp32 ? 4 : 2));
    EXPECT_EQ(packed.size(), message.size());
    EXPECT_EQ(again.bytes(), packed.bytes());
    const Row expected = read_row(message);
    for (std::size_t i = 2; i < a.size(); ++i) ASSERT_EQ(expected[i], rounded(a[i] - b[i], wire)) << i;
    a.assign(a.size(), 7.f);
    EXPECT_EQ(std::memcmp(expected.data(), read_row(packed).data(), kColumns * sizeof(float)), 0);
  }
}

TEST(Message, MeanIsSummedInTheOrderGiven) {
  const float value = 1, big = 1e8f, minus = -1e8f;  // in float32 their sum depends on the order
  const Message a = message_of(&value, 1, Wire::kFp32), b = message_of(&big, 1, Wire::kFp32),
                c = message_of(&minus, 1, Wire::kFp32);
  float mean;
  mean_of({&a, &b, &c}, 0, 1, &mean);
  EXPECT_EQ(mean, 0.f);
  mean_of({&b, &c, &a}, 0, 1, &mean);
  EXPECT_FLOAT_EQ(mean, 1.f / 3);
}

}  // namespace longhaul::message_test
