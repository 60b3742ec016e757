// The arithmetic of the quantizers on one block (core/codecs/codec.h has the equations and the sources), the
// same bits on the host and on a GPU: sums go in the order of the columns, in float64, and nothing is
// contracted.
//
// A block in a message: what its columns share (a scale in fp32, or four levels in bf16), little end first,
// then the codes, the lowest bit first, filled up to a whole byte. int8 to int2 are in two's complement; a
// code of e3m0 is the exponent, 1 … 7 for 2^-6 … 2^0 and 0 for zero, below the sign; of both two_bit formats
// it is the bin, in ascending order; of sign it is 1 where the value is negative.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "core/codecs/codec.h"
#include "trainer/codecs/bit_stream.h"
#include "trainer/codecs/number_formats.h"
#include "trainer/codecs/selection.h"
#include "trainer/device/host_device.h"

namespace longhaul {

// Numbers with what a GPU cannot look up.
struct NumberCode {
  explicit NumberCode(const Numbers& numbers)
      : numbers(numbers),
        shared(numbers.is_quantized ? shared_bytes(numbers.quantizer) : 0),
        bits(numbers.is_quantized ? code_bits(numbers.quantizer) : 8 * bytes_per_parameter(numbers.wire)),
        largest(numbers.is_quantized ? largest_whole(numbers.quantizer) : 0) {}

  LONGHAUL_HOST_DEVICE std::int64_t bytes(std::int64_t count) const {
    return count == 0 ? 0 : shared + (count * bits + 7) / 8;
  }

  Numbers numbers;
  int shared, bits;
  std::int32_t largest;  // of whole numbers; 0: the codes are something else
};

// The numbers of a block as they lie in memory.
struct InOrder {
  const float* values;
  LONGHAUL_HOST_DEVICE float operator()(std::int64_t i) const { return values[i]; }
};

template <typename Values>
LONGHAUL_HOST_DEVICE bool is_all_finite(const Values& at, std::int64_t count) {
  bool finite = true;
  for (std::int64_t i = 0; i < count; ++i) finite &= (bits_of(at(i)) & 0x7fffffffu) < 0x7f800000u;
  return finite;
}

template <typename Values>
LONGHAUL_HOST_DEVICE float largest_magnitude(const Values& at, std::int64_t count) {
  std::uint32_t largest = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint32_t uint32_t_here = bits_of(at(i)) & 0x7fffffffu;
    if (uint32_t_here > largest) largest = uint32_t_here;
  }
  return float_of(largest);
}

template <typename Values>
LONGHAUL_HOST_DEVICE float mean_magnitude(const Values& at, std::int64_t count) {
  double sum = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += double{float_of(bits_of(at(i)) & 0x7fffffffu)};
  return static_cast<float>(sum / static_cast<double>(count));
}

// To the nearest whole number, ties to even; |value| < 2^31. The sum has no bits for fractions.
LONGHAUL_HOST_DEVICE inline std::int32_t round_to_whole(double value) {
  constexpr double kNoFractions = 0x1.8p52;
  return static_cast<std::int32_t>((value + kNoFractions) - kNoFractions);
}

// A scale may be so small that it is rounded itself, down to nothing.
LONGHAUL_HOST_DEVICE inline std::int32_t whole_code(float value, float scale, std::int32_t largest) {
  if (!(scale > 0)) return 0;
  const std::int32_t code = round_to_whole(double{value} / double{scale});
  return code > largest ? largest : code < -largest ? -largest : code;
}

LONGHAUL_HOST_DEVICE inline std::uint32_t e3m0_code(float value, float scale) {
  const double magnitude = value < 0 ? -double{value} : double{value};
  if (!(scale > 0) || !(magnitude >= 0x1p-7 * double{scale})) return 0;
  std::uint32_t exponent = 1;
  for (double middle = 0.75 * 0x1p-5 * double{scale}; exponent < 7 && magnitude >= middle; middle *= 2)
    ++exponent;
  return value < 0 ? exponent | 8 : exponent;
}

