// Narrow number formats, bit by bit, the same on the host and on a GPU. Rounding is to nearest, ties to even,
// as IEEE 754 has it: fp16 has subnormals and goes to infinity above 65504; bf16 is the upper half of a
// float32.
#pragma once

#include <cstdint>
#include <cstring>

#include "trainer/device/host_device.h"

namespace longhaul {

LONGHAUL_HOST_DEVICE inline std::uint32_t bits_of(float value) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

LONGHAUL_HOST_DEVICE inline float float_of(std::uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

LONGHAUL_HOST_DEVICE inline std::uint16_t to_bf16(float value) {
  const std::uint32_t bits = bits_of(value);
  // A NaN keeps its quiet bit: rounding could carry it into an infinity.
  const std::uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16, quiet = bits >> 16 | 0x40;
  return static_cast<std::uint16_t>((bits & 0x7fffffff) > 0x7f800000 ? quiet : rounded);
}

LONGHAUL_HOST_DEVICE inline float from_bf16(std::uint16_t value) {
  return float_of(static_cast<std::uint32_t>(value) << 16);
}

LONGHAUL_HOST_DEVICE inline std::uint16_t to_fp16(float value) {
  const std::uint32_t bits = bits_of(value), magnitude = bits & 0x7fffffff;
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000);
  if (magnitude > 0x7f800000) return sign | 0x7e00;
  if (magnitude >= 0x477ff000) return sign | 0x7c00;  // 65520 and above
  if (magnitude < 0x38800000)  // below 2^-14: adding 0.5 leaves multiples of 2^-24 in the low bits
    return sign | static_cast<std::uint16_t>(bits_of(float_of(magnitude) + 0.5f) - bits_of(0.5f));
  const std::uint32_t rebased = magnitude - (112u << 23);  // exponent bias 127 to 15
  return sign | static_cast<std::uint16_t>((rebased + 0xfff + (rebased >> 13 & 1)) >> 13);
}

LONGHAUL_HOST_DEVICE inline float from_fp16(std::uint16_t value) {
  const std::uint32_t sign = static_cast<std::uint32_t>(value & 0x8000) << 16, rest = value & 0x7fff;
  if (rest >= 0x7c00) return float_of(sign | 0x7f800000 | (rest & 0x3ff) << 13);
  if (rest < 0x400) return float_of(sign | bits_of(static_cast<float>(rest) * 0x1p-24f));
  return float_of(sign | ((rest << 13) + (112u << 23)));
}

// A bf16 number in memory.
struct Bf16 {
  std::uint16_t bits;
};

LONGHAUL_HOST_DEVICE inline float load(const float& from) {
  return from;
}
LONGHAUL_HOST_DEVICE inline float load(const Bf16& from) {
  return from_bf16(from.bits);
}
LONGHAUL_HOST_DEVICE inline void store(float& to, float value) {
  to = value;
}
LONGHAUL_HOST_DEVICE inline void store(Bf16& to, float value) {
  to.bits = to_bf16(value);
}

}  // namespace longhaul
