// The largest columns of each chunk.
#pragma once

#include "core/codecs/numbers.h"

namespace longhaul {

// Of each `chunk` columns the `kept` of largest magnitude, the others are zero: their values, then their
// places in the chunk with as few bits as those need, in ascending order (chunks of 4096 and 12 bits:
// SparseLoCo, arXiv 2508.15706, which keeps 64 and sends two_bit values). The last chunk may be shorter and
// keeps at most what it has.
struct TopK {
  static constexpr const char *kOption = "top_k", *kKey = "top_k";
  static constexpr bool kAddsUp = false, kChooses = true;

  int chunk = 4096;
  int kept = 128;
  Numbers values = Wire::kBf16;  // those of a chunk together

  static Node option() {
    return section(
               kOption,
               {integer("chunk").at_least(1).by_default(4096).in("columns").means(
                    "columns of which the largest travel"),
                integer("kept").at_least(1).by_default(64).in("columns").means("how many of a chunk travel"),
                Numbers::option("numbers", "wire")})
        .means("of each chunk the columns of largest magnitude");
  }
  static TopK from_option(const Json& given, const CodecColumns& columns) {
    return TopK{given.at("chunk"), given.at("kept"), Numbers::from_option(given.at("numbers"), columns.wire)}
        .checked("method.codec.top_k.kept");
  }
  static TopK from_json(const Json& json) {
    return TopK{codec_count(json, "chunk"), codec_count(json, "top_k"), Numbers::from_json(json)}.checked(
        "codec.top_k");
  }
  Json json() const {
    Json json = {{"top_k", kept}, {"chunk", chunk}};
    values.add_to(json);
    return json;
  }
  std::string words() const {
    return "top-k " + std::to_string(kept) + " of " + std::to_string(chunk) + ", " + values.words();
  }
  std::int64_t bytes(std::int64_t columns) const {
    return bytes_in_pieces(columns, chunk,
                           [&](std::int64_t count) { return largest_bytes(values, kept, count, chunk); });
  }

 private:
  const TopK& checked(const char* path) const {
    if (kept > chunk)
      throw InputError(path, "found " + std::to_string(kept) + " of " + std::to_string(chunk),
                       "at most all of a chunk");
    return *this;
  }
};

}  // namespace longhaul
