// Codecs: how columns of a row travel. What stands here is the exact length of a message, which is known
// before anything is trained; the arithmetic is in trainer/codecs/.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/base/json.h"
#include "core/base/model_shape.h"

namespace longhaul {

// Each number on its own: IEEE 754 single and half precision, the upper half of a single, one byte. int8 has
// no scale here and is not trained with.
enum class Wire { kFp32, kBf16, kFp16, kInt8 };

Wire parse_wire(const std::string& text);
std::string to_string(Wire wire);
int bytes_per_parameter(Wire wire);

// Numbers of a block together: what they share (a scale, or levels), then a code of a few bits each.
//
//   kInt8 … kInt2 code = round(x / s), ties to even, in ±L, L = 2^(bits − 1) − 1: ±127, ±63, ±31, ±15, ±7,
//   ±3,
//                 ±1; s = max |x| / L in fp32
//   kE3m0         a sign, three bits of exponent, no mantissa: 0 and ±s·2^-6 … ±s·2^0, the nearest in value,
//                 a tie to the larger magnitude; s = max |x| in fp32. The format is Streaming DiLoCo's (arXiv
//                 2501.18512), which does not say how it is scaled: the scale is ours
//   kTwoBit       four bins: numbers below zero and the others, each cut at their median. A bin is decoded as
//                 the mean of the numbers in it: four levels in bf16. Made for what top-k keeps, which has a
//                 hole at zero (SparseLoCo's 2 bits, arXiv 2508.15706)
//   kTwoBitSixSigma  the same with the bins of SparseLoCo's code: bin round(4 (x − mean) / 6σ) in −2 … 1, σ
//                 the standard deviation with n − 1. Its code takes both of a tensor; here they are of a
//                 block
//   kSign         ±s, s = mean |x| in fp32 (EF-SignSGD, arXiv 1901.09847)
//
// A block with a NaN or an infinity is decoded as NaN throughout.
enum class Quantizer {
  kInt8,
  kInt4,
  kE3m0,
  kTwoBit,
  kSign,
  kInt7,
  kInt6,
  kInt5,
  kInt3,
  kInt2,
  kTwoBitSixSigma
};

std::string to_string(Quantizer quantizer);  // "int8", "int4", "e3m0", "two_bit", "sign", "int7", …
// In the order of the enumeration.
const std::vector<std::string>& quantizer_names();
std::optional<Quantizer> quantizer_named(const std::string& name);
int code_bits(Quantizer quantizer);
int shared_bytes(Quantizer quantizer);  // of what a block shares

// Whole numbers of so many bits.
constexpr int kFewestWholeBits = 2, kMostWholeBits = 8;
Quantizer whole_quantizer(int bits);  // throws std::logic_error beyond these
// L of the whole numbers; 0: the codes of this format are none.
int largest_whole(Quantizer quantizer);

// A row in blocks of so many columns, the last one maybe shorter. At 1024, what readers take at a time
// (trainer/codecs/message.h), a scale adds 0.03 bits a column, and an outlier spoils no more than its block.
struct Quantized {
  Quantizer numbers = Quantizer::kInt8;
  int block = 1024;
};

inline bool operator==(const Quantized& a, const Quantized& b) {
  return a.numbers == b.numbers && a.block == b.block;
}

// Of a few numbers that another format leaves to travel: each on its own, or all together one block.
struct Numbers {
  Numbers(Wire wire) : wire(wire) {}
  Numbers(Quantizer quantizer) : is_quantized(true), quantizer(quantizer) {}

  bool is_quantized = false;
  Wire wire = Wire::kFp32;
  Quantizer quantizer = Quantizer::kInt8;
};

inline bool operator==(const Numbers& a, const Numbers& b) {
  return a.is_quantized == b.is_quantized && (a.is_quantized ? a.quantizer == b.quantizer : a.wire == b.wire);
}

std::string to_string(const Numbers& numbers);
// Of `count` numbers together.
std::int64_t numbers_bytes(const Numbers& numbers, std::int64_t count);

// Of each `chunk` columns the `kept` of largest magnitude, the others are zero: their values, then their
// places in the chunk with as few bits as those need, in ascending order (chunks of 4096 and 12 bits:
// SparseLoCo, arXiv 2508.15706, which keeps 64 and sends two_bit values). The last chunk may be shorter and
// keeps at most what it has.
struct TopK {
  int chunk = 4096;
  int kept = 128;
  Numbers values = Wire::kBf16;  // those of a chunk together
};

inline bool operator==(const TopK& a, const TopK& b) {
  return a.chunk == b.chunk && a.kept == b.kept && a.values == b.values;
}

// The `kept` largest coefficients of an orthonormal cosine transform (DCT-II) over both dimensions of each
// tile of a matrix: values, then places in the tile, as top-k of a chunk (DeMo, arXiv 2411.19870, which keeps
// 32 of 64 × 64). As in its authors' code a side of a tile is the largest divisor of the matrix's, at most
// `tile`, so that no tile is cut, and a vector has tiles [1, s]; a large prime has tiles of side 1. Without
// matrices, where no model is known, the columns are one vector whose tiles lie behind one another,
// row-major: of tile² columns while there are so many, then of whole rows, then what is left as one row.
struct DctTopK {
  int tile = 64;
  int kept = 32;
  Numbers values = Wire::kBf16;            // those of a tile together
  std::vector<MatrixShape> matrices = {};  // in the order of the columns, of which they have as many
};

inline bool operator==(const DctTopK& a, const DctTopK& b) {
  return a.tile == b.tile && a.kept == b.kept && a.values == b.values && a.matrices == b.matrices;
}

// Side by side tiles [height, width] of a matrix that they fill: `down` · `across` of them.
struct TileGrid {
  std::int64_t first = 0;  // column of the matrix's first element
  std::int64_t height = 0, width = 0, down = 0, across = 0;

