// How rows are coded, one overload a format:
//
//   encode(format, row)                        the bytes of a message
//   decode(format, message, begin, end, out)   out[0 …] = columns [begin, end) of it; or, where a few columns
//   decode_whole(format, message)              alone would cost as much as all of them, all
//
// Most are rows of equal pieces, the last one maybe shorter, which are coded one by one: a format of this
// kind has a pieces_of(format).
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "core/base/index.h"

namespace longhaul {

struct PlainRow {
  const float* values;  // [columns]
  std::int64_t columns;
  std::uint64_t draw = 0;  // of a random mask
};

struct EncodedRow {
  const std::uint8_t* bytes;
  std::int64_t columns;
  std::uint64_t draw = 0;
};

// Code: bytes(count) of a piece; write(values, count, out); read(from, count, begin, end, out), out[0 …]
// numbers [begin, end) of a piece of `count`.
template <typename Code>
struct PiecesOfRow {
  Code code;
  std::int64_t piece;
};

template <typename Format>
auto encode(const Format& format, const PlainRow& row)
    -> decltype(pieces_of(format), std::vector<std::uint8_t>()) {
  const auto [code, piece] = pieces_of(format);
  std::vector<std::uint8_t> message(as_index(format.bytes(row.columns)));
  std::uint8_t* out = message.data();
  for (std::int64_t begin = 0; begin < row.columns; begin += piece) {
    const std::int64_t count = std::min(piece, row.columns - begin);
    code.write(row.values + begin, count, out);
    out += code.bytes(count);
  }
  return message;
}

template <typename Format>
auto decode(const Format& format, const EncodedRow& message, std::int64_t begin, std::int64_t end, float* out)
    -> decltype(pieces_of(format), void()) {
  const auto [code, piece] = pieces_of(format);
  const std::int64_t whole = code.bytes(piece);
  for (std::int64_t index = begin / piece; index * piece < end; ++index) {
    const std::int64_t first = index * piece, count = std::min(piece, message.columns - first),
                       from = std::max(begin, first);
    code.read(message.bytes + index * whole, count, from - first, std::min(end, first + count) - first,
              out + (from - begin));
  }
}

}  // namespace longhaul
