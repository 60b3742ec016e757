#include "trainer/replicas/wire_format.h"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace longhaul {
namespace {

std::uint32_t bits_of(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

float float_of(std::uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

std::uint16_t to_bf16(float value) {
  const std::uint32_t bits = bits_of(value);
  // A NaN keeps its quiet bit: rounding could carry it into an infinity.
  const std::uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16, quiet = bits >> 16 | 0x40;
  return static_cast<std::uint16_t>((bits & 0x7fffffff) > 0x7f800000 ? quiet : rounded);
}

float from_bf16(std::uint16_t value) {
  return float_of(static_cast<std::uint32_t>(value) << 16);
}

std::uint16_t to_fp16(float value) {
  const std::uint32_t bits = bits_of(value), magnitude = bits & 0x7fffffff;
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000);
  if (magnitude > 0x7f800000) return sign | 0x7e00;
  if (magnitude >= 0x477ff000) return sign | 0x7c00;  // 65520 and above
  if (magnitude < 0x38800000)  // below 2^-14: adding 0.5 leaves multiples of 2^-24 in the low bits
    return sign | static_cast<std::uint16_t>(bits_of(float_of(magnitude) + 0.5f) - bits_of(0.5f));
  const std::uint32_t rebased = magnitude - (112u << 23);  // exponent bias 127 to 15
  return sign | static_cast<std::uint16_t>((rebased + 0xfff + (rebased >> 13 & 1)) >> 13);
}

float from_fp16(std::uint16_t value) {
  const std::uint32_t sign = static_cast<std::uint32_t>(value & 0x8000) << 16, rest = value & 0x7fff;
  if (rest >= 0x7c00) return float_of(sign | 0x7f800000 | (rest & 0x3ff) << 13);
  if (rest < 0x400) return float_of(sign | bits_of(static_cast<float>(rest) * 0x1p-24f));
  return float_of(sign | ((rest << 13) + (112u << 23)));
}

}  // namespace

void round_to_wire(const float* in, float* out, std::int64_t count, Wire wire) {
  assert(wire != Wire::kInt8);
  if (wire == Wire::kBf16)
    for (std::int64_t i = 0; i < count; ++i) out[i] = from_bf16(to_bf16(in[i]));
  else if (wire == Wire::kFp16)
    for (std::int64_t i = 0; i < count; ++i) out[i] = from_fp16(to_fp16(in[i]));
  else if (in != out)
    std::copy(in, in + count, out);
}

std::vector<std::uint8_t> pack_row(const float* row, std::int64_t count, Wire wire) {
  assert(wire != Wire::kInt8);
  std::vector<std::uint8_t> packed(static_cast<std::size_t>(count * bytes_per_parameter(wire)));
  if (wire == Wire::kFp32) {
    std::memcpy(packed.data(), row, packed.size());
    return packed;
  }
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint16_t half = wire == Wire::kBf16 ? to_bf16(row[i]) : to_fp16(row[i]);
    std::memcpy(&packed[static_cast<std::size_t>(2 * i)], &half, 2);
  }
  return packed;
}

void unpack_row(const std::vector<std::uint8_t>& packed, std::int64_t begin, std::int64_t end, Wire wire,
                float* out) {
  const std::uint8_t* from = packed.data() + begin * bytes_per_parameter(wire);
  if (wire == Wire::kFp32) {
    std::memcpy(out, from, static_cast<std::size_t>(end - begin) * sizeof(float));
    return;
  }
  for (std::int64_t i = 0; i < end - begin; ++i) {
    std::uint16_t half;
    std::memcpy(&half, from + 2 * i, 2);
    out[i] = wire == Wire::kBf16 ? from_bf16(half) : from_fp16(half);
  }
}

}  // namespace longhaul
