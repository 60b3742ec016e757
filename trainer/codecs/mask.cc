#include "trainer/codecs/mask.h"

#include <algorithm>
#include <bitset>

#include "core/base/index.h"
#include "core/base/random.h"
#include "trainer/codecs/wire_format.h"

namespace longhaul {
namespace {

// `kept` of 0 … count - 1, each set of them equally likely (Floyd's sampling); of more than half those that
// are left out are drawn.
std::bitset<kMaskPiece> draw_piece(std::uint64_t draw, std::int64_t piece, std::int64_t count,
                                   std::int64_t kept) {
  std::bitset<kMaskPiece> drawn;
  const bool is_complement = 2 * kept > count;
  RandomStream stream(draw, Purpose::kMasks, static_cast<std::uint32_t>(piece));
  for (std::int64_t last = count - (is_complement ? count - kept : kept); last < count; ++last) {
    const std::size_t number = stream.below(static_cast<std::uint64_t>(last) + 1);
    drawn.set(drawn[number] ? as_index(last) : number);
  }
  return is_complement ? ~drawn : drawn;
}

}  // namespace

void for_each_drawn(const RandomMask& codec, std::uint64_t draw, std::int64_t columns, std::int64_t begin,
                    std::int64_t end, const std::function<void(std::int64_t, std::int64_t)>& visit) {
  for (std::int64_t piece = begin / kMaskPiece; piece * kMaskPiece < end; ++piece) {
    const std::int64_t first = piece * kMaskPiece, last = std::min(columns, first + kMaskPiece);
    std::int64_t number = codec.drawn(first);
    const std::int64_t kept = codec.drawn(last) - number;
    const std::bitset<kMaskPiece> drawn = draw_piece(draw, piece, last - first, kept);
    for (std::int64_t column = first; column < std::min(last, end); ++column) {
      if (!drawn[as_index(column - first)]) continue;
      if (column >= begin) visit(column, number);
      ++number;
    }
  }
}

std::vector<std::uint8_t> encode(const RandomMask& format, const PlainRow& row) {
  std::vector<float> drawn;
  drawn.reserve(as_index(format.drawn(row.columns)));
  for_each_drawn(format, row.draw, row.columns, 0, row.columns,
                 [&](std::int64_t column, std::int64_t) { drawn.push_back(row.values[column]); });
  return encode(format.numbers, PlainRow{drawn.data(), static_cast<std::int64_t>(drawn.size())});
}

void decode(const RandomMask& format, const EncodedRow& message, std::int64_t begin, std::int64_t end,
            float* out) {
  std::vector<std::int64_t> drawn;
  std::int64_t first = 0;
  for_each_drawn(format, message.draw, message.columns, begin, end,
                 [&](std::int64_t column, std::int64_t number) {
                   if (drawn.empty()) first = number;
                   drawn.push_back(column);
                 });
  std::fill(out, out + (end - begin), 0.f);
  std::vector<float> row(drawn.size());
  if (row.empty()) return;
  decode(format.numbers, EncodedRow{message.bytes, format.drawn(message.columns)}, first,
         first + static_cast<std::int64_t>(row.size()), row.data());
  for (std::size_t i = 0; i < drawn.size(); ++i) out[drawn[i] - begin] = row[i];
}

}  // namespace longhaul
