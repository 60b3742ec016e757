// Top-k in chunks: the columns of largest magnitude of each chunk, the others count as zero
// (core/codecs/codec.h has the length of a message). Ties go to the lower place; a NaN counts as infinite, so
// that it is kept and shows.
//
// A chunk in a message: the values kept, in ascending order of their places and in the codec's numbers
// (quantize.h), then the places, place_bits() each, the lowest bit first, filled up to a whole byte.
#pragma once

#include <cstdint>
#include <vector>

#include "core/codecs/codec.h"
#include "trainer/codecs/quantize.h"

namespace longhaul {

// How the largest of a chunk are written, with what a GPU cannot look up.
struct LargestCode {
  LargestCode(const Numbers& values, int kept, std::int64_t places)
      : values(values), kept(kept), place_bits(longhaul::place_bits(places)) {}
  explicit LargestCode(const TopK& codec) : LargestCode(codec.values, codec.kept, codec.chunk) {}

  LONGHAUL_HOST_DEVICE std::int64_t kept_of(std::int64_t count) const { return kept < count ? kept : count; }
  LONGHAUL_HOST_DEVICE std::int64_t bytes(std::int64_t count) const {
    return values.bytes(kept_of(count)) + (kept_of(count) * place_bits + 7) / 8;
  }

  NumberCode values;
  int kept, place_bits;
};

// Of a chunk those at the places that are written already.
struct AtPlaces {
  const float* values;
  const std::uint8_t* places;
  int bits;
  LONGHAUL_HOST_DEVICE float operator()(std::int64_t i) const { return values[code_at(places, i, bits)]; }
};

struct MagnitudeKeys {
  const float* values;
  LONGHAUL_HOST_DEVICE std::uint32_t operator()(std::int64_t i) const { return magnitude_key(values[i]); }
};

// out: code.bytes(count) bytes.
LONGHAUL_HOST_DEVICE inline void encode_largest(const LargestCode& code, const float* values,
                                                std::int64_t count, std::uint8_t* out) {
  const std::int64_t kept = code.kept_of(count);
  if (kept == 0) return;
  const MagnitudeKeys keys{values};
  const Selected smallest = select_key(keys, count, count - kept);
  // What is larger is kept; of what is equal as many, from the lowest place, as are missing.
  std::uint8_t* places = out + code.values.bytes(kept);
  BitWriter write(places);
  std::int64_t left = kept, larger = 0;
  for (std::int64_t i = 0; i < count; ++i) larger += keys(i) > smallest.key;
  std::int64_t equal = kept - larger;
  for (std::int64_t i = 0; i < count && left > 0; ++i) {
    const std::uint32_t key = keys(i);
    if (key < smallest.key || (key == smallest.key && equal-- <= 0)) continue;
    write.put(static_cast<std::uint32_t>(i), code.place_bits);
    --left;
  }
  write.finish();
  write_numbers(code.values, AtPlaces{values, places, code.place_bits}, kept, out);
}

// Calls work(place, value) for what was kept of a chunk of `count`, of which `from` is the message, in
// ascending order of the places.
template <typename Work>
LONGHAUL_HOST_DEVICE void for_each_kept(const LargestCode& code, const std::uint8_t* from, std::int64_t count,
                                        const Work& work) {
  const std::int64_t kept = code.kept_of(count);
  const std::uint8_t* places = from + code.values.bytes(kept);
  const NumberReader read(code.values, from);
  for (std::int64_t i = 0; i < kept; ++i)
    work(static_cast<std::int64_t>(code_at(places, i, code.place_bits)), read(i));
}

struct WritePlaces {
  std::int64_t begin, end;
  float* out;
  LONGHAUL_HOST_DEVICE void operator()(std::int64_t place, float value) const {
    if (place >= begin && place < end) out[place - begin] = value;
  }
};

// out[0 …] = places [begin, end) of a chunk of `count`, of which `from` is the message; what was not kept
// stays as it is.
LONGHAUL_HOST_DEVICE inline void decode_largest(const LargestCode& code, const std::uint8_t* from,
                                                std::int64_t count, std::int64_t begin, std::int64_t end,
                                                float* out) {
  for_each_kept(code, from, count, WritePlaces{begin, end, out});
}

// values [columns].
std::vector<std::uint8_t> encode_top_k(const TopK& codec, const float* values, std::int64_t columns);

// What was kept, in ascending order.
struct Kept {
  std::int64_t place;
  float value;
};

// Of a message of `columns`; places are columns.
std::vector<Kept> kept_by_top_k(const TopK& codec, const std::vector<std::uint8_t>& message,
                                std::int64_t columns);

// out[0 …] = columns [begin, end) of a message of `columns`.
void decode_top_k(const TopK& codec, const std::vector<std::uint8_t>& message, std::int64_t columns,
                  std::int64_t begin, std::int64_t end, float* out);

}  // namespace longhaul
