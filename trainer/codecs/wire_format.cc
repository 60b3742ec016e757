#include "trainer/codecs/wire_format.h"

#include <algorithm>
#include <stdexcept>

#include "core/base/index.h"

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

std::vector<std::uint8_t> encode(Wire wire, const PlainRow& row) {
  refuse_int8(wire);
  std::vector<std::uint8_t> packed(as_index(row.columns * bytes_per_parameter(wire)));
  EachAlone{wire}.write(row.values, row.columns, packed.data());
  return packed;
}

}  // namespace longhaul
