// What codecs do to rows [R, P] in one memory, a thread a column, or a piece: a block, a chunk, a tile, or a
// line of one. The arithmetic of a piece is that of codecs/; here is where its numbers and bytes lie.
#pragma once

#include <cstdint>

#include "trainer/codecs/dct.h"
#include "trainer/codecs/feedback.h"
#include "trainer/codecs/low_rank.h"
#include "trainer/codecs/quantize.h"
#include "trainer/codecs/top_k.h"
#include "trainer/device/host_device.h"

namespace longhaul {

// Of one range of columns: from `begin` in the rows [R, parameters], from `place` in those that travel, which
// have `columns`.
struct RangeRows {
  const float* row;
  const float* less;  // null: nothing is subtracted
  float* feedback;    // null: none
  std::int64_t parameters, begin, columns, place;
  FeedbackStep step;
};

struct GatherColumns {
  RangeRows of;
  float* values;  // [R, columns]

  LONGHAUL_HOST_DEVICE void operator()(std::int64_t row, std::int64_t column) const {
    const std::int64_t at = row * of.parameters + of.begin + column;
    float value = of.less ? of.row[at] - of.less[at] : of.row[at];
    if (of.feedback) value = of.step.encoded(value, of.feedback[at]);
    values[row * of.columns + of.place + column] = value;
  }
};

struct FeedBackColumns {
  RangeRows of;
  const float *values, *sent;  // [R, columns]

  LONGHAUL_HOST_DEVICE void operator()(std::int64_t row, std::int64_t column) const {
    const std::int64_t at = row * of.parameters + of.begin + column,
                       place = row * of.columns + of.place + column;
    of.feedback[at] = of.step.next(values[place], of.feedback[at], sent[place]);
  }
};

// Equal pieces of rows [R, columns] from column `first` on, the last one maybe shorter, and their bytes from
// `message` on in rows [R, bytes].
struct Pieces {
  std::int64_t columns, first, end, piece;
  std::int64_t bytes, message, piece_bytes;

  LONGHAUL_HOST_DEVICE std::int64_t count(std::int64_t index) const {
    const std::int64_t left = end - first - index * piece;
    return left < piece ? left : piece;
  }
  LONGHAUL_HOST_DEVICE std::int64_t numbers(std::int64_t row, std::int64_t index) const {
    return row * columns + first + index * piece;
  }
  LONGHAUL_HOST_DEVICE std::int64_t at(std::int64_t row, std::int64_t index) const {
    return row * bytes + message + index * piece_bytes;
  }
};

// Code: that of a format's pieces (codecs/pieces.h).
template <typename Code>
struct EncodePieces {
  Pieces of;
  Code code;
  const float* values;
  std::uint8_t* messages;

  LONGHAUL_HOST_DEVICE void operator()(std::int64_t row, std::int64_t index) const {
    code.write(values + of.numbers(row, index), of.count(index), messages + of.at(row, index));
  }
};

template <typename Code>
struct DecodePieces {
  Pieces of;
  Code code;
  const std::uint8_t* messages;
  float* sent;

  LONGHAUL_HOST_DEVICE void operator()(std::int64_t row, std::int64_t index) const {
    const std::int64_t count = of.count(index);
    code.read(messages + of.at(row, index), count, 0, count, sent + of.numbers(row, index));
  }
};

// Of rows [R, columns] those columns that were drawn, side by side in rows [R, count].
struct DrawnColumns {
  const std::int64_t* drawn;  // ascending
  std::int64_t count, columns;
};

struct GatherDrawn {
  DrawnColumns of;
  const float* values;
  float* row_values;

  LONGHAUL_HOST_DEVICE void operator()(std::int64_t row, std::int64_t number) const {
    row_values[row * of.count + number] = values[row * of.columns + of.drawn[number]];
  }
};

// The reverse; what was not drawn stays as it is.
struct ScatterDrawn {
  DrawnColumns of;
  const float* row_values;
  float* sent;

  LONGHAUL_HOST_DEVICE void operator()(std::int64_t row, std::int64_t number) const {
    sent[row * of.columns + of.drawn[number]] = row_values[row * of.count + number];
  }
};

// Where the tiles of a grid lie: in rows [R, columns] as in their matrix, or one behind the other.
struct TileLines {
  TileGrid grid;
  std::int64_t columns;

