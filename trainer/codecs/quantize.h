// The arithmetic of the quantizers on one block (core/codecs/numbers.h has the equations and the sources),
// the same bits on the host and on a GPU: sums go in the order of the columns, in float64, and nothing is
// contracted. A quantizer is a struct here, and joins the list Quantizers.
//
// A block in a message: what its columns share (a scale in fp32, or levels), little end first, then
// the codes, the lowest bit first, filled up to a whole byte. Whole numbers are in two's complement; a code
// of e3m0 is the exponent, 1 … 7 for 2^-6 … 2^0 and 0 for zero, below the sign; of both two_bit formats it is
// the bin, in ascending order; of sign it is 1 where the value is negative.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "core/codecs/quantized.h"
#include "trainer/codecs/number_formats.h"
#include "trainer/codecs/pieces.h"
#include "trainer/device/host_device.h"

namespace longhaul {

// Values: a pointer to the numbers of a block, or a type with operator[].
template <typename Values>
LONGHAUL_HOST_DEVICE bool is_all_finite(const Values& at, std::int64_t count) {
  bool finite = true;
  for (std::int64_t i = 0; i < count; ++i) finite &= (bits_of(at[i]) & 0x7fffffffu) < 0x7f800000u;
  return finite;
}

template <typename Values>
LONGHAUL_HOST_DEVICE float largest_magnitude(const Values& at, std::int64_t count) {
  std::uint32_t largest = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint32_t uint32_t_here = bits_of(at[i]) & 0x7fffffffu;
    if (uint32_t_here > largest) largest = uint32_t_here;
  }
  return float_of(largest);
}

template <typename Values>
LONGHAUL_HOST_DEVICE float root_mean_square(const Values& at, std::int64_t count) {
  double sum = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += double{at[i]} * double{at[i]};
  return static_cast<float>(sqrt(sum / static_cast<double>(count)));
}

// To the nearest whole number, ties to even; |value| < 2^31. The sum has no bits for fractions.
LONGHAUL_HOST_DEVICE inline std::int32_t round_to_whole(double value) {
  constexpr double kNoFractions = 0x1.8p52;
  return static_cast<std::int32_t>((value + kNoFractions) - kNoFractions);
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
  LONGHAUL_HOST_DEVICE std::uint32_t operator()(std::int64_t i) const { return value_key(at[i]); }
};

// Quantizers with a scale s: scale(…) of a block, code(x, s), and value(code, s). A scale may be so small
// that it is rounded itself, down to nothing.
template <Quantizer kQuantizer>
struct WholeNumbers {
  static constexpr Quantizer kIs = kQuantizer;
  static constexpr int kBits = facts_of(kQuantizer).bits;
  static constexpr std::int32_t kLargest = facts_of(kQuantizer).largest;

  template <typename Values>
  LONGHAUL_HOST_DEVICE static float scale(const Values& at, std::int64_t count) {
    return largest_magnitude(at, count) / static_cast<float>(kLargest);
  }
  LONGHAUL_HOST_DEVICE static std::uint32_t code(float value, float scale) {
    if (!(scale > 0)) return 0;
    const std::int32_t whole = round_to_whole(double{value} / double{scale});
    const std::int32_t cut = whole > kLargest ? kLargest : whole < -kLargest ? -kLargest : whole;
    return static_cast<std::uint32_t>(cut) & ((std::uint32_t{1} << kBits) - 1);
  }
  LONGHAUL_HOST_DEVICE static float value(std::uint32_t code, float scale) {
    const auto whole = static_cast<std::int32_t>(code);
    return static_cast<float>(whole > kLargest ? whole - (1 << kBits) : whole) * scale;
  }
};

struct E3m0 {
  static constexpr Quantizer kIs = Quantizer::kE3m0;

  template <typename Values>
  LONGHAUL_HOST_DEVICE static float scale(const Values& at, std::int64_t count) {
    return largest_magnitude(at, count);
  }
  LONGHAUL_HOST_DEVICE static std::uint32_t code(float value, float scale) {
    const double magnitude = value < 0 ? -double{value} : double{value};
    if (!(scale > 0) || !(magnitude >= 0x1p-7 * double{scale})) return 0;
    std::uint32_t exponent = 1;
    for (double middle = 0.75 * 0x1p-5 * double{scale}; exponent < 7 && magnitude >= middle; middle *= 2)
      ++exponent;
    return value < 0 ? exponent | 8 : exponent;
  }
  LONGHAUL_HOST_DEVICE static float value(std::uint32_t code, float scale) {
    const std::uint32_t exponent = code & 7;
    if (exponent == 0) return 0 * scale;  // NaN in a block that has one
    // 2^(exponent - 7): its biased exponent is 120 + exponent.
    const float magnitude = scale * float_of((120 + exponent) << 23);
    return code & 8 ? -magnitude : magnitude;
  }
};

