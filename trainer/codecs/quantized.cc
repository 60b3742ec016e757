#include "trainer/codecs/quantized.h"

#include <algorithm>

#include "core/base/index.h"
#include "trainer/codecs/quantize.h"

namespace longhaul {

std::vector<std::uint8_t> encode_quantized(const Quantized& codec, const float* values,
                                           std::int64_t columns) {
  const NumberCode code(codec.numbers);
  std::vector<std::uint8_t> message(as_index(encoded_bytes({codec}, columns)));
  std::uint8_t* out = message.data();
  for (std::int64_t begin = 0; begin < columns; begin += codec.block) {
    const std::int64_t count = std::min<std::int64_t>(codec.block, columns - begin);
    write_numbers(code, InOrder{values + begin}, count, out);
    out += code.bytes(count);
  }
  return message;
}

void decode_quantized(const Quantized& codec, const std::uint8_t* message, std::int64_t begin,
                      std::int64_t end, float* out) {
  const NumberCode code(codec.numbers);
  const std::int64_t whole = code.bytes(codec.block);
  for (std::int64_t block = begin / codec.block; block * codec.block < end; ++block) {
    const NumberReader read(code, message + block * whole);
    const std::int64_t first = block * codec.block;
    const std::int64_t from = std::max(begin, first), to = std::min(end, first + codec.block);
    for (std::int64_t column = from; column < to; ++column) out[column - begin] = read(column - first);
  }
}

}  // namespace longhaul
