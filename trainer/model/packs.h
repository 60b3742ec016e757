// Rows as a GPU reads them fastest: 16 bytes a lane at a time, and each number once, kept in registers where
// a row is gone through twice. On the host the same functions are plain loops.
#pragma once

#include <cstdint>
#include <cstring>

#include "trainer/codecs/number_formats.h"
#include "trainer/device/host_device.h"

namespace longhaul {

template <int kCount>
struct Floats {
  float at[kCount];
};

// Neighbouring numbers as they lie in memory: of bf16 two a word, so that those that are kept take half the
// registers.
template <typename Number, int kCount>
struct NumberPack {
  static constexpr int kWords = static_cast<int>(sizeof(Number)) * kCount / 4;
  std::uint32_t words[kWords];

  LONGHAUL_HOST_DEVICE float operator[](int i) const {
    if constexpr (sizeof(Number) == 4)
      return float_of(words[i]);
    else
      return float_of(i % 2 == 0 ? words[i / 2] << 16 : words[i / 2] & 0xffff0000u);
  }
};

template <typename Number>
struct NumberPack<Number, 1> {
  Number number;
  LONGHAUL_HOST_DEVICE float operator[](int) const { return load(number); }
};

// `from` and `to` are aligned to the pack, up to 16 bytes.

template <int kWords>
LONGHAUL_HOST_DEVICE LONGHAUL_ALWAYS_INLINE void read_words(std::uint32_t* words, const void* from) {
#ifdef __CUDA_ARCH__
  static_assert(kWords == 2 || kWords % 4 == 0);
  if constexpr (kWords == 2) {
    const uint2 two = *static_cast<const uint2*>(from);
    words[0] = two.x, words[1] = two.y;
  } else {
    LONGHAUL_UNROLL for (int i = 0; i < kWords; i += 4) {
      const uint4 four = static_cast<const uint4*>(from)[i / 4];
      words[i] = four.x, words[i + 1] = four.y, words[i + 2] = four.z, words[i + 3] = four.w;
    }
  }
#else
  check_alignment(from, kWords < 4 ? 4 * kWords : 16);
  std::memcpy(words, from, 4 * kWords);
#endif
}

template <int kWords>
LONGHAUL_HOST_DEVICE LONGHAUL_ALWAYS_INLINE void write_words(void* to, const std::uint32_t* words) {
#ifdef __CUDA_ARCH__
  // By name: a store through uint4* was taken apart in some kernels.
  if constexpr (kWords == 2)
    __stwb(static_cast<uint2*>(to), make_uint2(words[0], words[1]));
  else
    LONGHAUL_UNROLL for (int i = 0; i < kWords; i += 4) __stwb(
        static_cast<uint4*>(to) + i / 4, make_uint4(words[i], words[i + 1], words[i + 2], words[i + 3]));
#else
  check_alignment(to, kWords < 4 ? 4 * kWords : 16);
  std::memcpy(to, words, 4 * kWords);
#endif
}

template <int kCount, typename Number>
LONGHAUL_HOST_DEVICE LONGHAUL_ALWAYS_INLINE NumberPack<Number, kCount> read_pack(const Number* from) {
  if constexpr (kCount == 1) {
    return {*from};
  } else {
    NumberPack<Number, kCount> pack;
    read_words<NumberPack<Number, kCount>::kWords>(pack.words, from);
    return pack;
  }
}

template <int kCount, typename Number>
LONGHAUL_HOST_DEVICE LONGHAUL_ALWAYS_INLINE void write_pack(Number* to,
                                                            const NumberPack<Number, kCount>& pack) {
  if constexpr (kCount == 1)
    *to = pack.number;
  else
    write_words<NumberPack<Number, kCount>::kWords>(to, pack.words);
}

template <int kCount, typename Number>
LONGHAUL_HOST_DEVICE LONGHAUL_ALWAYS_INLINE void write_pack(Number* to, const Floats<kCount>& values) {
  NumberPack<Number, kCount> pack;
  if constexpr (kCount == 1)
    store(pack.number, values.at[0]);
  else if constexpr (sizeof(Number) == 4)
    LONGHAUL_UNROLL for (int i = 0; i < kCount; ++i) pack.words[i] = bits_of(values.at[i]);
  else
    LONGHAUL_UNROLL for (int i = 0; i < kCount / 2; ++i) pack.words[i] =
        to_bf16(values.at[2 * i]) | std::uint32_t{to_bf16(values.at[2 * i + 1])} << 16;
  write_pack<kCount>(to, pack);
}

// work(place, i) for the packs of a row that are this lane's: i is the first number, `place` counts them.
// With kKept > 0 a lane has at most so many, each with a place known to the compiler: an array that is
// indexed by it stays in registers. With 0 there are any number, and `place` is 0.
template <int kPack, int kKept, typename Team, typename Work>
LONGHAUL_HOST_DEVICE LONGHAUL_ALWAYS_INLINE void each_pack(const Team& team, int width, const Work& work) {
  if constexpr (kKept > 0) {
    LONGHAUL_UNROLL for (int place = 0; place < kKept; ++place) {
      const int i = (place * team.lanes() + team.lane()) * kPack;
      if (i < width) work(place, i);
    }
  } else {
    for (int i = team.lane() * kPack; i < width; i += team.lanes() * kPack) work(0, i);
  }
}

// How many packs an array for what is kept has.
template <int kKept>
constexpr int kRoom = kKept > 0 ? kKept : 1;

}  // namespace longhaul
