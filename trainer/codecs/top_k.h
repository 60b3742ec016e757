// Top-k in chunks: the columns of largest magnitude of each chunk, the others count as zero
// (core/codec.h has the length of a message). Ties go to the lower place; a NaN counts as infinite, so
// that it is kept and shows.
//
// A chunk in a message: the values kept, in ascending order of their places and in the codec's numbers, then
// the places, place_bits() each, the lowest bit first, filled up to a whole byte.
#pragma once

#include <cstdint>
#include <vector>

#include "core/codec.h"

namespace longhaul {

// values [columns].
std::vector<std::uint8_t> encode_top_k(const TopK& codec, const float* values, std::int64_t columns);

// out[0 …] = columns [begin, end) of a message of `columns`.
void decode_top_k(const TopK& codec, const std::vector<std::uint8_t>& message, std::int64_t columns,
                  std::int64_t begin, std::int64_t end, float* out);

}  // namespace longhaul
