// Low rank against the best one there is (by Jacobi's eigenvalues of MᵀM, in float64), and in closed form.
#include <numeric>

#include "tests/unit/trainer/codec_support.h"
#include "trainer/codecs/wire_format.h"

namespace longhaul::low_rank_test {

Codec low_rank(int rank, std::vector<MatrixShape> matrices, int iterations = 1) {
  return {LowRank{rank, Wire::kFp32, Wire::kFp32, iterations, std::move(matrices)}};
}

double square_of_difference(const Row& a, const Row& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::pow(double{a[i]} - double{b[i]}, 2);
  return sum;
}

// Squares of the singular values of M [m, n], descending: the eigenvalues of MᵀM by Jacobi's rotations.
std::vector<double> squared_singular_values(const Row& matrix, std::size_t m, std::size_t n) {
  std::vector<std::vector<double>> a(n, std::vector<double>(n, 0));
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t k = 0; k < m; ++k) a[i][j] += double{matrix[k * n + i]} * double{matrix[k * n + j]};
  for (int sweep = 0; sweep < 30; ++sweep)
    for (std::size_t p = 0; p < n; ++p)
      for (std::size_t q = p + 1; q < n; ++q) {
        const double angle = 0.5 * std::atan2(2 * a[p][q], a[q][q] - a[p][p]);
        const double c = std::cos(angle), s = std::sin(angle);
        const auto turn = [c, s](double& x, double& y) {
          const double before = x;
          x = c * x - s * y, y = s * before + c * y;
        };
        for (std::size_t k = 0; k < n; ++k) turn(a[k][p], a[k][q]);
        for (std::size_t k = 0; k < n; ++k) turn(a[p][k], a[q][k]);
      }
  std::vector<double> values;
  for (std::size_t i = 0; i < n; ++i) values.push_back(a[i][i]);
  std::sort(values.rbegin(), values.rend());
  return values;
}

TEST(LowRank, AMatrixOfThatRankOrLessIsSentAsItIs) {
  constexpr std::size_t kRows = 40, kColumns = 27;
  for (const int rank : {1, 2, 5}) {
    Row row(kRows * kColumns, 0);
    for (std::uint32_t term = 0; term < static_cast<std::uint32_t>(rank); ++term) {
      const Row u = uneven_row(kRows, 2 * term), v = uneven_row(kColumns, 2 * term + 1);
      for (std::size_t i = 0; i < row.size(); ++i) row[i] += u[i / kColumns] * v[i % kColumns];
    }
    for (int allowed = rank; allowed <= rank + 1; ++allowed) {
      const Row found = sent_of(low_rank(allowed, {{kRows, kColumns}}), row);
      for (std::size_t i = 0; i < row.size(); ++i)
        ASSERT_NEAR(found[i], row[i], 2e-5) << "rank " << rank << " by " << allowed;
    }
  }
}

// No better than the best approximation of the rank (Eckart and Young), and with iterations as good as it;
// never worse than nothing, since P Pᵀ is a projection.
TEST(LowRank, ComesNearTheBestThereIs) {
  constexpr std::size_t kRows = 30, kColumns = 20;
  Row row = uneven_row(kRows * kColumns, 7);
  for (std::size_t i = 0; i < row.size(); ++i) row[i] /= static_cast<float>(1 + i % kColumns);
  const std::vector<double> squares = squared_singular_values(row, kRows, kColumns);
  for (const int rank : {1, 3, 6}) {
    const double best = std::accumulate(squares.begin() + rank, squares.end(), 0.),
                 all = std::accumulate(squares.begin(), squares.end(), 0.);
    const double once = square_of_difference(row, sent_of(low_rank(rank, {{kRows, kColumns}}), row)),
                 often = square_of_difference(row, sent_of(low_rank(rank, {{kRows, kColumns}}, 40), row));
    EXPECT_GE(once, best * (1 - 1e-5));
    EXPECT_LT(once, all);
    EXPECT_LT(often, once);
    EXPECT_NEAR(often, best, 1e-3 * best) << "rank " << rank;
  }
}

TEST(LowRank, VectorsAndSmallMatricesTravelPlain) {
  const Quantized int4{Quantizer::kInt4, 1024};
  const Codec codec{LowRank{2, int4, Wire::kBf16, 1, {{1, 50}, {4, 4}, {20, 10}, {30, 1}}}};
  EXPECT_EQ(encoded_bytes(codec, 50 + 16 + 200 + 30), 2 * 50 + 2 * 16 + 2 * (4 + 10 + 4 + 5) + 2 * 30)
      << "4 × 4 is no larger than 2 · (4 + 4)";
  const Row row = uneven_row(296, 9), found = sent_of(codec, row);
  EXPECT_EQ(sent_of(codec, row, 11), found) << "whatever block is read";
  Row plain(296);
  round_to_wire(row.data(), plain.data(), 296, Wire::kBf16);
  for (std::size_t i = 0; i < 296; ++i) EXPECT_EQ(found[i], i < 66 || i >= 266 ? plain[i] : found[i]) << i;
  EXPECT_LT(square_of_difference(row, found), square_of_difference(row, Row(296, 0)));
}

TEST(LowRank, ZerosAreZerosAndANanShows) {
  EXPECT_EQ(sent_of(low_rank(2, {{10, 10}}), Row(100, 0)), Row(100, 0));
  for (const float bad : {NAN, INFINITY}) {
    Row row = uneven_row(100, 10);
    row[42] = bad;
    for (const float found : sent_of(low_rank(2, {{10, 10}}), row)) EXPECT_TRUE(std::isnan(found));
  }
}

}  // namespace longhaul::low_rank_test
