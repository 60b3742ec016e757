#include "analysis/comparison/pair_words.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "analysis/comparison/metric.h"
#include "analysis/comparison/power_notes.h"
#include "analysis/comparison/render.h"
#include "analysis/text.h"
#include "core/base/errors.h"
#include "core/base/ranges.h"

namespace longhaul {
namespace {

using Doubt = Decision::Doubt;

constexpr std::size_t kFewNames = 4;   // of so many each lead is given
constexpr std::size_t kSomeNames = 6;  // of more those behind are not listed one by one
constexpr std::size_t kFewGaps = 2;    // but so many
constexpr std::size_t kFewOpen = 4;    // so many open pairs are named

std::string range_of(const Metric& metric, const std::vector<double>& values) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const auto text = [&](double value) {
    if (metric.unit != Metric::Unit::kSeconds) return value_text(metric, value);
    const double apart = std::abs(value - 1);
    constexpr double kSeenIn3Digits = 0.005, kLeast = 1e-9;
    if (apart >= kSeenIn3Digits || apart < kLeast) return fmt::format("{:.3g}", value);
    return fmt::format("{:.{}f}", value, static_cast<int>(std::ceil(-std::log10(apart))));
  };
  return text(*low) == text(*high) ? text(*low) : text(*low) + " to " + text(*high);
}

// "5 seeds would decide a half of them, 60 nine in ten".
std::string seeds_of_many(std::vector<std::size_t> seeds) {
  std::sort(seeds.begin(), seeds.end());
  const auto text = [](std::size_t count) {
    return count > kMostSeeds ? fmt::format("more than {}", kMostSeeds) : std::to_string(count);
  };
  const std::string half = text(seeds[(seeds.size() - 1) / 2]),
                    most = text(seeds[(seeds.size() - 1) * 9 / 10]);
  if (half == most) return fmt::format("about {} seeds would decide most of them", half);
  return fmt::format("about {} seeds would decide a half of them, {} nine in ten", half, most);
}

}  // namespace

std::string doubt_words(Doubt doubt) {
  switch (doubt) {
    case Doubt::kOneSeed:
      return "one seed shows nothing";
    case Doubt::kChance:
      return "it may be chance";
    case Doubt::kNetworkModel:
      return "the network model's error is as large";
    case Doubt::kEqual:
      return "they are equal";
    case Doubt::kOtherSeeds:
      return "over the seeds that both have the order is the other one";
    case Doubt::kNone:
      break;
  }
  return "";
}

PairTally::PairTally(const Metric& metric, std::vector<std::string> names, std::size_t points)
    : metric_(metric), names_(std::move(names)), points_(points) {}

void PairTally::add(const ComparisonRow& row, const Decision::Against& pair, bool is_told) {
  const Group &ahead = row.groups[pair.ahead], &other = row.groups[pair.other];
  untold_ += !is_told;
  if (pair.doubt == Doubt::kNone) {
    Count& count = shown_[{ahead.name, other.name}];
    ++count.points;
    count.untold += !is_told;
    count.is_of_one_draw = count.is_of_one_draw && pair.comparison.test == Comparison::Test::kOneDraw;
    if (!pair.comparison.has_difference) return;
    if (metric_.unit != Metric::Unit::kSeconds)
      count.leads.push_back(pair.difference);
    else if (const auto ratio = ratio_of(other, ahead))
      count.leads.push_back(ratio->mean);
    return;
  }
  if (is_told) return;
  const bool is_turned = ahead.name > other.name;  // one entry for both orders
  const std::string key = is_turned ? other.name + '\n' + ahead.name : ahead.name + '\n' + other.name;
  auto& [names, open] = open_[key];
  if (names.first.empty()) names = {ahead.name, other.name};
  ++open.points;
  ++open.doubts[pair.doubt];
  if (const std::size_t seeds = pair.comparison.seeds_needed; pair.doubt != Doubt::kOneSeed && seeds)
    open.seeds_needed.push_back(seeds);
  if (pair.doubt == Doubt::kOneSeed)
    open.seeds_for_a_large = seeds_for_a_large_difference(row.comparisons.size());
}

