// A random share of the columns.
#pragma once

#include <cmath>

#include "core/codecs/quantized.h"

namespace longhaul {

// Drawn at random and the same for all who take part in an operation, so that a sum is as long as a message;
// the other columns are zero (SPARTA averages 0.5 % of the weights at a time). The draw is no part of the
// message: everybody makes it from the seed and the step (Operation::draw).
struct RandomMask {
  static constexpr const char *kOption = "random_mask", *kKey = "share";
  static constexpr bool kAddsUp = true, kChooses = false;

  double share = 0.005;              // in (0, 1]
  RowNumbers numbers = Wire::kBf16;  // of those that travel, as a row of their own

  static Node option() {
    return section(kOption, {number("share").above(0).at_most(1).by_default(0.005).means(
                                 "share of the columns that travel"),
                             Numbers::option("numbers", "wire")})
        .means("columns drawn at random, the same for all replicas");
  }
  static RandomMask from_option(const Json& given, const CodecColumns& columns) {
    return {given.at("share"), row_from_option(given.at("numbers"), columns.wire)};
  }
  static RandomMask from_json(const Json& json) {
    const Json& share = json["share"];
    if (!share.is_number() || !(share > 0) || !(share <= 1))
      refuse_codec("share", share, "above 0, at most 1");
    return {share, row_from_json(json)};
  }
  Json json() const {
    Json json = json_of(numbers);
    json["share"] = share;
    return json;
  }
  std::string words() const { return percent_words(share) + " of the columns, " + words_of(numbers); }
  std::int64_t bytes(std::int64_t columns) const { return bytes_of(numbers, drawn(columns)); }

  // Of the first c columns ceil(c · share) travel.
  std::int64_t drawn(std::int64_t columns) const {
    return static_cast<std::int64_t>(std::ceil(static_cast<double>(columns) * share));
  }
};

}  // namespace longhaul
