// Regular expressions of single lines. std::regex of libstdc++ calls itself for each character, so that a
// long line would end the program: one of more than kLongestLine bytes matches nothing. No tool writes such
// lines where these patterns look for them.
#pragma once

#include <cstddef>
#include <optional>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

namespace longhaul::measured {

constexpr std::size_t kLongestLine = 1000;

struct Match {
  std::vector<std::string> groups;  // [0]: all of it; "" where a group took no part
  std::size_t begin = 0, end = 0;   // in the line

  const std::string& operator[](std::size_t i) const { return groups[i]; }
};

class LinePattern {
 public:
  enum class Letters { kAsWritten, kAnyCase };

  // `needed`: a text that every line of the pattern has, which is looked for first, because it is faster.
  LinePattern(const char* needed, const char* pattern, Letters letters = Letters::kAsWritten);

  std::optional<Match> in(std::string_view line) const;
  std::vector<Match> all_in(std::string_view line) const;
  // In the first of the lines that has one.
  std::optional<Match> in_first(const std::vector<std::string_view>& lines) const;

 private:
  bool may_be_in(std::string_view line) const;

  std::string needed_;
  std::regex pattern_;
};

}  // namespace longhaul::measured
