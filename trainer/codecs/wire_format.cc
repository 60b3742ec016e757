#include "trainer/codecs/wire_format.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "core/base/index.h"
#include "trainer/codecs/number_formats.h"

namespace longhaul {
namespace {

void refuse_int8(Wire wire) {
  if (wire == Wire::kInt8) throw std::logic_error("int8 has no scale here: nothing is trained with it");
}

}  // namespace

void round_to_wire(const float* in, float* out, std::int64_t count, Wire wire) {
  refuse_int8(wire);
  if (wire == Wire::kBf16)
    for (std::int64_t i = 0; i < count; ++i) out[i] = from_bf16(to_bf16(in[i]));
  else if (wire == Wire::kFp16)
    for (std::int64_t i = 0; i < count; ++i) out[i] = from_fp16(to_fp16(in[i]));
  else if (in != out)
    std::copy(in, in + count, out);
}

std::vector<std::uint8_t> pack_row(const float* row, std::int64_t count, Wire wire) {
  refuse_int8(wire);
  std::vector<std::uint8_t> packed(as_index(count * bytes_per_parameter(wire)));
  if (wire == Wire::kFp32) {
    std::memcpy(packed.data(), row, packed.size());
    return packed;
  }
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint16_t half = wire == Wire::kBf16 ? to_bf16(row[i]) : to_fp16(row[i]);
    std::memcpy(&packed[as_index(2 * i)], &half, 2);
  }
  return packed;
}

void unpack_numbers(const std::uint8_t* packed, std::int64_t begin, std::int64_t end, Wire wire, float* out) {
  const std::uint8_t* from = packed + begin * bytes_per_parameter(wire);
  if (wire == Wire::kFp32) {
    std::memcpy(out, from, as_index(end - begin) * sizeof(float));
    return;
  }
  for (std::int64_t i = 0; i < end - begin; ++i) {
    std::uint16_t half;
    std::memcpy(&half, from + 2 * i, 2);
    out[i] = wire == Wire::kBf16 ? from_bf16(half) : from_fp16(half);
  }
}

}  // namespace longhaul
