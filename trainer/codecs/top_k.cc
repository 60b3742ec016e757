#include "trainer/codecs/top_k.h"

#include <algorithm>

#include "core/base/index.h"

namespace longhaul {

std::vector<std::uint8_t> encode_top_k(const TopK& codec, const float* values, std::int64_t columns) {
  const LargestCode code(codec);
  std::vector<std::uint8_t> message(as_index(encoded_bytes({codec}, columns)));
  std::uint8_t* out = message.data();
  for (std::int64_t begin = 0; begin < columns; begin += codec.chunk) {
    const std::int64_t count = std::min<std::int64_t>(codec.chunk, columns - begin);
    encode_largest(code, values + begin, count, out);
    out += code.bytes(count);
  }
  return message;
}

std::vector<Kept> kept_by_top_k(const TopK& codec, const std::vector<std::uint8_t>& message,
                                std::int64_t columns) {
  const LargestCode code(codec);
  std::vector<Kept> all;
  const std::uint8_t* from = message.data();
  for (std::int64_t begin = 0; begin < columns; begin += codec.chunk) {
    const std::int64_t count = std::min<std::int64_t>(codec.chunk, columns - begin);
    for_each_kept(code, from, count, [&](std::int64_t place, float value) {
      all.push_back({begin + place, value});
    });
    from += code.bytes(count);
  }
  return all;
}

void decode_top_k(const TopK& codec, const std::vector<std::uint8_t>& message, std::int64_t columns,
                  std::int64_t begin, std::int64_t end, float* out) {
  const LargestCode code(codec);
  const std::int64_t whole = code.bytes(codec.chunk);
  std::fill(out, out + (end - begin), 0.f);
  for (std::int64_t chunk = begin / codec.chunk; chunk * codec.chunk < end; ++chunk) {
    const std::int64_t first = chunk * codec.chunk,
                       count = std::min<std::int64_t>(codec.chunk, columns - first),
                       from = std::max(begin, first);
    decode_largest(code, message.data() + chunk * whole, count, from - first,
                   std::min(end, first + count) - first, out + (from - begin));
  }
}

}  // namespace longhaul
