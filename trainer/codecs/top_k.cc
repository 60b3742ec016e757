#include "trainer/codecs/top_k.h"

namespace longhaul {

void add_kept(const LargestCode& code, const std::uint8_t* from, std::int64_t count, std::int64_t first,
              std::vector<Kept>& all) {
  code.for_each(from, count, [&](std::int64_t place, float value) { all.push_back({first + place, value}); });
}

std::vector<Kept> kept_by(const TopK& format, const EncodedRow& message) {
  const LargestCode code(format);
  std::vector<Kept> all;
  const std::uint8_t* from = message.bytes;
  for (std::int64_t begin = 0; begin < message.columns; begin += format.chunk) {
    const std::int64_t count = std::min<std::int64_t>(format.chunk, message.columns - begin);
    add_kept(code, from, count, begin, all);
    from += code.bytes(count);
  }
  return all;
}

}  // namespace longhaul
