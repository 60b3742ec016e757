#include "analysis/comparison/over_points.h"

#include <fmt/core.h>

#include <map>

#include "analysis/comparison/pair_words.h"
#include "analysis/statistics.h"
#include "analysis/text.h"
#include "core/base/errors.h"
#include "core/base/ranges.h"

namespace longhaul {
namespace {

struct Asked {
  const PointDecisions* point = nullptr;
  const Decision* decision = nullptr;
};

std::vector<Asked> asked_at(const std::string& metric, const std::vector<PointDecisions>& points) {
  std::vector<Asked> asked;
  for (const PointDecisions& point : points)
    for (const Decision& decision : point.decisions)
      if (decision.metric.path == metric) asked.push_back({&point, &decision});
  return asked;
}

// A loss under several networks: one row has them all.
bool is_one_row(const std::vector<Asked>& asked) {
  return !any_of(asked,
                 [&](const Asked& one) { return one.decision->row.point != asked[0].decision->row.point; });
}

// All that stand at one of the points, by their mean rank there.
std::vector<std::string> by_rank(const std::vector<Asked>& asked) {
  nlohmann::ordered_map<std::string, std::vector<double>> ranks;
  for (const auto& [point, decision] : asked) {
    std::vector<std::string> order = {decision->leader().name};
    for (const Decision::Against& found : decision->others)
      order.push_back(decision->row.groups[found.other].name);
    for (std::size_t rank = 0; rank < order.size(); ++rank)
      ranks[order[rank]].push_back(static_cast<double>(rank));
  }
  std::vector<std::string> names;
  for (const auto& [name, of_points] : ranks) names.push_back(name);
  stable_sort(names,
              [&](const std::string& a, const std::string& b) { return mean(ranks[a]) < mean(ranks[b]); });
  return names;
}

bool is_led(const Decision& decision) {
  return decision.doubt == Decision::Doubt::kNone;
}

// "all 4 points", "2 of 4 points".
std::string points_words(std::size_t count, std::size_t of) {
  if (count == of) return of == 2 ? "both points" : fmt::format("all {} points", of);
  return fmt::format("{} of {} points", count, of);
}

std::string lead_words(const Metric& metric, const std::vector<double>& leads) {
  if (leads.empty()) return "";
  const auto [low, high] = std::minmax_element(leads.begin(), leads.end());
  const bool is_time = metric.unit == Metric::Unit::kSeconds;
  const auto text = [&](double value) {
    return is_time ? fmt::format("{:.3g}", value) : value_text(metric, value);
  };
  const std::string range = text(*low) == text(*high) ? text(*low) : text(*low) + " to " + text(*high);
  return is_time ? fmt::format(" (the next takes {} times as long)", range)
                 : fmt::format(" ({} before the next)", range);
}

// Who is ahead of all others, most points first.
std::vector<std::string> leader_phrases(const Metric& metric, const std::vector<Asked>& asked) {
  struct Leader {
    std::string name;
    std::size_t points = 0;
    std::vector<double> leads;
  };
  std::vector<Leader> leaders;
  for (const auto& [point, decision] : asked) {
    if (!is_led(*decision)) continue;
    const std::string& name = decision->leader().name;
    auto known = find_if(leaders, [&, &name = name](const Leader& leader) { return leader.name == name; });
    if (known == leaders.end()) known = leaders.insert(leaders.end(), {name, 0, {}});
    ++known->points;
    if (!decision->others.empty() && decision->others[0].comparison.has_difference)
      known->leads.push_back(decision->lead);
  }
  stable_sort(leaders, [](const Leader& a, const Leader& b) { return a.points > b.points; });
  return each_of(leaders, [&](const Leader& leader) {
    return fmt::format("{} is ahead{} at {}{}", leader.name,
                       asked[0].decision->row.groups.size() > 2 ? " of all others" : "",
                       points_words(leader.points, asked.size()), lead_words(metric, leader.leads));
  });
}

// Where no method is ahead of all others: "diloco has the lowest loss at 3 of 4 points".
std::string lowest_phrase(const std::vector<Asked>& asked) {
  nlohmann::ordered_map<std::string, std::size_t> lowest;
  for (const auto& [point, decision] : asked)
    if (!is_led(*decision) && decision->doubt != Decision::Doubt::kEqual &&
        !decision->leader().values.empty())
      ++lowest[decision->leader().name];
  if (lowest.empty()) return "";
  const char* const what = asked[0].decision->is_time() ? "the shortest time" : "the lowest loss";
  if (lowest.size() == 1)
    return fmt::format("{} has {} at {}", lowest.begin()->first, what,
                       points_words(lowest.begin()->second, asked.size()));
  std::vector<std::string> counts;
  for (const auto& [name, count] : lowest)
    counts.push_back(fmt::format("{} at {}", name, counted(count, "point")));
  return fmt::format("{} is that of {}", what, enumeration(counts, "and"));
}

}  // namespace

std::string over_points(const std::string& metric, const std::string& question,
                        const std::vector<PointDecisions>& points) {
  const std::vector<Asked> asked = asked_at(metric, points);
  if (asked.empty()) return "";
  if (asked.size() > 1 && is_one_row(asked))
    return in_words(*asked[0].decision, *asked[0].point).sentence +
           fmt::format(" The values are the same at {}.", points_words(asked.size(), asked.size()));
  const std::vector<std::string> names = by_rank(asked);
  PairTally tally(metric_named(metric), names, asked.size());
  std::size_t of_one_draw = 0, shown = 0;  // comparisons
  for (const auto& [point, decision] : asked)
    for (const auto* pairs : {&decision->others, &decision->further})
      for (const Decision::Against& pair : *pairs) {
        tally.add(decision->row, pair, is_led(*decision) && pairs == &decision->others);
        if (pair.doubt != Decision::Doubt::kNone) continue;
        ++shown;
        of_one_draw += pair.comparison.test == Comparison::Test::kOneDraw;
      }
  std::vector<std::string> parts = leader_phrases(metric_named(metric), asked);
  for (const PairTally::Phrase& phrase : tally.shown()) parts.push_back(phrase.words);
  if (const std::string lowest = lowest_phrase(asked); !lowest.empty()) parts.push_back(lowest);
  for (const PairTally::Phrase& phrase : tally.open()) parts.push_back(phrase.words);
  if (of_one_draw)
    parts.push_back(of_one_draw == shown
                        ? "all of that is shown for the draw of one seed alone"
                        : fmt::format("{} of the {} comparisons that are shown are shown for the draw of one "
                                      "seed alone",
                                      of_one_draw, shown));
  if (parts.empty()) parts.push_back("no method reached it");
  return capitalized(question) + ": " + join(parts, "; ") + ".";
}

}  // namespace longhaul
