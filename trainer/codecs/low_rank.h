// Matrices of low rank by power iteration (core/codecs/low_rank.h has the equation and what travels). The
// products are sums over whole matrices in an order of their own, so that the bits are the same on every
// machine.
//
// The start is Mᵀ Ω, Ω [m, rank] standard normal numbers of a fixed stream, so that nobody has to keep or
// send it. PowerSGD starts from the last step's Q. A start without M would send the same P for ever where M
// stays as it is: what error feedback adds is at right angles to it. A direction in which nothing is left of
// the matrix is zero.
#pragma once

#include <cstdint>
#include <vector>

#include "core/codecs/low_rank.h"
#include "trainer/codecs/pieces.h"

namespace longhaul {

// Ω [rank, rows].
std::vector<float> low_rank_start(std::int64_t rank, std::int64_t rows);

std::vector<std::uint8_t> encode(const LowRank& format, const PlainRow& row);
std::vector<float> decode_whole(const LowRank& format, const EncodedRow& message);

}  // namespace longhaul