LONGHAUL_HOST_DEVICE inline float e3m0_value(std::uint32_t code, float scale) {
  const std::uint32_t exponent = code & 7;
  if (exponent == 0) return 0 * scale;  // NaN in a block that has one
  // 2^(exponent - 7): its biased exponent is 120 + exponent.
  const float magnitude = scale * float_of((120 + exponent) << 23);
  return code & 8 ? -magnitude : magnitude;
}

LONGHAUL_HOST_DEVICE inline void write_float(std::uint8_t* out, float value) {
  const std::uint32_t bits = bits_of(value);
  memcpy(out, &bits, 4);
}

LONGHAUL_HOST_DEVICE inline float read_float(const std::uint8_t* from) {
  std::uint32_t bits;
  memcpy(&bits, from, 4);
  return float_of(bits);
}

LONGHAUL_HOST_DEVICE inline float read_half(const std::uint8_t* from, Wire wire) {
  std::uint16_t half;
  memcpy(&half, from, 2);
  return wire == Wire::kBf16 ? from_bf16(half) : from_fp16(half);
}

LONGHAUL_HOST_DEVICE inline void write_half(std::uint8_t* out, std::uint16_t half) {
  memcpy(out, &half, 2);
}

template <typename Values>
struct KeysOf {
  const Values& at;
  LONGHAUL_HOST_DEVICE std::uint32_t operator()(std::int64_t i) const { return value_key(at(i)); }
};

// The bins of kTwoBit: numbers below zero and the others, each cut at the smaller median of their magnitudes.
// A side whose numbers are all equal has one bin.
class SignBins {
 public:
  template <typename Values>
  LONGHAUL_HOST_DEVICE SignBins(const Values& at, std::int64_t count) {
    std::int64_t negative = 0;
    for (std::int64_t i = 0; i < count; ++i) negative += at(i) < 0;
    if (negative > 0) lower_ = at_place(at, count, negative / 2);
    if (negative < count) upper_ = at_place(at, count, negative + (count - negative - 1) / 2);
  }

  LONGHAUL_HOST_DEVICE int operator()(float value) const {
    return value < 0 ? value >= lower_ : 2 + (value > upper_);
  }

 private:
  template <typename Values>
  LONGHAUL_HOST_DEVICE static float at_place(const Values& at, std::int64_t count, std::int64_t place) {
    return value_of_key(select_key(KeysOf<Values>{at}, count, place).key);
  }

  float lower_ = 0, upper_ = 0;
};

// The bins of kTwoBitSixSigma: round(4 (x − mean) / (6 σ)), ties to even, in −2 … 1.
class SixSigmaBins {
 public:
  template <typename Values>
  LONGHAUL_HOST_DEVICE SixSigmaBins(const Values& at, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) mean_ += double{at(i)};
    mean_ /= static_cast<double>(count);
    double squares = 0;
    for (std::int64_t i = 0; i < count; ++i) squares += (double{at(i)} - mean_) * (double{at(i)} - mean_);
    if (squares > 0) width_ = 1.5 * sqrt(squares / static_cast<double>(count - 1));
  }

  LONGHAUL_HOST_DEVICE int operator()(float value) const {
    const std::int32_t bin = 2 + round_to_whole((double{value} - mean_) / width_);
    return bin < 0 ? 0 : bin > 3 ? 3 : bin;
  }

 private:
  double mean_ = 0, width_ = 1;
};

template <typename Bins, typename Values>
LONGHAUL_HOST_DEVICE void encode_bins(const Values& at, std::int64_t count, bool finite, std::uint8_t* out) {
  double sums[4] = {0, 0, 0, 0};
  std::int64_t members[4] = {0, 0, 0, 0};
  const Bins bin_of(at, count);
  BitWriter codes(out + 8);
  for (std::int64_t i = 0; i < count; ++i) {
    const int bin = finite ? bin_of(at(i)) : 0;
    sums[bin] += double{at(i)};
    ++members[bin];
    codes.put(static_cast<std::uint32_t>(bin), 2);
  }
  codes.finish();
  for (int bin = 0; bin < 4; ++bin) {
    const double mean = members[bin] ? sums[bin] / static_cast<double>(members[bin]) : 0;
    write_half(out + 2 * bin, finite ? to_bf16(static_cast<float>(mean)) : 0x7fc0);
  }
}

