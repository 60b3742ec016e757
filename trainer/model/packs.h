// Rows as a GPU reads them fastest: 16 bytes a lane at a time, and each number once, kept in registers where
// a row is gone through twice. On the host the same functions are plain loops.
#pragma once

#include <cstdint>
#include <cstring>

#include "trainer/codecs/number_formats.h"

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
LONGHAUL_HOST_DEVICE LONGHAUL_ALWAYS_INLINE void copy_words(void* to, const void* from) {
#ifdef __CUDA_ARCH__
  static_assert(kWords == 2 || kWords % 4 == 0);
  if constexpr (kWords == 2)
    *static_cast<uint2*>(to) = *static_cast<const uint2*>(from);
  else
    LONGHAUL_UNROLL for (int i = 0; i < kWords / 4; ++i) static_cast<uint4*>(to)[i] =
        static_cast<const uint4*>(from)[i];
#else
  std::memcpy(to, from, 4 * kWords);
#endif
}

template <int kCount, typename Number>
LONGHAUL_HOST_DEVICE LONGHAUL_ALWAYS_INLINE NumberPack<Number, kCount> read_pack(const Number* from) {
  if constexpr (kCount == 1) {
    return {*from};
  } else {
    constexpr int kWords = NumberPack<Number, kCount>::kWords;
    alignas(16) NumberPack<Number, kCount> pack;
    copy_words<kWords>(pack.words, from);
    return pack;
  }
}

template <int kCount>
LONGHAUL_HOST_DEVICE LONGHAUL_ALWAYS_INLINE void write_pack(float* to, const Floats<kCount>& values) {
  if constexpr (kCount == 1) {
    *to = values.at[0];
  } else {
    alignas(16) Floats<kCount> aligned = values;
    copy_words<kCount>(to, aligned.at);
  }
}

template <int kCount>
LONGHAUL_HOST_DEVICE LONGHAUL_ALWAYS_INLINE void write_pack(Bf16* to, const Floats<kCount>& values) {
  if constexpr (kCount == 1) {
    store(*to, values.at[0]);
  } else {
    alignas(16) std::uint32_t words[kCount / 2];
    LONGHAUL_UNROLL for (int i = 0; i < kCount / 2; ++i) words[i] =
        to_bf16(values.at[2 * i]) | std::uint32_t{to_bf16(values.at[2 * i + 1])} << 16;
    copy_words<kCount / 2>(to, words);
  }
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
