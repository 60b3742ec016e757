// Cosine transforms of tiles and their largest coefficients (core/codecs/dct_top_k.h says which tiles there
// are).
//
// A tile in a message is a chunk of top-k (top_k.h) over its coefficients, row-major; tiles follow each other
// by rows of tiles, matrix after matrix.
#pragma once

#include <cstdint>
#include <vector>

#include "core/codecs/dct_top_k.h"
#include "trainer/codecs/top_k.h"
#include "trainer/device/host_device.h"

namespace longhaul {

// B [n, n], row-major: B[k][i] = sqrt((k ? 2 : 1) / n) cos(π (2 i + 1) k / (2 n)), computed in float64. y = B
// x is the orthonormal DCT-II of x, x = Bᵀ y its inverse.
std::vector<float> cosine_basis(std::int64_t n);

// out[c][k] = Σ_i basis[k][i] · in[i][c] for kLines columns c from `first`: in [n, lines] with rows `stride`
// apart, out [lines, n]. Sums go in the order of i: the same bits for any kLines. Applied twice, it is the
// transform over both dimensions, the right way round again.
template <int kLines>
LONGHAUL_HOST_DEVICE void transform_columns(const float* basis, const float* in, std::int64_t n,
                                            std::int64_t stride, std::int64_t first, float* out) {
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

std::vector<std::uint8_t> encode(const DctTopK& format, const PlainRow& row);

// Coefficients; those of a tile are side by side, row-major, and tiles follow each other as in the message.
std::vector<Kept> kept_by(const DctTopK& format, const EncodedRow& message);

// The columns of coefficients that lie so.
std::vector<float> columns_of_kept(const DctTopK& format, const std::vector<float>& coefficients);

std::vector<float> decode_whole(const DctTopK& format, const EncodedRow& message);

}  // namespace longhaul
