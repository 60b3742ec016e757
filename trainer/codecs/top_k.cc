#include "trainer/codecs/top_k.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/index.h"
#include "trainer/codecs/wire_format.h"

namespace longhaul {
namespace {

float magnitude(float value) {
  return std::isnan(value) ? std::numeric_limits<float>::infinity() : std::fabs(value);
}

// The places of the `kept` largest of `values`, ascending.
std::vector<std::int32_t> largest(const float* values, std::int64_t columns, std::int64_t kept) {
  std::vector<std::int32_t> places(as_index(columns));
  std::iota(places.begin(), places.end(), 0);
  const auto comes_first = [values](std::int32_t a, std::int32_t b) {
    const float of_a = magnitude(values[a]), of_b = magnitude(values[b]);
    return of_a != of_b ? of_a > of_b : a < b;
  };
  const auto end = places.begin() + static_cast<std::ptrdiff_t>(kept);
  if (kept < columns) std::nth_element(places.begin(), end, places.end(), comes_first);
  places.erase(end, places.end());
  std::sort(places.begin(), places.end());
  return places;
}

void set_bits(std::uint8_t* bytes, std::int64_t at, int count, std::uint32_t value) {
  for (int bit = 0; bit < count; ++bit)
    if (value >> bit & 1) bytes[(at + bit) / 8] |= static_cast<std::uint8_t>(1 << (at + bit) % 8);
}

std::uint32_t bits_at(const std::uint8_t* bytes, std::int64_t at, int count) {
  std::uint32_t value = 0;
  for (int bit = 0; bit < count; ++bit) {
    const std::uint32_t one = bytes[(at + bit) / 8] >> (at + bit) % 8 & 1;
    value |= one << bit;
  }
  return value;
}

void encode_chunk(const TopK& codec, const float* values, std::int64_t columns, std::uint8_t* out) {
  const std::int64_t kept = std::min<std::int64_t>(codec.kept, columns);
  const std::vector<std::int32_t> places = largest(values, columns, kept);
  std::vector<float> chosen(places.size());
  std::transform(places.begin(), places.end(), chosen.begin(),
                 [values](std::int32_t at) { return values[at]; });
  const std::vector<std::uint8_t> packed = pack_row(chosen.data(), kept, codec.values);
  std::copy(packed.begin(), packed.end(), out);
  std::uint8_t* behind = out + packed.size();
  const int bits = place_bits(codec);
  for (std::size_t i = 0; i < places.size(); ++i)
    set_bits(behind, static_cast<std::int64_t>(i) * bits, bits, static_cast<std::uint32_t>(places[i]));
}

}  // namespace

std::vector<std::uint8_t> encode_top_k(const TopK& codec, const float* values, std::int64_t columns) {
  std::vector<std::uint8_t> message(as_index(encoded_bytes({codec}, columns)));
  std::uint8_t* out = message.data();
  for (std::int64_t begin = 0; begin < columns; begin += codec.chunk) {
    const std::int64_t count = std::min<std::int64_t>(codec.chunk, columns - begin);
    encode_chunk(codec, values + begin, count, out);
    out += chunk_bytes(codec, count);
  }
  return message;
}

void decode_top_k(const TopK& codec, const std::vector<std::uint8_t>& message, std::int64_t columns,
                  std::int64_t begin, std::int64_t end, float* out) {
  std::fill(out, out + (end - begin), 0.f);
  const int bits = place_bits(codec);
  for (std::int64_t chunk = begin / codec.chunk; chunk * codec.chunk < end; ++chunk) {
    const std::int64_t first = chunk * codec.chunk,
                       size = std::min<std::int64_t>(codec.chunk, columns - first),
                       kept = std::min<std::int64_t>(codec.kept, size);
    const std::int64_t from = chunk * chunk_bytes(codec, codec.chunk);
    const std::uint8_t* places = message.data() + from + kept * bytes_per_parameter(codec.values);
    for (std::int64_t i = 0; i < kept; ++i) {
      const std::int64_t column = first + bits_at(places, i * bits, bits);
      if (column < begin || column >= end) continue;
      unpack_numbers(message.data() + from, i, i + 1, codec.values, out + (column - begin));
    }
  }
}

}  // namespace longhaul
