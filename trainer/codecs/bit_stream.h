// Codes of a few bits one after the other, the lowest bit first, on the host and on a GPU.
#pragma once

#include <cstdint>

#include "trainer/device/host_device.h"

namespace longhaul {

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

}  // namespace longhaul
