// Codecs over rows in the GPU's memory (device_codec.h). Compiled without fused multiply-adds: the bytes are
// those of the host.
#include <algorithm>
#include <stdexcept>

#include "core/base/index.h"
#include "trainer/codecs/mask.h"
#include "trainer/cuda/codec_rows.h"
#include "trainer/cuda/device_codec.h"
#include "trainer/cuda/launch.cuh"

namespace longhaul {
namespace {

std::vector<float> transposed(const std::vector<float>& square, std::int64_t n) {
  std::vector<float> turned(square.size());
  for (std::int64_t at = 0; at < n * n; ++at) turned[as_index(at % n * n + at / n)] = square[as_index(at)];
  return turned;
}

std::int64_t pieces_in(std::int64_t columns, std::int64_t piece) {
  return (columns + piece - 1) / piece;
}

// Numbers of the wire are coded so many at a time.
PiecesOfRow<NumberCode> pieces_of(Wire wire) {
  return {NumberCode(wire), kBlock};
}

// A row of `columns` from the begin of its message on.
template <typename Code>
Pieces pieces_in_row(const PiecesOfRow<Code>& row, std::int64_t columns, std::int64_t bytes) {
  return {columns, 0, columns, row.piece, bytes, 0, row.code.bytes(row.piece)};
}

}  // namespace

DeviceCodec::DeviceCodec(const MessageFormat& format, std::int64_t rows, std::int64_t parameters)
    : format_(format),
      rows_(rows),
      parameters_(parameters),
      values_(as_index(rows * format.columns)),
      sent_(as_index(rows * format.columns)),
      messages_(as_index(rows * format.bytes())) {
  if (const RandomMask* mask = std::get_if<RandomMask>(&format_.codec.format)) {
    std::vector<std::int64_t> drawn;
    for_each_drawn(*mask, format_.draw, format_.columns, 0, format_.columns,
                   [&](std::int64_t column, std::int64_t) { drawn.push_back(column); });
    drawn_ = DeviceTable<std::int64_t>(drawn);
    row_ = DeviceTable<float>(as_index(rows) * drawn.size());
    sent_row_ = DeviceTable<float>(as_index(rows) * drawn.size());
    sent_ = DeviceTable<float>(std::vector<float>(sent_.size(), 0));
  }
  if (const LowRank* low = std::get_if<LowRank>(&format_.codec.format)) {
    std::int64_t most_rows = 0, most_columns = 0;
    for (const MatrixShape& matrix : low->matrices) {
      if (low->is_plain(matrix)) continue;
      most_rows = std::max(most_rows, matrix.rows);
      most_columns = std::max(most_columns, matrix.columns);
      if (starts_.count(matrix.rows) == 0)
        starts_[matrix.rows] = DeviceTable<float>(low_rank_start(low->rank, matrix.rows));
    }
    for (DeviceTable<float>* table : {&left_, &sent_left_})
      *table = DeviceTable<float>(as_index(rows * low->rank * most_rows));
    for (DeviceTable<float>* table : {&right_, &sent_right_})
      *table = DeviceTable<float>(as_index(rows * low->rank * most_columns));
  }
  const DctTopK* dct = std::get_if<DctTopK>(&format_.codec.format);
  if (!dct) return;
  coefficients_ = DeviceTable<float>(values_.size());
  half_ = DeviceTable<float>(values_.size());
  for (const TileGrid& grid : dct->grids(format_.columns))
    for (const std::int64_t side : {grid.height, grid.width}) {
      if (bases_.count(side)) continue;
      const std::vector<float> basis = cosine_basis(side);
      bases_[side] = {DeviceTable<float>(basis), DeviceTable<float>(transposed(basis, side))};
    }
}

void DeviceCodec::encode(const float* row, const float* less, float* feedback, CudaStream stream) {
  if ((format_.codec.feedback != Feedback::kNone) != (feedback != nullptr))
    throw std::logic_error("a codec that feeds back needs its rows, and no other has any");
  const CudaLaunch launch{stream};
  std::vector<RangeRows> ranges;
  std::int64_t place = 0;
  for (const ColumnRange& range : format_.ranges) {
    ranges.push_back(
        {row, less, feedback, parameters_, range.begin, format_.columns, place, FeedbackStep(format_.codec)});
    launch.grid(rows_, range.size(), 1, GatherColumns{ranges.back(), values_.get()});
    place += range.size();
  }
  std::visit([&](const auto& format) { encode_values(format, stream); }, format_.codec.format);
  for (std::size_t i = 0; feedback && i < ranges.size(); ++i)
    launch.grid(rows_, format_.ranges[i].size(), 1, FeedBackColumns{ranges[i], values_.get(), sent_.get()});
}

template <typename Code>
void DeviceCodec::encode_pieces(const Pieces& pieces, const Code& code, const float* values, float* sent,
                                CudaStream stream) {
  const CudaLaunch launch{stream};
  const std::int64_t count = pieces_in(pieces.end - pieces.first, pieces.piece);
  launch.grid(rows_, count, 1, EncodePieces<Code>{pieces, code, values, messages_.get()});
  launch.grid(rows_, count, 1, DecodePieces<Code>{pieces, code, messages_.get(), sent});
}

template <typename Format>
void DeviceCodec::encode_values(const Format& format, CudaStream stream) {
  const auto row = pieces_of(format);
  encode_pieces(pieces_in_row(row, format_.columns, format_.bytes()), row.code, values_.get(), sent_.get(),
                stream);
}

// The `size` numbers from column `first` on of rows of `columns`, with their bytes from `message` on.
void DeviceCodec::encode_part(const RowNumbers& numbers, std::int64_t columns, std::int64_t first,
                              std::int64_t size, std::int64_t message, const float* values, float* sent,
                              CudaStream stream) {
  std::visit(
      [&](const auto& format) {
        const auto row = pieces_of(format);
        Pieces pieces = pieces_in_row(row, columns, format_.bytes());
        pieces.first = first;
        pieces.end = first + size;
        pieces.message = message;
        encode_pieces(pieces, row.code, values, sent, stream);
      },
      numbers);
}

void DeviceCodec::encode_values(const RandomMask& codec, CudaStream stream) {
  const CudaLaunch launch{stream};
  const DrawnColumns drawn{drawn_.get(), codec.drawn(format_.columns), format_.columns};
  launch.grid(rows_, drawn.count, 1, GatherDrawn{drawn, values_.get(), row_.get()});
  encode_part(codec.numbers, drawn.count, 0, drawn.count, 0, row_.get(), sent_row_.get(), stream);
  launch.grid(rows_, drawn.count, 1, ScatterDrawn{drawn, sent_row_.get(), sent_.get()});
}

void DeviceCodec::encode_values(const DctTopK& codec, CudaStream stream) {
  const CudaLaunch launch{stream};
  std::int64_t message = 0;
  float *coefficients = coefficients_.get(), *half = half_.get();
  for (const TileGrid& grid : codec.grids(format_.columns)) {
    const LargestCode code(codec.values, codec.kept, grid.area());
    const TileLines lines{grid, format_.columns};
    const Pieces tiles{format_.columns,
                       grid.first,
                       grid.first + grid.count() * grid.area(),
                       grid.area(),
                       format_.bytes(),
                       message,
                       code.bytes(grid.area())};
    const Basis &down = bases_.at(grid.height), &across = bases_.at(grid.width);
    const std::int64_t tile_columns = grid.count() * grid.width, tile_rows = grid.count() * grid.height;
    launch.grid(rows_, tile_columns, 1, TransformDown{lines, true, down.forward.get(), values_.get(), half});
    launch.grid(rows_, tile_rows, 1, TransformAcross{lines, across.forward.get(), half, coefficients});
    encode_pieces(tiles, code, coefficients, coefficients, stream);
    launch.grid(rows_, tile_columns, 1, TransformDown{lines, false, down.inverse.get(), coefficients, half});
    launch.grid(rows_, tile_rows, 1, TransformAcross{lines, across.inverse.get(), half, coefficients});
    launch.grid(rows_, grid.count() * grid.area(), 1, TilesToMatrix{lines, coefficients, sent_.get()});
    message += grid.count() * code.bytes(grid.area());
  }
}

void DeviceCodec::encode_values(const LowRank& codec, CudaStream stream) {
  std::int64_t first = 0, message = 0;
  for (const MatrixShape& matrix : codec.matrices) {
    const std::int64_t size = matrix.rows * matrix.columns;
    if (codec.is_plain(matrix))
      encode_part(codec.plain, format_.columns, first, size, message, values_.get(), sent_.get(), stream);
    else
      encode_matrix(codec, {format_.columns, first, matrix.rows, matrix.columns}, message, stream);
    first += size;
    message += codec.bytes(matrix);
  }
}

// As encode_low_rank() and decode_low_rank(), for all rows at once.
void DeviceCodec::encode_matrix(const LowRank& codec, const MatrixRows& matrix, std::int64_t message,
                                CudaStream stream) {
  const CudaLaunch launch{stream};
  const std::int64_t rank = codec.rank, left = rank * matrix.rows, right = rank * matrix.width;
  const float* values = values_.get();
  launch.grid(rows_, right, 1,
              RightProducts{matrix, rank, values, starts_.at(matrix.rows).get(), true, right_.get()});
  for (int iteration = 0; iteration < codec.iterations; ++iteration) {
    launch.grid(rows_, left, 1, LeftProducts{matrix, rank, values, right_.get(), left_.get()});
    launch.grid(rows_, 1, 1, OrthonormalRows{rank, matrix.rows, left_.get()});
    launch.grid(rows_, right, 1, RightProducts{matrix, rank, values, left_.get(), false, right_.get()});
  }
  const auto encode_directions = [&](std::int64_t length, const float* directions, float* sent) {
    for (std::int64_t k = 0; k < rank; ++k) {
      encode_part(codec.factors, rank * length, k * length, length, message, directions, sent, stream);
      message += bytes_of(codec.factors, length);
    }
  };
  encode_directions(matrix.rows, left_.get(), sent_left_.get());
  encode_directions(matrix.width, right_.get(), sent_right_.get());
  launch.grid(rows_, matrix.rows * matrix.width, 1,
              MultiplyFactors{matrix, rank, sent_left_.get(), sent_right_.get(), sent_.get()});
}

}  // namespace longhaul
