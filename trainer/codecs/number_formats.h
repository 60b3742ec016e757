// Numbers bit by bit, the same on the host and on a GPU. Narrow formats round to nearest, ties to even, as
// IEEE 754 has it: fp16 has subnormals and goes to infinity above 65504; bf16 is the upper half of a float32.
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

// Codes of a few bits one after the other, the lowest bit first.

// Whole bytes only; finish() fills up the last one with zeros.
class BitWriter {
 public:
  LONGHAUL_HOST_DEVICE explicit BitWriter(std::uint8_t* out) : out_(out) {}

  // bits: at most 24; code < 2^bits.
  LONGHAUL_HOST_DEVICE void put(std::uint32_t code, int bits) {
    held_ |= code << filled_;
    for (filled_ += bits; filled_ >= 8; filled_ -= 8) {
      *out_++ = static_cast<std::uint8_t>(held_);
      held_ >>= 8;
    }
  }
  LONGHAUL_HOST_DEVICE void finish() {
    if (filled_ > 0) *out_ = static_cast<std::uint8_t>(held_);
  }

 private:
  std::uint8_t* out_;
  std::uint32_t held_ = 0;
  int filled_ = 0;
};

// Code `index` of codes of `bits` (at most 24) each; reads no byte behind it.
LONGHAUL_HOST_DEVICE inline std::uint32_t code_at(const std::uint8_t* bytes, std::int64_t index, int bits) {
  const std::int64_t first = index * bits;
  const std::uint8_t* at = bytes + first / 8;
  const int before = static_cast<int>(first % 8);
  std::uint32_t value = 0;
  for (int have = 0; have < before + bits; have += 8) value |= std::uint32_t{*at++} << have;
  return value >> before & ((std::uint32_t{1} << bits) - 1);
}

// Order statistics of float32 without a copy, the same on the host and on a GPU: a radix select over keys of
// 32 bits that are ordered like the numbers. Four passes over them, 256 counters on the stack.

// Ascending with the value; not for NaN. -0 comes right before 0.
LONGHAUL_HOST_DEVICE inline std::uint32_t value_key(float value) {
  const std::uint32_t bits = bits_of(value);
  return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}

LONGHAUL_HOST_DEVICE inline float value_of_key(std::uint32_t key) {
  return float_of(key & 0x80000000u ? key & 0x7fffffffu : ~key);
}

// Ascending with the magnitude; a NaN counts as infinite.
LONGHAUL_HOST_DEVICE inline std::uint32_t magnitude_key(float value) {
  const std::uint32_t bits = bits_of(value) & 0x7fffffffu;
  return bits > 0x7f800000u ? 0x7f800000u : bits;
}

struct Selected {
  std::uint32_t key;
  std::int64_t below;  // keys that are smaller
};

// The key at place `rank` (0: the smallest) if key(0) … key(count - 1) were sorted.
template <typename Key>
LONGHAUL_HOST_DEVICE Selected select_key(const Key& key, std::int64_t count, std::int64_t rank) {
  std::uint32_t found = 0;
  std::int64_t below = 0;
  for (int shift = 24; shift >= 0; shift -= 8) {
    std::int32_t counters[256];
    for (int digit = 0; digit < 256; ++digit) counters[digit] = 0;
    // Of the first pass no higher digits are known; shifting by 32 would be undefined.
    const std::uint32_t known = shift == 24 ? 0 : ~std::uint32_t{0} << (shift + 8);
    for (std::int64_t i = 0; i < count; ++i) {
      const std::uint32_t uint32_t_here = key(i);
      if ((uint32_t_here & known) == found) ++counters[uint32_t_here >> shift & 0xff];
    }
    std::uint32_t digit = 0;
    while (below + counters[digit] <= rank) below += counters[digit++];
    found |= digit << shift;
  }
  return {found, below};
}

}  // namespace longhaul