struct Sign {
  static constexpr Quantizer kIs = Quantizer::kSign;

  template <typename Values>
  LONGHAUL_HOST_DEVICE static float scale(const Values& at, std::int64_t count) {
    return root_mean_square(at, count);
  }
  LONGHAUL_HOST_DEVICE static std::uint32_t code(float value, float) { return value < 0; }
  LONGHAUL_HOST_DEVICE static float value(std::uint32_t code, float scale) { return code ? -scale : scale; }
};

// The bins of two_bit: numbers below zero and the others, each cut at the smaller median of their magnitudes.
// A side whose numbers are all equal has one bin.
class SignBins {
 public:
  static constexpr Quantizer kIs = Quantizer::kTwoBit;

  template <typename Values>
  LONGHAUL_HOST_DEVICE SignBins(const Values& at, std::int64_t count) {
    std::int64_t negative = 0;
    for (std::int64_t i = 0; i < count; ++i) negative += at[i] < 0;
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

// The bins of two_bit_six_sigma: round(4 (x − mean) / (6 σ)), ties to even, in −2 … 1.
class SixSigmaBins {
 public:
  static constexpr Quantizer kIs = Quantizer::kTwoBitSixSigma;

  template <typename Values>
  LONGHAUL_HOST_DEVICE SixSigmaBins(const Values& at, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) mean_ += double{at[i]};
    mean_ /= static_cast<double>(count);
    double squares = 0;
    for (std::int64_t i = 0; i < count; ++i) squares += (double{at[i]} - mean_) * (double{at[i]} - mean_);
    if (squares > 0) width_ = 1.5 * sqrt(squares / static_cast<double>(count - 1));
  }

  LONGHAUL_HOST_DEVICE int operator()(float value) const {
    const std::int32_t bin = 2 + round_to_whole((double{value} - mean_) / width_);
    return bin < 0 ? 0 : bin > 3 ? 3 : bin;
  }

 private:
  double mean_ = 0, width_ = 1;
};

// The arithmetic of numbers: write(at, count, out); for_each(from, begin, end, work) calls work(i, number i).

template <typename Format>
struct WithScale {
  static constexpr Quantizer kIs = Format::kIs;
  static constexpr int kBits = facts_of(kIs).bits;

  template <typename Values>
  LONGHAUL_HOST_DEVICE static void write(const Values& at, std::int64_t count, std::uint8_t* out) {
    const float scale = is_all_finite(at, count) ? Format::scale(at, count) : float_of(0x7fc00000);
    write_float(out, scale);
    BitWriter codes(out + 4);
    for (std::int64_t i = 0; i < count; ++i) codes.put(Format::code(at[i], scale), kBits);
    codes.finish();
  }
  template <typename Work>
  LONGHAUL_HOST_DEVICE static void for_each(const std::uint8_t* from, std::int64_t begin, std::int64_t end,
                                            const Work& work) {
    const float scale = read_float(from);
    for (std::int64_t i = begin; i < end; ++i) work(i, Format::value(code_at(from + 4, i, kBits), scale));
  }
};

// Numbers of the wire.
struct EachAlone {
  Wire wire;

  template <typename Values>
  LONGHAUL_HOST_DEVICE void write(const Values& at, std::int64_t count, std::uint8_t* out) const {
    for (std::int64_t i = 0; i < count; ++i) {
      if (wire == Wire::kFp32)
        write_float(out + 4 * i, at[i]);
      else
        write_half(out + 2 * i, wire == Wire::kBf16 ? to_bf16(at[i]) : to_fp16(at[i]));
    }
  }
  template <typename Work>
  LONGHAUL_HOST_DEVICE void for_each(const std::uint8_t* from, std::int64_t begin, std::int64_t end,
                                     const Work& work) const {
    for (std::int64_t i = begin; i < end; ++i)
      work(i, wire == Wire::kFp32 ? read_float(from + 4 * i) : read_half(from + 2 * i, wire));
  }
};

template <typename Number>
struct StoreFrom {
  std::int64_t begin;
  Number* out;

  LONGHAUL_HOST_DEVICE void operator()(std::int64_t i, float value) const {
    out[i - begin] = static_cast<Number>(value);
  }
};

// Bins(at, count)(x) in 0 … 3; a bin is decoded as the mean of what is in it.
template <typename Bins>
struct FourBins {
  static constexpr Quantizer kIs = Bins::kIs;
  static constexpr int kShared = facts_of(kIs).shared_bytes;
  static constexpr Wire kLevels = kShared == 16 ? Wire::kFp32 : Wire::kBf16;