std::string PairTally::at(std::size_t least, std::size_t most) const {
  if (points_ == 1) return "";
  if (least == points_) return points_ == 2 ? " at both points" : fmt::format(" at all {} points", points_);
  if (least == most) return fmt::format(" at {} of {} points", least, points_);
  return fmt::format(" at {} to {} of {} points", least, most, points_);
}

std::string PairTally::from_on(const std::vector<std::string>& behind,
                               const std::vector<std::string>& not_meant) const {
  if (names_.size() <= kSomeNames || behind.size() < 3) return "";
  const auto first = std::find(names_.begin(), names_.end(), behind[0]);
  std::vector<std::string> gaps;
  for (auto name = first; name != names_.end(); ++name)
    if (!contains(behind, *name) && !contains(not_meant, *name)) gaps.push_back(*name);
  if (gaps.size() > kFewGaps) return "";
  return fmt::format("all from {} on{}", *first, gaps.empty() ? "" : " but " + enumeration(gaps, "and"));
}

// "ddp (6.1 to 8.2 times as long)", "ddp (by 0.0170)".
std::string PairTally::behind_with_lead(const std::string& name, const Count& count) const {
  if (count.leads.empty()) return name;
  const std::string range = range_of(metric_, count.leads);
  return name + (metric_.unit == Metric::Unit::kSeconds ? fmt::format(" ({} times as long)", range)
                                                        : fmt::format(" (by {})", range));
}

// Those that all others are ahead of at every point.
std::vector<std::string> PairTally::behind_all() const {
  std::vector<std::string> last;
  if (points_ == 1 || names_.size() < 3) return last;
  for (const std::string& name : names_) {
    std::size_t everywhere = 0, untold = 0;
    for (const auto& [pair, count] : shown_)
      if (pair.second == name) {
        everywhere += count.points == points_;
        untold += count.untold;
      }
    if (everywhere + 1 == names_.size() && untold) last.push_back(name);
  }
  return last;
}

// "ddp is behind all others at both points (6.37 to 8.43 times as long)".
PairTally::Phrase PairTally::behind_all_others(const std::string& name) const {
  Count all;
  for (const auto& [pair, count] : shown_) {
    if (pair.second != name) continue;
    all.leads.insert(all.leads.end(), count.leads.begin(), count.leads.end());
    all.is_of_one_draw = all.is_of_one_draw && count.is_of_one_draw;
  }
  return {{name},
          fmt::format("{} is behind all others{}{}", name, at(points_, points_),
                      behind_with_lead(name, all).substr(name.size())),
          all.is_of_one_draw};
}

std::vector<PairTally::Phrase> PairTally::shown() const {
  std::vector<Phrase> phrases;
  const std::vector<std::string> last = behind_all();
  const bool has_leads = names_.size() <= kFewNames;
  // {those behind, at how many points} → who is ahead of them.
  struct Line {
    std::vector<std::string> ahead, behind, texts;
    std::size_t least = 0, most = 0;
    bool is_of_one_draw = true;
  };
  std::vector<Line> lines;
  for (const std::string& name : names_)
    for (const bool everywhere : {true, false}) {
      Line line;
      for (const std::string& other : names_) {
        const auto found = shown_.find({name, other});
        if (found == shown_.end() || contains(last, other)) continue;
        const Count& count = found->second;
        if (count.untold == 0 || (count.points == points_) != everywhere) continue;
        line.behind.push_back(other);
        line.texts.push_back(has_leads ? behind_with_lead(other, count) : other);
        line.least = line.behind.size() == 1 ? count.points : std::min(line.least, count.points);
        line.most = std::max(line.most, count.points);
        line.is_of_one_draw = line.is_of_one_draw && count.is_of_one_draw;
      }
      if (line.behind.empty()) continue;
      const auto same = find_if(lines, [&](const Line& known) {
        return !has_leads && known.behind == line.behind && known.least == line.least &&
               known.most == line.most && known.is_of_one_draw == line.is_of_one_draw;
      });
      Line& of = same == lines.end() ? lines.emplace_back(line) : *same;
      of.ahead.push_back(name);
    }
  for (const std::string& name : last) phrases.push_back(behind_all_others(name));
  bool needs_order = false;
  for (const Line& line : lines) {
    std::vector<std::string> not_meant = last;  // behind it too, as is said
    not_meant.insert(not_meant.end(), line.ahead.begin(), line.ahead.end());
    const std::string part = from_on(line.behind, not_meant);
    needs_order = needs_order || !part.empty();
    phrases.push_back(
        {line.behind,
         fmt::format("{} {} ahead of {}{}", enumeration(line.ahead, "and"),
                     line.ahead.size() == 1 ? "is" : "are",
                     part.empty() ? enumeration(line.texts, "and") : part, at(line.least, line.most)),
         line.is_of_one_draw});
  }
  if (needs_order) phrases[0].words = fmt::format("in the order {}: {}", join(names_), phrases[0].words);
  return phrases;
}

