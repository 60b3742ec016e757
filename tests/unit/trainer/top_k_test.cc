// Top-k in chunks against a slow reference that sorts whole chunks.
#include "trainer/codecs/top_k.h"

#include "tests/unit/trainer/codec_support.h"
#include "trainer/codecs/wire_format.h"

namespace longhaul::top_k_test {

// What is left of a row: of each chunk the largest, by a stable sort.
Row reference(const TopK& codec, const Row& row) {
  Row left(row.size());
  for (std::size_t begin = 0; begin < row.size(); begin += static_cast<std::size_t>(codec.chunk)) {
    std::vector<std::size_t> places;
    for (std::size_t i = begin; i < std::min(row.size(), begin + static_cast<std::size_t>(codec.chunk)); ++i)
      places.push_back(i);
    std::stable_sort(places.begin(), places.end(),
                     [&](std::size_t a, std::size_t b) { return std::fabs(row[a]) > std::fabs(row[b]); });
    for (std::size_t i = 0; i < std::min(places.size(), static_cast<std::size_t>(codec.kept)); ++i)
      round_to_wire(&row[places[i]], &left[places[i]], 1, codec.values.wire);
  }
  return left;
}

TEST(TopK, IsThatOfASortWhateverBlockIsRead) {
  for (const TopK& codec : {TopK{4096, 128, Wire::kBf16}, TopK{100, 7, Wire::kFp32}, TopK{33, 1, Wire::kFp16},
                            TopK{8, 8, Wire::kFp32}, TopK{1, 1, Wire::kFp32}}) {
    Row row = uneven_row(10000, 1);
    for (std::size_t i = 0; i < row.size(); i += 3) row[i] = std::round(row[i]);  // ties, zeros
    for (const std::int64_t block : {kBlock, std::int64_t{17}})
      EXPECT_EQ(sent_of({codec}, row, block), reference(codec, row)) << codec.kept << " of " << codec.chunk;
  }
}

// The values that are kept are one block: what they read as is what that block alone reads as.
TEST(TopK, QuantizesTheKeptValuesOfAChunkTogether) {
  const Row row = uneven_row(1000, 2);
  for (const Quantizer quantizer :
       {Quantizer::kInt8, Quantizer::kInt4, Quantizer::kE3m0, Quantizer::kTwoBit, Quantizer::kSign}) {
    const Row found = sent_of({TopK{300, 40, quantizer}}, row), left = reference({300, 40, Wire::kFp32}, row);
    for (std::size_t begin = 0; begin < row.size(); begin += 300) {
      Row kept, sent;
      for (std::size_t i = begin; i < std::min(row.size(), begin + 300); ++i)
        if (left[i] != 0)
          kept.push_back(left[i]), sent.push_back(found[i]);
        else
          EXPECT_EQ(found[i], 0);
      EXPECT_EQ(sent, sent_of({Quantized{quantizer, 40}}, kept)) << to_string(quantizer);
    }
  }
}

TEST(TopK, HasTheBytesWorkedOutByHand) {
  // -4 at 2 and 3 at 5 of eight, 3 bits each: 010 and 101 make 0b101010.
  const Row row = {1, 0, -4, 2, 0, 3, 1, 1};
  EXPECT_EQ(message_of({TopK{8, 2, Wire::kBf16}}, row).encoded().bytes(),
            (std::vector<std::uint8_t>{0x80, 0xc0, 0x40, 0x40, 0b101010}));
  EXPECT_EQ(message_of({TopK{8, 2, Quantizer::kSign}}, row).encoded().bytes(),
            (std::vector<std::uint8_t>{0x30, 0x46, 0x62, 0x40, 0b01, 0b101010}));  // ±√12.5
}

TEST(TopK, ANanIsKept) {
  Row row(10, 1);
  row[4] = NAN;
  row[7] = 5;
  const Row found = sent_of({TopK{10, 1, Wire::kFp32}}, row);
  EXPECT_TRUE(std::isnan(found[4]));
  EXPECT_EQ(found[7], 0);
}

// Columns [2, 5) and [8, 9) of ten; the largest two in magnitude are at 3 and 8.
TEST(Message, OfSomeColumnsReadsThoseAlone) {
  const Row row = {9, 9, 1, -4, 2, 9, 9, 9, 3, 9};
  const MessageFormat format({"row", {TopK{4, 2, Wire::kFp32}}, {{2, 5}, {8, 9}}}, 10);
  EXPECT_EQ(format.columns, 4);
  const Message message = Message(format, RowSource{row.data(), nullptr}).encoded();
  EXPECT_EQ(message.size(), 2 * 4 + 1);
  float first[3], second;
  message.read(2, 5, first);
  message.read(8, 9, &second);
  EXPECT_EQ(Row(first, first + 3), (Row{0, -4, 0}));
  EXPECT_EQ(second, 3);
  EXPECT_THROW(message.read(5, 6, &second), std::logic_error);
}

}  // namespace longhaul::top_k_test