// out: NumberCode::bytes(count) bytes.
template <typename Values>
LONGHAUL_HOST_DEVICE void quantize_block(const NumberCode& code, const Values& at, std::int64_t count,
                                         std::uint8_t* out) {
  const Quantizer quantizer = code.numbers.quantizer;
  const bool finite = is_all_finite(at, count);
  if (quantizer == Quantizer::kTwoBit) return encode_bins<SignBins>(at, count, finite, out);
  if (quantizer == Quantizer::kTwoBitSixSigma) return encode_bins<SixSigmaBins>(at, count, finite, out);
  float scale = quantizer == Quantizer::kSign ? mean_magnitude(at, count) : largest_magnitude(at, count);
  if (code.largest > 0) scale /= static_cast<float>(code.largest);
  if (!finite) scale = float_of(0x7fc00000);
  write_float(out, scale);
  BitWriter codes(out + 4);
  for (std::int64_t i = 0; i < count; ++i) {
    const float value = at(i);
    switch (quantizer) {
      case Quantizer::kE3m0:
        codes.put(e3m0_code(value, scale), 4);
        break;
      case Quantizer::kSign:
        codes.put(value < 0, 1);
        break;
      default:
        codes.put(static_cast<std::uint32_t>(whole_code(value, scale, code.largest)) &
                      ((std::uint32_t{1} << code.bits) - 1),
                  code.bits);
    }
  }
  codes.finish();
}

// at(0) … at(count - 1) into code.bytes(count) bytes.
template <typename Values>
LONGHAUL_HOST_DEVICE void write_numbers(const NumberCode& code, const Values& at, std::int64_t count,
                                        std::uint8_t* out) {
  if (count == 0) return;
  if (code.numbers.is_quantized) return quantize_block(code, at, count, out);
  for (std::int64_t i = 0; i < count; ++i) {
    if (code.numbers.wire == Wire::kFp32)
      write_float(out + 4 * i, at(i));
    else
      write_half(out + 2 * i, code.numbers.wire == Wire::kBf16 ? to_bf16(at(i)) : to_fp16(at(i)));
  }
}

// Numbers that write_numbers() wrote.
class NumberReader {
 public:
  LONGHAUL_HOST_DEVICE NumberReader(const NumberCode& code, const std::uint8_t* from)
      : code_(code), codes_(from + code.shared) {
    if (!code.numbers.is_quantized) return;
    if (code.bits == 2 && code.largest == 0)
      for (int bin = 0; bin < 4; ++bin) shared_[bin] = read_half(from + 2 * bin, Wire::kBf16);
    else
      shared_[0] = read_float(from);
  }

  LONGHAUL_HOST_DEVICE float operator()(std::int64_t i) const {
    if (!code_.numbers.is_quantized)
      return code_.numbers.wire == Wire::kFp32 ? read_float(codes_ + 4 * i)
                                               : read_half(codes_ + 2 * i, code_.numbers.wire);
    const float scale = shared_[0];
    switch (code_.numbers.quantizer) {
      case Quantizer::kInt8:
        return static_cast<float>(static_cast<std::int8_t>(codes_[i])) * scale;
      case Quantizer::kInt4: {
        const auto nibble = static_cast<std::int32_t>(codes_[i / 2] >> i % 2 * 4 & 0xf);
        return static_cast<float>(nibble < 8 ? nibble : nibble - 16) * scale;
      }
      case Quantizer::kE3m0:
        return e3m0_value(codes_[i / 2] >> i % 2 * 4 & 0xf, scale);
      case Quantizer::kTwoBit:
      case Quantizer::kTwoBitSixSigma:
        return shared_[codes_[i / 4] >> i % 4 * 2 & 3];
      case Quantizer::kSign:
        return codes_[i / 8] >> i % 8 & 1 ? -scale : scale;
      default: {
        const auto whole = static_cast<std::int32_t>(code_at(codes_, i, code_.bits));
        return static_cast<float>(whole > code_.largest ? whole - (std::int32_t{1} << code_.bits) : whole) *
               scale;
      }
    }
  }

 private:
  const NumberCode& code_;
  const std::uint8_t* codes_;
  float shared_[4] = {0, 0, 0, 0};
};

}  // namespace longhaul
