#include "trainer/codecs/mask.h"

#include <algorithm>
#include <bitset>

#include "core/base/index.h"
#include "core/base/random.h"
#include "trainer/codecs/quantized.h"
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

// Numbers [begin, end) of the row that travels.
struct DecodeRow {
  const std::uint8_t* message;
  std::int64_t begin, end;
  float* out;

  void operator()(Wire wire) const { unpack_numbers(message, begin, end, wire, out); }
  void operator()(const Quantized& codec) const { decode_quantized(codec, message, begin, end, out); }
};

struct EncodeRow {
  const std::vector<float>& row;

  std::int64_t count() const { return static_cast<std::int64_t>(row.size()); }
  std::vector<std::uint8_t> operator()(Wire wire) const { return pack_row(row.data(), count(), wire); }
  std::vector<std::uint8_t> operator()(const Quantized& codec) const {
    return encode_quantized(codec, row.data(), count());
  }
};

}  // namespace

void for_each_drawn(const RandomMask& codec, std::uint64_t draw, std::int64_t columns, std::int64_t begin,
                    std::int64_t end, const std::function<void(std::int64_t, std::int64_t)>& visit) {
  for (std::int64_t piece = begin / kMaskPiece; piece * kMaskPiece < end; ++piece) {
    const std::int64_t first = piece * kMaskPiece, last = std::min(columns, first + kMaskPiece);
    std::int64_t number = drawn_columns(codec, first);
    const std::int64_t kept = drawn_columns(codec, last) - number;
    const std::bitset<kMaskPiece> drawn = draw_piece(draw, piece, last - first, kept);
    for (std::int64_t column = first; column < std::min(last, end); ++column) {
      if (!drawn[as_index(column - first)]) continue;
      if (column >= begin) visit(column, number);
      ++number;
    }
  }
}

std::vector<std::uint8_t> encode_mask(const RandomMask& codec, std::uint64_t draw, const float* values,
                                      std::int64_t columns) {
  std::vector<float> row;
  row.reserve(as_index(drawn_columns(codec, columns)));
  for_each_drawn(codec, draw, columns, 0, columns,
                 [&](std::int64_t column, std::int64_t) { row.push_back(values[column]); });
  return std::visit(EncodeRow{row}, codec.numbers);
}

void decode_mask(const RandomMask& codec, std::uint64_t draw, const std::uint8_t* message,
                 std::int64_t columns, std::int64_t begin, std::int64_t end, float* out) {
  std::vector<std::int64_t> drawn;
  std::int64_t first = 0;
  for_each_drawn(codec, draw, columns, begin, end, [&](std::int64_t column, std::int64_t number) {
    if (drawn.empty()) first = number;
    drawn.push_back(column);
  });
  std::fill(out, out + (end - begin), 0.f);
  std::vector<float> row(drawn.size());
  if (row.empty()) return;
  std::visit(DecodeRow{message, first, first + static_cast<std::int64_t>(row.size()), row.data()},
             codec.numbers);
  for (std::size_t i = 0; i < drawn.size(); ++i) out[drawn[i] - begin] = row[i];
}

}  // namespace longhaul