// Where and why a pair is not shown: " is shown at both points: it may be chance; about 9 seeds would
// decide".
std::string PairTally::open_words(const Open& open) const {
  std::vector<std::string> reasons;
  for (const auto& [doubt, points] : open.doubts) {
    std::string reason = doubt_words(doubt);
    if (doubt == Doubt::kOneSeed)
      reason += fmt::format(" ({} would find a difference of three standard deviations)",
                            counted(open.seeds_for_a_large, "seed"));
    if (open.doubts.size() > 1) reason += fmt::format(" ({})", counted(points, "point"));
    reasons.push_back(reason);
  }
  const std::string seeds = seeds_that_decide(open.seeds_needed);
  return fmt::format(" is shown{}: {}{}", at(open.points, open.points), join(reasons),
                     seeds.empty() ? "" : "; " + seeds);
}

PairTally::Phrase PairTally::open_summary() const {
  std::map<Doubt, std::size_t> doubts;
  std::vector<std::size_t> seeds;
  std::vector<std::string> names;
  std::size_t all = 0, for_a_large = 0;
  for (const auto& [key, entry] : open_) {
    const auto& [pair, open] = entry;
    add_new(pair.first, names);
    add_new(pair.second, names);
    for (const auto& [doubt, points] : open.doubts) {
      doubts[doubt] += points;
      all += points;
    }
    seeds.insert(seeds.end(), open.seeds_needed.begin(), open.seeds_needed.end());
    for_a_large = std::max(for_a_large, open.seeds_for_a_large);
  }
  std::vector<std::string> reasons;
  for (const auto& [doubt, count] : doubts) {
    std::string reason =
        doubts.size() == 1 ? doubt_words(doubt) : fmt::format("{} because {}", count, doubt_words(doubt));
    if (doubt == Doubt::kOneSeed)
      reason += fmt::format(" ({} would find differences of three standard deviations)",
                            counted(for_a_large, "seed"));
    reasons.push_back(reason);
  }
  return {names,
          fmt::format("of the {} {}comparisons{} {} {} no difference: {}{}", untold_,
                      points_ == 1 ? "other " : "", points_ == 1 ? "" : fmt::format(" at {} points", points_),
                      all, all == 1 ? "shows" : "show", join(reasons),
                      seeds.empty() ? "" : "; " + seeds_of_many(seeds))};
}

std::vector<PairTally::Phrase> PairTally::open() const {
  if (open_.empty()) return {};
  if (open_.size() > kFewOpen) return {open_summary()};
  std::vector<Phrase> phrases;
  nlohmann::ordered_map<std::string, std::vector<Pair>> same;  // pairs of which the same is said
  for (const auto& [key, entry] : open_) {
    const auto& [pair, open] = entry;
    if (open.doubts.size() == 1 && open.doubts.count(Doubt::kEqual))
      phrases.push_back(
          {{pair.first, pair.second},
           fmt::format("{} and {} are equal{}", pair.first, pair.second, at(open.points, open.points))});
    else
      same[open_words(open)].push_back(pair);
  }
  for (const auto& [words, pairs] : same) {
    Phrase phrase;
    std::vector<std::string> between;
    for (const Pair& pair : pairs) {
      add_new(pair.first, phrase.behind);
      add_new(pair.second, phrase.behind);
      between.push_back(fmt::format("between {} and {}", pair.first, pair.second));
    }
    phrase.words = "no difference " + join(between) + words;
    phrases.push_back(std::move(phrase));
  }
  return phrases;
}

}  // namespace longhaul