  template <typename Values>
  LONGHAUL_HOST_DEVICE static void write(const Values& at, std::int64_t count, std::uint8_t* out) {
    const bool finite = is_all_finite(at, count);
    double sums[4] = {0, 0, 0, 0};
    std::int64_t members[4] = {0, 0, 0, 0};
    const Bins bin_of(at, count);
    BitWriter codes(out + kShared);
    for (std::int64_t i = 0; i < count; ++i) {
      const int bin = finite ? bin_of(at[i]) : 0;
      sums[bin] += double{at[i]};
      ++members[bin];
      codes.put(static_cast<std::uint32_t>(bin), 2);
    }
    codes.finish();
    float levels[4];
    for (int bin = 0; bin < 4; ++bin) {
      const double mean = members[bin] ? sums[bin] / static_cast<double>(members[bin]) : 0;
      levels[bin] = finite ? static_cast<float>(mean) : float_of(0x7fc00000);
    }
    EachAlone{kLevels}.write(levels, 4, out);
  }
  template <typename Work>
  LONGHAUL_HOST_DEVICE static void for_each(const std::uint8_t* from, std::int64_t begin, std::int64_t end,
                                            const Work& work) {
    float levels[4];
    EachAlone{kLevels}.for_each(from, 0, 4, StoreFrom<float>{0, levels});
    for (std::int64_t i = begin; i < end; ++i) work(i, levels[code_at(from + kShared, i, 2)]);
  }
};

template <typename... Arithmetic>
struct ListOf {};
using Quantizers =
    ListOf<WithScale<WholeNumbers<Quantizer::kInt8>>, WithScale<WholeNumbers<Quantizer::kInt7>>,
           WithScale<WholeNumbers<Quantizer::kInt6>>, WithScale<WholeNumbers<Quantizer::kInt5>>,
           WithScale<WholeNumbers<Quantizer::kInt4>>, WithScale<WholeNumbers<Quantizer::kInt3>>,
           WithScale<WholeNumbers<Quantizer::kInt2>>, WithScale<E3m0>, WithScale<Sign>, FourBins<SignBins>,
           FourBins<SixSigmaBins>>;

template <typename Work, typename... Arithmetic>
LONGHAUL_HOST_DEVICE void with_quantizer(Quantizer quantizer, const Work& work, ListOf<Arithmetic...>) {
  static_assert(sizeof...(Arithmetic) == sizeof(Words<Quantizer>::all) / sizeof(QuantizerFacts),
                "each quantizer has its arithmetic");
  (void)((quantizer == Arithmetic::kIs && (work(Arithmetic()), true)) || ...);
}

template <typename Values>
struct WriteNumbers {
  const Values& at;
  std::int64_t count;
  std::uint8_t* out;

  template <typename Arithmetic>
  LONGHAUL_HOST_DEVICE void operator()(const Arithmetic& arithmetic) const {
    arithmetic.write(at, count, out);
  }
};

template <typename Work>
struct ReadNumbers {
  const std::uint8_t* from;
  std::int64_t begin, end;
  const Work& work;

  template <typename Arithmetic>
  LONGHAUL_HOST_DEVICE void operator()(const Arithmetic& arithmetic) const {
    arithmetic.for_each(from, begin, end, work);
  }
};

// Numbers with what a GPU cannot look up; those of a block, or as many of a wire as are coded at a time.
struct NumberCode {
  explicit NumberCode(const Numbers& numbers)
      : numbers(numbers),
        shared(numbers.is_quantized ? facts_of(numbers.quantizer).shared_bytes : 0),
        bits(numbers.is_quantized ? facts_of(numbers.quantizer).bits
                                  : 8 * bytes_per_parameter(numbers.wire)) {}

  LONGHAUL_HOST_DEVICE std::int64_t bytes(std::int64_t count) const {
    return count == 0 ? 0 : shared + (count * bits + 7) / 8;
  }
  // at[0] … at[count - 1] into bytes(count) bytes.
  template <typename Values>
  LONGHAUL_HOST_DEVICE void write(const Values& at, std::int64_t count, std::uint8_t* out) const {
    if (count > 0) with_arithmetic(WriteNumbers<Values>{at, count, out});
  }
  // work(i, number i) for i in [begin, end).
  template <typename Work>
  LONGHAUL_HOST_DEVICE void for_each(const std::uint8_t* from, std::int64_t begin, std::int64_t end,
                                     const Work& work) const {
    with_arithmetic(ReadNumbers<Work>{from, begin, end, work});
  }
  template <typename Number>
  LONGHAUL_HOST_DEVICE void read(const std::uint8_t* from, std::int64_t, std::int64_t begin, std::int64_t end,
                                 Number* out) const {
    for_each(from, begin, end, StoreFrom<Number>{begin, out});
  }

  template <typename Work>
  LONGHAUL_HOST_DEVICE void with_arithmetic(const Work& work) const {
    if (numbers.is_quantized)
      with_quantizer(numbers.quantizer, work, Quantizers());
    else
      work(EachAlone{numbers.wire});
  }

  Numbers numbers;
  int shared, bits;
};

inline PiecesOfRow<NumberCode> pieces_of(const Quantized& format) {
  return {NumberCode(format.numbers), format.block};
}

}  // namespace longhaul