  LONGHAUL_HOST_DEVICE std::int64_t in_matrix(std::int64_t row, std::int64_t tile) const {
    return row * columns + grid.first + tile / grid.across * grid.height * grid.across * grid.width +
           tile % grid.across * grid.width;
  }
  LONGHAUL_HOST_DEVICE std::int64_t behind(std::int64_t row, std::int64_t tile) const {
    return row * columns + grid.first + tile * grid.height * grid.width;
  }
};

// The columns of all tiles, a thread each; the tiles come out turned over.
struct TransformDown {
  TileLines of;
  bool from_matrix;
  const float *basis, *in;
  float* out;

  LONGHAUL_HOST_DEVICE void operator()(std::int64_t row, std::int64_t line) const {
    const std::int64_t tile = line / of.grid.width;
    transform_columns<1>(basis, in + (from_matrix ? of.in_matrix(row, tile) : of.behind(row, tile)),
                         of.grid.height, from_matrix ? of.grid.across * of.grid.width : of.grid.width,
                         line % of.grid.width, out + of.behind(row, tile));
  }
};

// The rows of all tiles that were turned over, and so the right way round again.
struct TransformAcross {
  TileLines of;
  const float *basis, *in;
  float* out;

  LONGHAUL_HOST_DEVICE void operator()(std::int64_t row, std::int64_t line) const {
    const std::int64_t tile = line / of.grid.height, at = of.behind(row, tile);
    transform_columns<1>(basis, in + at, of.grid.width, of.grid.height, line % of.grid.height, out + at);
  }
};

struct TilesToMatrix {
  TileLines of;
  const float* in;
  float* out;

  LONGHAUL_HOST_DEVICE void operator()(std::int64_t row, std::int64_t column) const {
    const std::int64_t area = of.grid.height * of.grid.width, tile = column / area, at = column % area;
    out[of.in_matrix(row, tile) + at / of.grid.width * of.grid.across * of.grid.width + at % of.grid.width] =
        in[of.behind(row, tile) + at];
  }
};

// Of low rank: a matrix in each of the rows [R, columns], row-major from column `first` on, and directions,
// tables [R, rank, length].
struct MatrixRows {
  std::int64_t columns, first, rows, width;

  LONGHAUL_HOST_DEVICE std::int64_t at(std::int64_t row) const { return row * columns + first; }
};

// P = M Q, a thread a number.
struct LeftProducts {
  MatrixRows of;
  std::int64_t rank;
  const float *values, *right;
  float* left;

  LONGHAUL_HOST_DEVICE void operator()(std::int64_t row, std::int64_t number) const {
    const std::int64_t k = number / of.rows, i = number % of.rows;
    left[row * rank * of.rows + number] =
        dot_in_lanes(values + of.at(row) + i * of.width, right + (row * rank + k) * of.width, of.width);
  }
};

// Q = Mᵀ P; P may be one for all.
struct RightProducts {
  MatrixRows of;
  std::int64_t rank;
  const float *values, *left;
  bool is_one_for_all;
  float* right;

  LONGHAUL_HOST_DEVICE void operator()(std::int64_t row, std::int64_t number) const {
    const std::int64_t k = number / of.width, j = number % of.width;
    const float* direction = left + ((is_one_for_all ? 0 : row * rank) + k) * of.rows;
    const float* column = values + of.at(row) + j;
    float sum = 0;
    for (std::int64_t i = 0; i < of.rows; ++i) sum += direction[i] * column[i * of.width];
    right[row * rank * of.width + number] = sum;
  }
};

// One row after the other: each direction needs those before it.
struct OrthonormalRows {
  std::int64_t rank, length;
  float* left;

  LONGHAUL_HOST_DEVICE void operator()(std::int64_t row, std::int64_t) const {
    orthonormalize(left + row * rank * length, rank, length);
  }
};

// P Qᵀ, a thread a number.
struct MultiplyFactors {
  MatrixRows of;
  std::int64_t rank;
  const float *left, *right;
  float* sent;

  LONGHAUL_HOST_DEVICE void operator()(std::int64_t row, std::int64_t number) const {
    const std::int64_t i = number / of.width, j = number % of.width;
    float sum = 0;
    for (std::int64_t k = 0; k < rank; ++k)
      sum += left[(row * rank + k) * of.rows + i] * right[(row * rank + k) * of.width + j];
    sent[of.at(row) + number] = sum;
  }
};

}  // namespace longhaul
