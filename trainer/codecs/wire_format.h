// Number formats of what is exchanged. A contribution is rounded to the wire format before it is used, one's
// own too, so that all members of a group compute with the same numbers.
//
// Rounding is to nearest, ties to even, as IEEE 754 has it: fp16 has subnormals and goes to infinity above
// 65504; bf16 is the upper half of a float32. fp32 changes nothing. int8 has no scale here and is not trained
// with.
#pragma once

#include <cstdint>
#include <vector>

#include "core/codecs/quantized.h"
#include "trainer/codecs/pieces.h"
#include "trainer/codecs/quantize.h"

namespace longhaul {

// out[i] = in[i] rounded; in == out is allowed.
void round_to_wire(const float* in, float* out, std::int64_t count, Wire wire);

// The bytes that travel, little end first: columns · bytes_per_parameter(wire).
std::vector<std::uint8_t> encode(Wire wire, const PlainRow& row);
inline void decode(Wire wire, const EncodedRow& message, std::int64_t begin, std::int64_t end, float* out) {
  EachAlone{wire}.for_each(message.bytes, begin, end, StoreFrom<float>{begin, out});
}

// Of the numbers of a row inside another format.
inline std::vector<std::uint8_t> encode(const RowNumbers& numbers, const PlainRow& row) {
  return std::visit([&](const auto& format) { return encode(format, row); }, numbers);
}
inline void decode(const RowNumbers& numbers, const EncodedRow& message, std::int64_t begin, std::int64_t end,
                   float* out) {
  std::visit([&](const auto& format) { decode(format, message, begin, end, out); }, numbers);
}

}  // namespace longhaul
