// JSON as the measuring tools write it, one value out of a text that continues behind it.
//
// Three things need a parser of their own: iperf3 before 3.12 writes one key twice with --bidir, which most
// parsers answer with the last value alone; other lines and further documents follow a value; and a damaged
// file may hold 1e999, which is to be refused as a rate and not as JSON.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "core/base/json.h"

namespace longhaul::measured {

// What iperf3 3.12 and later add to the keys of the second direction; of a key "sum..." that an object has
// twice, the second gets it here.
inline constexpr const char* kSecond = "_bidir_reverse";

// Of a text that the file ends in.
inline constexpr const char* kNoEnd = "a text has no end";

class BrokenJson : public std::runtime_error {
 public:
  BrokenJson(const std::string& what, std::size_t place) : std::runtime_error(what), at(place) {}
  std::size_t at;  // the byte in the text
};
class DeepJson : public std::runtime_error {
 public:
  DeepJson() : std::runtime_error("is nested too deeply") {}
};

// The value that begins at byte `at` of `text`, which is then the byte behind it. Numbers that no double
// holds are infinite. Of other keys that an object has twice the first counts. Throws BrokenJson, and
// DeepJson where values stand in more than kDeepestJson others.
Json scan_json(std::string_view text, std::size_t& at);

}  // namespace longhaul::measured
