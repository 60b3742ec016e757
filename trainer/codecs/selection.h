// Order statistics of float32 without a copy, the same on the host and on a GPU: a radix select over keys of
// 32 bits that are ordered like the numbers. Four passes over them, 256 counters on the stack.
#pragma once

#include <cstdint>

#include "trainer/codecs/number_formats.h"
#include "trainer/device/host_device.h"

namespace longhaul {

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
