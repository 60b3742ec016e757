#include "planner/measured/line_pattern.h"

namespace longhaul::measured {
namespace {

using Found = std::match_results<std::string_view::const_iterator>;

Match match_of(const Found& found) {
  Match match;
  for (const auto& group : found) match.groups.push_back(group.str());
  match.begin = static_cast<std::size_t>(found.position(0));
  match.end = match.begin + static_cast<std::size_t>(found.length(0));
  return match;
}

}  // namespace

LinePattern::LinePattern(const char* needed, const char* pattern, Letters letters)
    : needed_(needed),
      pattern_(pattern, letters == Letters::kAnyCase ? std::regex::ECMAScript | std::regex::icase
                                                     : std::regex::ECMAScript) {}

bool LinePattern::may_be_in(std::string_view line) const {
  return line.size() <= kLongestLine && line.find(needed_) != std::string_view::npos;
}

std::optional<Match> LinePattern::in(std::string_view line) const {
  Found found;
  if (!may_be_in(line) || !std::regex_search(line.begin(), line.end(), found, pattern_)) return std::nullopt;
  return match_of(found);
}

std::vector<Match> LinePattern::all_in(std::string_view line) const {
  std::vector<Match> all;
  if (!may_be_in(line)) return all;
  using Iterator = std::regex_iterator<std::string_view::const_iterator>;
  for (Iterator found(line.begin(), line.end(), pattern_), end; found != end; ++found)
    all.push_back(match_of(*found));
  return all;
}

std::optional<Match> LinePattern::in_first(const std::vector<std::string_view>& lines) const {
  for (const std::string_view line : lines)
    if (std::optional<Match> found = in(line)) return found;
  return std::nullopt;
}

}  // namespace longhaul::measured
