// Rows of quantized blocks, one after the other (quantize.h has a block).
#pragma once

#include <cstdint>
#include <vector>

#include "core/codecs/codec.h"

namespace longhaul {

// values [columns].
std::vector<std::uint8_t> encode_quantized(const Quantized& codec, const float* values, std::int64_t columns);

// out[0 …] = columns [begin, end) of a message.
void decode_quantized(const Quantized& codec, const std::uint8_t* message, std::int64_t begin,
                      std::int64_t end, float* out);

}  // namespace longhaul
