#include "trainer/codecs/low_rank.h"

#include <cmath>

#include "core/base/index.h"
#include "core/base/random.h"
#include "trainer/codecs/wire_format.h"

namespace longhaul {
namespace {

// Eight sums side by side, which a vector unit takes at once, in an order that depends on the length alone.
float dot_in_lanes(const float* a, const float* b, std::int64_t length) {
  constexpr std::int64_t kLanes = 8;
  float sums[kLanes] = {};
  std::int64_t i = 0;
  for (; i + kLanes <= length; i += kLanes)
    for (std::int64_t lane = 0; lane < kLanes; ++lane) sums[lane] += a[i + lane] * b[i + lane];
  float sum = 0;
  for (std::int64_t lane = 0; lane < kLanes; ++lane) sum += sums[lane];
  for (; i < length; ++i) sum += a[i] * b[i];
  return sum;
}

double dot_in_double(const float* a, const float* b, std::int64_t length) {
  double sum = 0;
  for (std::int64_t i = 0; i < length; ++i) sum += double{a[i]} * double{b[i]};
  return sum;
}

// directions [count, length]. Gram-Schmidt, twice over each: once leaves what cancellation has spoilt. A
// direction of which nothing but rounding is left becomes zero; a NaN stays one.
void orthonormalize(float* directions, std::int64_t count, std::int64_t length) {
  constexpr double kRounding = 1e-6;
  for (std::int64_t k = 0; k < count; ++k) {
    float* row = directions + k * length;
    const double before = sqrt(dot_in_double(row, row, length));
    for (int time = 0; time < 2; ++time) {
      for (std::int64_t other = 0; other < k; ++other) {
        const float* from = directions + other * length;
        const float factor = static_cast<float>(-dot_in_double(row, from, length));
        for (std::int64_t i = 0; i < length; ++i) row[i] += factor * from[i];
      }
      const double norm = sqrt(dot_in_double(row, row, length));
      const bool is_rounding = norm <= kRounding * (time == 0 ? before : 1);
      for (std::int64_t i = 0; i < length; ++i)
        row[i] = is_rounding ? 0.f : static_cast<float>(double{row[i]} / norm);
      if (is_rounding) break;
    }
  }
}

// M, row-major.
struct Matrix {
  const float* values;
  std::int64_t rows, columns;

  const float* row(std::int64_t i) const { return values + i * columns; }
};

// DirectionRows one after another: row k of `count` rows of `length` numbers.
struct DirectionRows {
  DirectionRows(std::int64_t count, std::int64_t length)
      : count(count), length(length), values(as_index(count * length)) {}

  float* row(std::int64_t k) { return values.data() + k * length; }
  const float* row(std::int64_t k) const { return values.data() + k * length; }

  std::int64_t count, length;
  std::vector<float> values;
};

void add(const float* from, float factor, std::int64_t length, float* to) {
  for (std::int64_t i = 0; i < length; ++i) to[i] += factor * from[i];
}

// P = M Q
DirectionRows left_of(const Matrix& matrix, const DirectionRows& right) {
  DirectionRows left(right.count, matrix.rows);
  for (std::int64_t i = 0; i < matrix.rows; ++i)
    for (std::int64_t k = 0; k < right.count; ++k)
      left.row(k)[i] = dot_in_lanes(matrix.row(i), right.row(k), matrix.columns);
  return left;
}

// Q = Mᵀ P
DirectionRows right_of(const Matrix& matrix, const DirectionRows& left) {
  DirectionRows right(left.count, matrix.columns);
  for (std::int64_t i = 0; i < matrix.rows; ++i)
    for (std::int64_t k = 0; k < left.count; ++k)
      add(matrix.row(i), left.row(k)[i], matrix.columns, right.row(k));
  return right;
}

struct Factors {
  DirectionRows left, right;
};

Factors factors_of(const LowRank& codec, const Matrix& matrix) {
  DirectionRows start(codec.rank, matrix.rows);
  start.values = low_rank_start(codec.rank, matrix.rows);
  DirectionRows right = right_of(matrix, start);
  for (int iteration = 1;; ++iteration) {
    DirectionRows left = left_of(matrix, right);
    orthonormalize(left.values.data(), left.count, left.length);
    right = right_of(matrix, left);
    if (iteration == codec.iterations) return {std::move(left), std::move(right)};
  }
}

void append(const std::vector<std::uint8_t>& bytes, std::vector<std::uint8_t>& message) {
  message.insert(message.end(), bytes.begin(), bytes.end());
}

void append(const LowRank& format, const DirectionRows& directions, std::vector<std::uint8_t>& message) {
  for (std::int64_t k = 0; k < directions.count; ++k)
    append(encode(format.factors, PlainRow{directions.row(k), directions.length}), message);
}

// Continues behind what it has read.
void read(const RowNumbers& numbers, const std::uint8_t*& from, std::int64_t length, float* out) {
  decode(numbers, EncodedRow{from, length}, 0, length, out);
  from += bytes_of(numbers, length);
}

DirectionRows directions_at(const LowRank& format, const std::uint8_t*& from, std::int64_t length) {
  DirectionRows directions(format.rank, length);
  for (std::int64_t k = 0; k < format.rank; ++k) read(format.factors, from, length, directions.row(k));
  return directions;
}

}  // namespace

std::vector<float> low_rank_start(std::int64_t rank, std::int64_t rows) {
  constexpr std::uint64_t kSeed = 1905'13727;
  RandomStream stream(kSeed, Purpose::kInitialWeights);
  std::vector<float> start(as_index(rank * rows));
  for (float& value : start) value = static_cast<float>(stream.normal());
  return start;
}

std::vector<std::uint8_t> encode(const LowRank& format, const PlainRow& row) {
  std::vector<std::uint8_t> message;
  const float* values = row.values;
  for (const MatrixShape& shape : format.matrices) {
    const std::int64_t size = shape.rows * shape.columns;
    if (format.is_plain(shape)) {
      append(encode(format.plain, PlainRow{values, size}), message);
    } else {
      const Factors factors = factors_of(format, {values, shape.rows, shape.columns});
      append(format, factors.left, message);
      append(format, factors.right, message);
    }
    values += size;
  }
  return message;
}

std::vector<float> decode_whole(const LowRank& format, const EncodedRow& message) {
  std::vector<float> values(as_index(message.columns));
  const std::uint8_t* from = message.bytes;
  float* out = values.data();
  for (const MatrixShape& shape : format.matrices) {
    const std::int64_t size = shape.rows * shape.columns;
    if (format.is_plain(shape)) {
      read(format.plain, from, size, out);
    } else {
      const DirectionRows left = directions_at(format, from, shape.rows),
                          right = directions_at(format, from, shape.columns);
      for (std::int64_t i = 0; i < shape.rows; ++i)
        for (std::int64_t k = 0; k < left.count; ++k)
          add(right.row(k), left.row(k)[i], shape.columns, out + i * shape.columns);
    }
    out += size;
  }
  return values;
}

}  // namespace longhaul
