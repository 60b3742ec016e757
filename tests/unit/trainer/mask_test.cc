// Random masks: which columns are drawn, and that they travel as a row of their own.
#include "trainer/codecs/mask.h"

#include <map>
#include <set>

#include "core/base/index.h"
#include "tests/unit/trainer/codec_support.h"
#include "trainer/codecs/wire_format.h"

namespace longhaul::mask_test {

std::vector<std::int64_t> drawn(const RandomMask& codec, int draw, std::int64_t columns, std::int64_t block) {
  std::vector<std::int64_t> all;
  for (std::int64_t begin = 0; begin < columns; begin += block)
    for_each_drawn(codec, as_index(draw), columns, begin, std::min(columns, begin + block),
                   [&](std::int64_t column, std::int64_t number) {
                     EXPECT_EQ(number, static_cast<std::int64_t>(all.size()));
                     all.push_back(column);
                   });
  return all;
}

TEST(RandomMask, DrawsAsManyAsTheShareSaysInAscendingOrderWhateverBlockIsRead) {
  for (const double share : {0.005, 0.25, 1. / 3, 0.5, 0.9, 1.})
    for (const std::int64_t columns : {1, 7, 1024, 1025, 5000}) {
      const RandomMask codec{share, Wire::kBf16};
      const std::vector<std::int64_t> all = drawn(codec, 5, columns, columns);
      EXPECT_EQ(all.size(), std::ceil(static_cast<double>(columns) * share)) << share << " of " << columns;
      EXPECT_TRUE(std::is_sorted(all.begin(), all.end()));
      EXPECT_EQ(std::set<std::int64_t>(all.begin(), all.end()).size(), all.size());
      for (const std::int64_t block : {1024, 100, 1}) EXPECT_EQ(drawn(codec, 5, columns, block), all);
    }
}

// 5000 draws: the frequency of a column has a standard deviation of sqrt(p (1 - p) / 5000) at most; none may
// be 5 of those away. Two columns of a piece are drawn together as often as without replacement.
TEST(RandomMask, DrawsEachColumnAsOftenAsEveryOther) {
  constexpr int kDraws = 5000;
  for (const double share : {0.01, 0.3, 0.8}) {
    const RandomMask codec{share, Wire::kBf16};
    std::map<std::int64_t, int> times;
    int both = 0;
    for (int draw = 0; draw < kDraws; ++draw) {
      std::set<std::int64_t> set;
      for (const std::int64_t column : drawn(codec, draw, 1500, 1500)) ++times[column], set.insert(column);
      both += set.count(3) + set.count(900) == 2;
    }
    const auto close = [](int found, double p, const std::string& what) {
      EXPECT_NEAR(found / double{kDraws}, p, 5 * std::sqrt(p * (1 - p) / kDraws) + 1e-9) << what;
    };
    const double in_first = std::ceil(1024 * share), in_second = std::ceil(1500 * share) - in_first;
    for (std::int64_t column = 0; column < 1500; ++column)
      close(times[column], column < 1024 ? in_first / 1024 : in_second / 476,
            "column " + std::to_string(column));
    close(both, in_first / 1024 * (in_first - 1) / 1023, "two columns");
  }
}

TEST(RandomMask, PiecesAreDrawnApart) {
  std::set<std::int64_t> first, second;  // the two pieces, each from its own begin on
  for (const std::int64_t column : drawn({0.1, Wire::kBf16}, 1, 2048, 2048))
    (column < 1024 ? first : second).insert(column % 1024);
  EXPECT_NE(first, second);
}

// The columns that travel are a row: they read as that row alone does, the others as zero.
TEST(RandomMask, TheColumnsThatTravelAreARow) {
  const Row row = uneven_row(3000, 4);
  const std::variant<Wire, Quantized> formats[] = {
      Wire::kFp32, Wire::kBf16, Quantized{Quantizer::kInt8, 1024}, Quantized{Quantizer::kTwoBit, 100}};
  for (const auto& numbers : formats) {
    const RandomMask codec{0.2, numbers};
    const std::vector<std::int64_t> columns = drawn(codec, 9, 3000, 3000);
    Row kept, expected(3000);
    for (const std::int64_t column : columns) kept.push_back(row[as_index(column)]);
    const Codec alone = std::visit([](const auto& item) { return Codec(item); }, numbers);
    const Row sent = sent_of(alone, kept);
    bool travels[3000] = {}, said[3000];
    for (std::size_t i = 0; i < sent.size(); ++i) {
      expected[as_index(columns[i])] = sent[i];
      travels[columns[i]] = true;
    }
    const Message message =
        Message(MessageFormat({"row", {codec}, {}}, 3000, 9), RowSource{row.data(), nullptr}).encoded();
    EXPECT_EQ(message.bytes(), message_of(alone, kept).encoded().bytes());
    bool plain[2] = {};
    message_of(alone, kept).travelling(0, 2, plain);
    EXPECT_TRUE(plain[0] && plain[1]) << "of a plain message every column travels";
    for (const std::int64_t block : {1024, 333, 1}) {
      EXPECT_EQ(read_row(message, block), expected);
      for (std::int64_t begin = 0; begin < 3000; begin += block)
        message.travelling(begin, std::min<std::int64_t>(3000, begin + block), said + begin);
      EXPECT_TRUE(std::equal(said, said + 3000, travels)) << block;
    }
  }
}

}  // namespace longhaul::mask_test
