// Formats of numbers: each on its own (Wire), or those of a block together (Quantizer), and what their codes
// take. Parser, `list`, schema, words and lengths of a quantizer come from its row of the table here; its
// arithmetic is in trainer/codecs/quantize.h.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/base/model_shape.h"
#include "core/base/options.h"
#include "core/base/words.h"

namespace longhaul {

// IEEE 754 single and half precision, the upper half of a single, one byte. int8 has no scale here and is not
// trained with.
enum class Wire { kFp32, kBf16, kFp16, kInt8 };
template <>
struct Words<Wire> {
  static constexpr Word<Wire> all[] = {
      {Wire::kFp32, "fp32"}, {Wire::kBf16, "bf16"}, {Wire::kFp16, "fp16"}, {Wire::kInt8, "int8"}};
};

// A block is what its numbers share (a scale, or levels), then a code of a few bits each. One with a NaN or
// an infinity is decoded as NaN throughout.
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

struct QuantizerFacts : Word<Quantizer> {
  int bits;              // of a code
  int shared_bytes = 4;  // of a scale in fp32, or of four levels
  int largest = 0;       // L of whole numbers; 0: the codes are none
};
template <>
struct Words<Quantizer> {
  static constexpr QuantizerFacts all[] = {
      // code = round(x / s), ties to even, in ±L, L = 2^(bits − 1) − 1; s = max |x| / L
      {{Quantizer::kInt8, "int8"}, 8, 4, 127},
      {{Quantizer::kInt4, "int4"}, 4, 4, 7},
      // A sign, three bits of exponent, no mantissa: 0 and ±s·2^-6 … ±s·2^0, the nearest in value, a tie to
      // the larger magnitude; s = max |x|. The format is Streaming DiLoCo's (arXiv 2501.18512), which does
      // not say how it is scaled: the scale is ours.
      {{Quantizer::kE3m0, "e3m0"}, 4},
      // Four bins: numbers below zero and the others, each cut at their median. A bin is decoded as the mean
      // of the numbers in it, in bf16. Made for what top-k keeps, which has a hole at zero (SparseLoCo's 2
      // bits, arXiv 2508.15706).
      {{Quantizer::kTwoBit, "two_bit"}, 2, 4 * 2},
      // ±s, s = sqrt(mean x²): as long as what it stands for (1-bit Adam, arXiv 2102.02888)
      {{Quantizer::kSign, "sign"}, 1},
      {{Quantizer::kInt7, "int7"}, 7, 4, 63},
      {{Quantizer::kInt6, "int6"}, 6, 4, 31},
      {{Quantizer::kInt5, "int5"}, 5, 4, 15},
      {{Quantizer::kInt3, "int3"}, 3, 4, 3},
      {{Quantizer::kInt2, "int2"}, 2, 4, 1},
      // two_bit with the bins of SparseLoCo's code: bin round(4 (x − mean) / 6σ) in −2 … 1, σ the standard
      // deviation with n − 1; means in fp32. Its code takes both of a tensor; here they are of a block.
      {{Quantizer::kTwoBitSixSigma, "two_bit_six_sigma"}, 2, 4 * 4}};
};

constexpr const QuantizerFacts& facts_of(Quantizer quantizer) {
  const QuantizerFacts* facts = Words<Quantizer>::all;
  while (facts->value != quantizer) ++facts;
  return *facts;
}

// Whole numbers of so many bits.
constexpr int kFewestWholeBits = 2, kMostWholeBits = 8;
Quantizer whole_quantizer(int bits);  // throws std::logic_error beyond these

inline std::string to_string(Wire wire) {
  return word_of(wire);
}
inline std::string to_string(Quantizer quantizer) {
  return word_of(quantizer);
}
int bytes_per_parameter(Wire wire);

// Of a few numbers that another format leaves to travel: each on its own, or all together one block.
struct Numbers {
  Numbers(Wire wire) : wire(wire) {}
  Numbers(Quantizer quantizer) : is_quantized(true), quantizer(quantizer) {}

  static Node option(const char* key, std::string fallback);  // "wire", or a quantizer
  static Numbers from_option(const Json& word, Wire wire);
  static Numbers from_json(const Json& json);  // one of its keys "numbers" and "quantizer"
  void add_to(Json& json) const { json[is_quantized ? "quantizer" : "numbers"] = words(); }
  std::string words() const { return is_quantized ? word_of(quantizer) : word_of(wire); }
  std::int64_t bytes(std::int64_t count) const;  // of so many together

  bool is_quantized = false;
  Wire wire = Wire::kFp32;
  Quantizer quantizer = Quantizer::kInt8;
};

// The matrices of some columns of a model, in order; empty if it has no shape. Throws std::logic_error if the
// columns cut a matrix.
using MatricesOf = std::function<std::vector<MatrixShape>()>;

// What a codec of an option is for.
struct CodecColumns {
  Wire wire = Wire::kBf16;  // of what is not compressed
  MatricesOf matrices;
};

// Two of a format are equal where their JSON is.
template <typename Format, typename = decltype(Format::kOption)>
bool operator==(const Format& a, const Format& b) {
  return a.json() == b.json();
}

// For reading the JSON of a codec: all throw InputError below "codec".
[[noreturn]] void refuse_codec(const std::string& key, const Json& found, const std::string& allowed);
int codec_count(const Json& json, const std::string& key);
std::vector<MatrixShape> codec_matrices(const Json& json);
Json json_of(const std::vector<MatrixShape>& matrices);

// The sum over pieces of `piece` columns, and what is left after them.
template <typename Bytes>
std::int64_t bytes_in_pieces(std::int64_t columns, std::int64_t piece, const Bytes& bytes) {
  return columns / piece * bytes(piece) + bytes(columns % piece);
}

// Of the `kept` largest of so many: their values, then their places with as few bits as those need.
std::int64_t largest_bytes(const Numbers& values, std::int64_t kept, std::int64_t count, std::int64_t places);
// Bits that say a place among so many: ceil(log2(count)).
int place_bits(std::int64_t count);

std::string percent_words(double share);  // "a random 0.5 %"

// Throws std::logic_error where the matrices have not so many columns.
void check_size(const std::vector<MatrixShape>& matrices, std::int64_t columns);

}  // namespace longhaul
