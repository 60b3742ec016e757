// Matrices of low rank by power iteration (core/codec.h has the equation and what travels). On the host
// alone: the products are sums over whole matrices, one after the other in an order of their own, so that the
// bits are the same on every machine.
//
// The start is Mᵀ Ω, Ω [m, rank] standard normal numbers of a fixed stream, so that nobody has to keep or
// send it. PowerSGD starts from the last step's Q. A start without M would send the same P for ever where M
// stays as it is: what error feedback adds is at right angles to it. A direction in which nothing is left of
// the matrix is zero.
#pragma once

#include <cstdint>
#include <vector>

#include "core/codec.h"

namespace longhaul {

// values [columns].
std::vector<std::uint8_t> encode_low_rank(const LowRank& codec, const float* values);

// All columns of a message of `columns`.
std::vector<float> decode_low_rank(const LowRank& codec, const std::vector<std::uint8_t>& message,
                                   std::int64_t columns);

}  // namespace longhaul
