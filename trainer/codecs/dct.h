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

namespace longhaul {

// B [n, n], row-major: B[k][i] = sqrt((k ? 2 : 1) / n) cos(π (2 i + 1) k / (2 n)), computed in float64. y = B
// x is the orthonormal DCT-II of x, x = Bᵀ y its inverse.
std::vector<float> cosine_basis(std::int64_t n);

std::vector<std::uint8_t> encode(const DctTopK& format, const PlainRow& row);

// Coefficients; those of a tile are side by side, row-major, and tiles follow each other as in the message.
std::vector<Kept> kept_by(const DctTopK& format, const EncodedRow& message);

// The columns of coefficients that lie so.
std::vector<float> columns_of_kept(const DctTopK& format, const std::vector<float>& coefficients);

std::vector<float> decode_whole(const DctTopK& format, const EncodedRow& message);

}  // namespace longhaul
