// DCT top-k against the transform's definition in float64, and by hand.
#include "trainer/codecs/dct.h"

#include <cstring>

#include "tests/unit/trainer/codec_support.h"

namespace longhaul::dct_test {

constexpr double kPi = 3.14159265358979323846;

// The cosine of index k of n, of length 1.
double cosine(std::size_t n, std::size_t k, std::size_t i) {
  const auto length = static_cast<double>(n);
  return std::sqrt((k == 0 ? 1 : 2) / length) *
         std::cos(kPi * static_cast<double>((2 * i + 1) * k) / (2 * length));
}

struct Tile {
  std::size_t height, width;
  std::vector<double> values;  // row-major
};

// Its coefficients, or the tile of which these are the coefficients.
Tile transformed(const Tile& tile, bool back) {
  Tile result{tile.height, tile.width, {}};
  for (std::size_t k = 0; k < tile.height; ++k)
    for (std::size_t l = 0; l < tile.width; ++l) {
      double sum = 0;
      for (std::size_t i = 0; i < tile.height; ++i)
        for (std::size_t j = 0; j < tile.width; ++j)
          sum +=
              tile.values[i * tile.width + j] * (back ? cosine(tile.height, i, k) * cosine(tile.width, j, l)
                                                      : cosine(tile.height, k, i) * cosine(tile.width, l, j));
      result.values.push_back(sum);
    }
  return result;
}

// What is left of a tile by its `kept` largest coefficients.
Tile left_of(const Tile& tile, std::size_t kept) {
  Tile coefficients = transformed(tile, false);
  std::vector<double> sizes;
  for (const double value : coefficients.values) sizes.push_back(-std::abs(value));
  std::sort(sizes.begin(), sizes.end());
  for (double& value : coefficients.values)
    if (std::abs(value) < -sizes[std::min(kept, sizes.size()) - 1]) value = 0;
  return transformed(coefficients, true);
}

struct Tiled {
  std::size_t rows, columns, height, width;  // a matrix, and its tiles, each by itself
};

void expect_tiles(std::uint32_t number, const DctTopK& codec, const std::vector<Tiled>& matrices) {
  std::size_t begin = 0;
  for (const Tiled& matrix : matrices) begin += matrix.rows * matrix.columns;
  const Row row = uneven_row(static_cast<std::int64_t>(begin), number), found = sent_of({codec}, row);
  EXPECT_EQ(sent_of({codec}, row, 7), found) << "whatever block is read";
  begin = 0;
  for (const Tiled& of : matrices) {
    for (std::size_t top = 0; top < of.rows; top += of.height)
      for (std::size_t left = 0; left < of.columns; left += of.width) {
        const auto at = [&](std::size_t i) {
          return begin + (top + i / of.width) * of.columns + left + i % of.width;
        };
        Tile tile{of.height, of.width, {}};
        for (std::size_t i = 0; i < of.height * of.width; ++i) tile.values.push_back(row[at(i)]);
        const Tile expected = left_of(tile, static_cast<std::size_t>(codec.kept));
        for (std::size_t i = 0; i < of.height * of.width; ++i)
          ASSERT_NEAR(found[at(i)], expected.values[i], 1e-5)
              << of.rows << " × " << of.columns << ": tile at " << top << ", " << left << ", " << i;
      }
    begin += of.rows * of.columns;
  }
}

// 11 is prime: tiles of 1 × 4. Then sides that leave some over of the sixteen columns and eight rows of the
// basis that are summed together. Without matrices tiles are of 16 columns, then two whole rows of 4, then 3.
TEST(DctTopK, IsThatOfTheDefinitionInTheLargestDivisors) {
  expect_tiles(1, {8, 5, Wire::kFp32, {{12, 10}, {7, 16}, {1, 18}, {11, 4}}},
               {{12, 10, 6, 5}, {7, 16, 7, 8}, {1, 18, 1, 6}, {11, 4, 1, 4}});
  expect_tiles(3, {24, 7, Wire::kFp32, {{40, 20}, {19, 17}, {16, 24}}},
               {{40, 20, 20, 20}, {19, 17, 19, 17}, {16, 24, 16, 24}});
  expect_tiles(2, {4, 3, Wire::kFp32}, {{8, 4, 4, 4}, {2, 4, 2, 4}, {1, 3, 1, 3}});
}

TEST(DctTopK, ATileThatIsOneCosineIsOneCoefficient) {
  Row row;
  for (std::size_t i = 0; i < 64; ++i)
    for (std::size_t j = 0; j < 64; ++j)
      row.push_back(static_cast<float>(3 * cosine(64, 5, i) * cosine(64, 9, j)));
  const Codec codec{DctTopK{64, 1, Wire::kFp32, {{64, 64}}}};
  const std::vector<std::uint8_t> bytes = message_of(codec, row).encoded().bytes();
  ASSERT_EQ(bytes.size(), 4u + 2u);
  float value;
  std::memcpy(&value, bytes.data(), 4);
  EXPECT_NEAR(value, 3, 1e-5);
  EXPECT_EQ(bytes[4] + 256 * bytes[5], 5 * 64 + 9) << "12 bits of place";
  const Row found = sent_of(codec, row);
  for (std::size_t i = 0; i < row.size(); ++i) ASSERT_NEAR(found[i], row[i], 1e-6);
}

TEST(DctTopK, KeepingAllLosesRoundingAlone) {
  const Row row = uneven_row(128 * 96, 3);
  const Row found = sent_of({DctTopK{64, 4096, Wire::kFp32, {{128, 96}}}}, row);
  for (std::size_t i = 0; i < row.size(); ++i) ASSERT_NEAR(found[i], row[i], 5e-6);
}

TEST(DctTopK, ANanShowsInItsWholeTile) {
  Row row = uneven_row(2 * 64, 4);
  row[3] = NAN;
  const Row found = sent_of({DctTopK{8, 64, Wire::kBf16}}, row);
  for (std::size_t i = 0; i < 64; ++i) EXPECT_TRUE(std::isnan(found[i]));
  for (std::size_t i = 64; i < 128; ++i) EXPECT_FALSE(std::isnan(found[i]));
}

TEST(DctTopK, LengthIsKnownForEveryCountAndSetOfNumbers) {
  const Row row = uneven_row(9000, 5);
  for (const Numbers values : {Numbers(Wire::kBf16), Numbers(Quantizer::kInt8), Numbers(Quantizer::kSign)})
    for (const std::ptrdiff_t columns : {1, 63, 64, 65, 4095, 4096, 4097, 8191, 8192, 8193, 9000})
      sent_of({DctTopK{64, 32, values}}, Row(row.begin(), row.begin() + columns));
}

}  // namespace longhaul::dct_test
