#include "trainer/codecs/dct.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "core/base/index.h"
#include "trainer/replicas/vectorized.h"

namespace longhaul {
namespace {

constexpr double kPi = 3.14159265358979323846;

constexpr int kLines = 16;
using Lines = float __attribute__((vector_size(kLines * sizeof(float))));

// out[c][k] = Σ_i basis[k][i] · in[i][c] for kLines columns c and kRows rows k of the basis: in [n, lines]
// with rows `stride` apart, out [lines, n]. Sums go in the order of i: the same bits for any kRows. Applied
// twice, it is the transform over both dimensions, the right way round again.
template <int kRows>
[[gnu::always_inline]] inline void transform_block(const float* basis, const float* in, std::int64_t n,
                                                   std::int64_t stride, float* out) {
  Lines sums[as_index(kRows)] = {};
  for (std::int64_t i = 0; i < n; ++i) {
    Lines from;
    std::memcpy(&from, in + i * stride, sizeof from);
    for (int row = 0; row < kRows; ++row) sums[row] += basis[row * n + i] * from;
  }
  for (int line = 0; line < kLines; ++line)
    for (int row = 0; row < kRows; ++row) out[line * n + row] = sums[row][line];
}

LONGHAUL_VECTORIZED void transform_columns(const float* basis, const float* in, std::int64_t n,
                                           std::int64_t lines, std::int64_t stride, float* out) {
  constexpr int kTogether = 8;  // sums that do not wait for each other
  std::int64_t first = 0;
  for (; first + kLines <= lines; first += kLines) {
    std::int64_t k = 0;
    for (; k + kTogether <= n; k += kTogether)
      transform_block<kTogether>(basis + k * n, in + first, n, stride, out + first * n + k);
    for (; k < n; ++k) transform_block<1>(basis + k * n, in + first, n, stride, out + first * n + k);
  }
  for (; first < lines; ++first)
    for (std::int64_t k = 0; k < n; ++k) {
      float sum = 0;
      for (std::int64_t i = 0; i < n; ++i) sum += basis[k * n + i] * in[i * stride + first];
      out[first * n + k] = sum;
    }
}

std::vector<float> transposed(const std::vector<float>& square, std::int64_t n) {
  std::vector<float> turned(square.size());
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) turned[as_index(j * n + i)] = square[as_index(i * n + j)];
  return turned;
}

enum class Direction { kForward, kInverse };

// Made once in a program: n² cosines take longer than a transform.
const std::vector<float>& kept_basis(std::int64_t n, Direction direction) {
  static std::mutex mutex;
  static std::map<std::pair<std::int64_t, Direction>, std::vector<float>> all;
  const std::lock_guard<std::mutex> lock(mutex);
  std::vector<float>& basis = all[{n, direction}];
  if (basis.empty())
    basis = direction == Direction::kForward ? cosine_basis(n) : transposed(cosine_basis(n), n);
  return basis;
}

// The transforms of the tiles of a grid, either way.
class TileTransform {
 public:
  TileTransform(const TileGrid& grid, Direction direction)
      : grid_(grid),
        down_(kept_basis(grid.height, direction)),
        across_(kept_basis(grid.width, direction)),
        half_(as_index(grid.area())) {}

  // in: rows `stride` apart; out: without gaps.
  void operator()(const float* in, std::int64_t stride, float* out) {
    transform_columns(down_.data(), in, grid_.height, grid_.width, stride, half_.data());
    transform_columns(across_.data(), half_.data(), grid_.width, grid_.height, grid_.height, out);
  }

 private:
  TileGrid grid_;
  const std::vector<float>&down_, &across_;
  std::vector<float> half_;
};

// Calls work(first column of the tile) for the tiles of a grid, in the order of the message.
template <typename Work>
void for_each_tile(const TileGrid& grid, const Work& work) {
  for (std::int64_t y = 0; y < grid.down; ++y)
    for (std::int64_t x = 0; x < grid.across; ++x)
      work(grid.first + y * grid.height * grid.across * grid.width + x * grid.width);
}

}  // namespace

std::vector<float> cosine_basis(std::int64_t n) {
  std::vector<float> basis(as_index(n * n));
  for (std::int64_t k = 0; k < n; ++k)
    for (std::int64_t i = 0; i < n; ++i) {
      // The angle's number of quarter turns of the half circle, without whole turns: exact for large k · i.
      const auto angle = static_cast<double>((2 * i + 1) * k % (4 * n)) * kPi / static_cast<double>(2 * n);
      basis[as_index(k * n + i)] =
          static_cast<float>(std::sqrt((k ? 2. : 1.) / static_cast<double>(n)) * std::cos(angle));
    }
  return basis;
}

std::vector<std::uint8_t> encode(const DctTopK& format, const PlainRow& row) {
  std::vector<std::uint8_t> message(as_index(format.bytes(row.columns)));
  std::uint8_t* out = message.data();
  for (const TileGrid& grid : format.grids(row.columns)) {
    const LargestCode code(format.values, format.kept, grid.area());
    TileTransform transform(grid, Direction::kForward);
    std::vector<float> coefficients(as_index(grid.area()));
    for_each_tile(grid, [&](std::int64_t first) {
      transform(row.values + first, grid.across * grid.width, coefficients.data());
      code.write(coefficients.data(), grid.area(), out);
      out += code.bytes(grid.area());
    });
  }
  return message;
}

std::vector<Kept> kept_by(const DctTopK& format, const EncodedRow& message) {
  std::vector<Kept> all;
  const std::uint8_t* from = message.bytes;
  for (const TileGrid& grid : format.grids(message.columns)) {
    const LargestCode code(format.values, format.kept, grid.area());
    for (std::int64_t tile = 0; tile < grid.count(); ++tile) {
      add_kept(code, from, grid.area(), grid.first + tile * grid.area(), all);
      from += code.bytes(grid.area());
    }
  }
  return all;
}

std::vector<float> columns_of_kept(const DctTopK& format, const std::vector<float>& coefficients) {
  std::vector<float> values(coefficients.size());
  const float* from = coefficients.data();
  for (const TileGrid& grid : format.grids(static_cast<std::int64_t>(values.size()))) {
    TileTransform transform(grid, Direction::kInverse);
    std::vector<float> tile(as_index(grid.area()));
    for_each_tile(grid, [&](std::int64_t first) {
      transform(from, grid.width, tile.data());
      for (std::int64_t row = 0; row < grid.height; ++row)
        std::copy_n(tile.data() + row * grid.width, grid.width,
                    values.data() + first + row * grid.across * grid.width);
      from += grid.area();
    });
  }
  return values;
}

std::vector<float> decode_whole(const DctTopK& format, const EncodedRow& message) {
  std::vector<float> coefficients(as_index(message.columns));
  for (const Kept& kept : kept_by(format, message)) coefficients[as_index(kept.place)] = kept.value;
  return columns_of_kept(format, coefficients);
}

}  // namespace longhaul
