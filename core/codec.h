// Codecs: how columns of a row travel. What stands here is the exact length of a message, which is known
// before anything is trained; the arithmetic is in trainer/codecs/.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "core/json.h"

namespace longhaul {

// Each number on its own: IEEE 754 single and half precision, the upper half of a single, one byte. int8 has
// no scale here and is not trained with.
enum class Wire { kFp32, kBf16, kFp16, kInt8 };

Wire parse_wire(const std::string& text);
std::string to_string(Wire wire);
int bytes_per_parameter(Wire wire);

// Of each `chunk` columns the `kept` of largest magnitude, the others are zero: their values, then their
// places in the chunk with as few bits as those need, in ascending order (chunks of 4096 and 12 bits:
// SparseLoCo, arXiv 2508.15706). The last chunk may be shorter and keeps at most what it has.
struct TopK {
  int chunk = 4096;
  int kept = 128;
  Wire values = Wire::kBf16;
};

inline bool operator==(const TopK& a, const TopK& b) {
  return a.chunk == b.chunk && a.kept == b.kept && a.values == b.values;
}

struct Codec {
  std::variant<Wire, TopK> format = Wire::kBf16;
  // Error feedback (Seide et al. 2014; EF-SGD, arXiv 1901.09847): what the codec leaves out of a message is
  // kept and added to the next one of the same columns.
  bool feeds_back = false;

  bool is_plain() const { return std::holds_alternative<Wire>(format) && !feeds_back; }
};

// Of a message of so many columns.
std::int64_t encoded_bytes(const Codec& codec, std::int64_t columns);

// Bits that say a place in a chunk: ceil(log2(chunk)).
int place_bits(const TopK& codec);
// Of `columns` columns of one chunk.
std::int64_t chunk_bytes(const TopK& codec, std::int64_t columns);

// "bf16", "top-k 128 of 4096, bf16, error feedback".
std::string to_string(const Codec& codec);

Json to_json(const Codec& codec);
Codec codec_from(const Json& json);  // throws InputError for what is no codec

}  // namespace longhaul
