#include "trainer/codecs/dct.h"

#include <algorithm>
#include <cmath>

#include "core/base/index.h"

namespace longhaul {
namespace {

constexpr double kPi = 3.14159265358979323846;

// out[c][k] = Σ_i basis[k][i] · in[i][c] for kLines columns c from `first`: in [n, lines] with rows `stride`
// apart, out [lines, n]. Sums go in the order of i: the same bits for any kLines. Applied twice, it is the
// transform over both dimensions, the right way round again.
template <int kLines>
void transform_columns(const float* basis, const float* in, std::int64_t n, std::int64_t stride,
                       std::int64_t first, float* out) {
  for (std::int64_t k = 0; k < n; ++k) {
    float sums[kLines];
    for (int line = 0; line < kLines; ++line) sums[line] = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const float weight = basis[k * n + i];
      const float* from = in + i * stride + first;
      for (int line = 0; line < kLines; ++line) sums[line] += weight * from[line];
    }
    for (int line = 0; line < kLines; ++line) out[(first + line) * n + k] = sums[line];
  }
}

void transform_all_columns(const float* basis, const float* in, std::int64_t n, std::int64_t lines,
                           std::int64_t stride, float* out) {
  constexpr int kTogether = 16;
  std::int64_t first = 0;
  for (; first + kTogether <= lines; first += kTogether)
    transform_columns<kTogether>(basis, in, n, stride, first, out);
  for (; first < lines; ++first) transform_columns<1>(basis, in, n, stride, first, out);
}

std::vector<float> transposed(const std::vector<float>& square, std::int64_t n) {
  std::vector<float> turned(square.size());
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) turned[as_index(j * n + i)] = square[as_index(i * n + j)];
  return turned;
}

// The transforms of the tiles of a grid, either way.
class TileTransform {
 public:
  enum Direction { kForward, kInverse };

  TileTransform(const TileGrid& grid, Direction direction)
      : grid_(grid),
        down_(cosine_basis(grid.height)),
        across_(cosine_basis(grid.width)),
        half_(as_index(grid.area())) {
    if (direction == kForward) return;
    down_ = transposed(down_, grid.height);
    across_ = transposed(across_, grid.width);
  }

  // in: rows `stride` apart; out: without gaps.
  void operator()(const float* in, std::int64_t stride, float* out) {
    transform_all_columns(down_.data(), in, grid_.height, grid_.width, stride, half_.data());
    transform_all_columns(across_.data(), half_.data(), grid_.width, grid_.height, grid_.height, out);
  }

 private:
  TileGrid grid_;
  std::vector<float> down_, across_, half_;
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
    TileTransform transform(grid, TileTransform::kForward);
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
    TileTransform transform(grid, TileTransform::kInverse);
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