  std::int64_t count() const { return down * across; }
  std::int64_t area() const { return height * width; }
};

// In the order of the message.
std::vector<TileGrid> tile_grids(const DctTopK& codec, std::int64_t columns);
std::int64_t tile_bytes(const DctTopK& codec, const TileGrid& grid);  // of one tile

// A matrix M [m, n] as P Qᵀ, P [m, rank] orthonormal and Q = Mᵀ P, by power iteration (PowerSGD, arXiv
// 1905.13727; DiLoCoX, arXiv 2506.21263, which sends int4 factors). Each direction, a column of P or of Q, is
// a row of numbers of its own: first those of P, then those of Q. What has no fewer numbers as factors, a
// vector always, travels plain.
struct LowRank {
  int rank = 4;
  std::variant<Wire, Quantized> factors = Wire::kBf16;
  Wire plain = Wire::kBf16;
  int iterations = 1;                      // P = orthonormal(M Q), Q = Mᵀ P
  std::vector<MatrixShape> matrices = {};  // in the order of the columns, of which they have as many

  bool is_plain(const MatrixShape& matrix) const {
    return matrix.rows * matrix.columns <= rank * (matrix.rows + matrix.columns);
  }
};

inline bool operator==(const LowRank& a, const LowRank& b) {
  return a.rank == b.rank && a.factors == b.factors && a.plain == b.plain && a.iterations == b.iterations &&
         a.matrices == b.matrices;
}

std::int64_t matrix_bytes(const LowRank& codec, const MatrixShape& matrix);

// Throws an InputError that says why a codec of matrices, low rank, cannot be had where none are known.
void check_matrices_known(const std::vector<MatrixShape>& matrices, const std::string& path);

// A share of the columns, drawn at random and the same for all who take part in an operation, so that a sum
// is as long as a message; the others are zero (SPARTA averages 0.5 % of the weights at a time). Of the first
// c columns ceil(c · share) travel. The draw is no part of the message: everybody makes it from the seed and
// the step (Operation::draw).
struct RandomMask {
  double share = 0.005;                                 // in (0, 1]
  std::variant<Wire, Quantized> numbers = Wire::kBf16;  // of those that travel, as a row of their own
};

inline bool operator==(const RandomMask& a, const RandomMask& b) {
  return a.share == b.share && a.numbers == b.numbers;
}

// How many of the first `columns` travel.
std::int64_t drawn_columns(const RandomMask& codec, std::int64_t columns);

// What becomes of the part of a row that a codec leaves out. Both keep a row e or g of their own.
//
//   kClassic  sends C(x + β e), e ← x + β e − sent (Seide et al. 2014; EF-SGD, arXiv 1901.09847, β = 1;
//             SparseLoCo, arXiv 2508.15706, β = 0.95)
//   kEf21     sends c = C(x − g), g ← g + c; those who receive add c up likewise (EF21, arXiv 2106.05203)
enum class Feedback { kNone, kClassic, kEf21 };

struct Codec {
  using Format = std::variant<Wire, Quantized, TopK, DctTopK, LowRank, RandomMask>;

  Codec() = default;
  Codec(Format format, Feedback feedback = Feedback::kNone, double decay = 1)
      : format(std::move(format)), feedback(feedback), decay(decay) {}

  Format format = Wire::kBf16;
  Feedback feedback = Feedback::kNone;
  double decay = 1;  // β of kClassic, in (0, 1]

  bool is_plain() const { return std::holds_alternative<Wire>(format) && feedback == Feedback::kNone; }
};

// Of a message of so many columns. Throws std::logic_error where a codec's matrices have not as many.
std::int64_t encoded_bytes(const Codec& codec, std::int64_t columns);

// Bits that say a place among so many: ceil(log2(count)).
int place_bits(std::int64_t count);
// Of `columns` columns of one chunk.
std::int64_t chunk_bytes(const TopK& codec, std::int64_t columns);

// "bf16", "int4 in blocks of 1024", "top-k 128 of 4096, bf16, error feedback".
std::string to_string(const Codec& codec);

Json to_json(const Codec& codec);
Codec codec_from(const Json& json);  // throws InputError for what is no codec

}  // namespace longhaul
