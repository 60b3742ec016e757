// Top-k in chunks: the columns of largest magnitude of each chunk, the others count as zero
// (core/codecs/top_k.h has the length of a message). Ties go to the lower place; a NaN counts as infinite, so
// that it is kept and shows.
//
// A chunk in a message: the values kept, in ascending order of their places and in the codec's numbers
// (quantize.h), then the places, place_bits() each, the lowest bit first, filled up to a whole byte.
#pragma once

#include <cstdint>
#include <vector>

#include "core/codecs/top_k.h"
#include "trainer/codecs/quantize.h"

namespace longhaul {

// How the largest of a chunk are written.
struct LargestCode {
  LargestCode(const Numbers& values, int kept, std::int64_t places)
      : values(values), kept(kept), place_bits(longhaul::place_bits(places)) {}
  explicit LargestCode(const TopK& codec) : LargestCode(codec.values, codec.kept, codec.chunk) {}

  std::int64_t kept_of(std::int64_t count) const { return kept < count ? kept : count; }
  std::int64_t bytes(std::int64_t count) const {
    return values.bytes(kept_of(count)) + (kept_of(count) * place_bits + 7) / 8;
  }
  void write(const float* of, std::int64_t count, std::uint8_t* out) const;
  // work(place, value) for what was kept, in ascending order of the places.
  template <typename Work>
  void for_each(const std::uint8_t* from, std::int64_t count, const Work& work) const;
  // What was not kept is zero.
  void read(const std::uint8_t* from, std::int64_t count, std::int64_t begin, std::int64_t end,
            float* out) const;

  NumberCode values;
  int kept, place_bits;
};

// Of a chunk those at the places that are written already.
struct AtPlaces {
  const float* values;
  const std::uint8_t* places;
  int bits;
  float operator[](std::int64_t i) const { return values[code_at(places, i, bits)]; }
};

inline void LargestCode::write(const float* of, std::int64_t count, std::uint8_t* out) const {
  const std::int64_t most = kept_of(count);
  if (most == 0) return;
  const auto keys = [&](std::int64_t i) { return magnitude_key(of[i]); };
  const Selected smallest = select_key(keys, count, count - most);
  // What is larger is kept; of what is equal as many, from the lowest place, as are missing.
  std::uint8_t* places = out + values.bytes(most);
  BitWriter write(places);
  std::int64_t left = most, larger = 0;
  for (std::int64_t i = 0; i < count; ++i) larger += keys(i) > smallest.key;
  std::int64_t equal = most - larger;
  for (std::int64_t i = 0; i < count && left > 0; ++i) {
    const std::uint32_t key = keys(i);
    if (key < smallest.key || (key == smallest.key && equal-- <= 0)) continue;
    write.put(static_cast<std::uint32_t>(i), place_bits);
    --left;
  }
  write.finish();
  values.write(AtPlaces{of, places, place_bits}, most, out);
}

template <typename Work>
void LargestCode::for_each(const std::uint8_t* from, std::int64_t count, const Work& work) const {
  const std::int64_t most = kept_of(count);
  if (most == 0) return;
  const std::uint8_t* places = from + values.bytes(most);
  values.for_each(from, 0, most, [&](std::int64_t i, float value) {
    work(static_cast<std::int64_t>(code_at(places, i, place_bits)), value);
  });
}

inline void LargestCode::read(const std::uint8_t* from, std::int64_t count, std::int64_t begin,
                              std::int64_t end, float* out) const {
  for (std::int64_t i = begin; i < end; ++i) out[i - begin] = 0;
  for_each(from, count, [&](std::int64_t place, float value) {
    if (place >= begin && place < end) out[place - begin] = value;
  });
}

inline PiecesOfRow<LargestCode> pieces_of(const TopK& format) {
  return {LargestCode(format), format.chunk};
}

// What was kept, in ascending order; places are columns.
struct Kept {
  std::int64_t place;
  float value;
};

// Adds those of a piece of `count`, the first of which is column `first`.
void add_kept(const LargestCode& code, const std::uint8_t* from, std::int64_t count, std::int64_t first,
              std::vector<Kept>& all);
std::vector<Kept> kept_by(const TopK& format, const EncodedRow& message);

// The columns of a row of which this was kept, or a mean of it.
inline std::vector<float> columns_of_kept(const TopK&, std::vector<float> kept) {
  return kept;
}

}  // namespace longhaul
