#include "analysis/comparison/decision.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "analysis/comparison/equal_budget.h"
#include "analysis/comparison/render.h"
#include "analysis/comparison/samples.h"
#include "analysis/record_values.h"
#include "analysis/residual.h"
#include "analysis/statistics.h"
#include "analysis/text.h"
#include "core/base/errors.h"
#include "core/base/units.h"
#include "net/topologies/registry.h"

namespace longhaul {
namespace {

using Doubt = Decision::Doubt;
using Test = Comparison::Test;
using Outcome = Comparison::Outcome;

const char* const kEqualTime = "loss@equal_time";
const char* const kEqualBytes = "loss@equal_bytes";
const char* const kEqualTimeLate = "loss@equal_time_late";  // by the network model's error

struct Question {
  const char* metric;
  const char* words;
};

const std::vector<Question> kQuestions = {{"final_loss", "at equal tokens"},
                                          {kEqualTime, "after the same simulated time"},
                                          {kEqualBytes, "after the same bytes"},
                                          {"time_to_target_s", "to the target loss"},
                                          {"simulated_time_s", "in the time of the whole run"},
                                          {"sync_time_s.mean", "in the time of a synchronization"}};

bool is_time(const std::string& metric) {
  return metric == "time_to_target_s" || metric == "simulated_time_s" || metric == "sync_time_s.mean";
}

std::string capitalized(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

// "2.05 million", "512".
std::string counted_tokens(double tokens) {
  const auto [scale, word] = tokens < 1e6    ? std::pair(1., "")
                             : tokens < 1e9  ? std::pair(1e6, " million")
                             : tokens < 1e12 ? std::pair(1e9, " billion")
                                             : std::pair(1e12, " trillion");
  return scale == 1. ? fmt::format("{:.0f}", tokens) : fmt::format("{:.3g}{}", tokens / scale, word);
}

// ------------------------------------------------------------------ what is compared

// Of one row, by the text of its point.
struct RowFacts {
  std::string at;
  std::optional<Horizon> time, bytes;
  std::vector<double> tokens;  // the different counts of its cases
  std::optional<double> target;
};

using Facts = std::map<std::string, RowFacts>;

void put_losses(const RowCurves& curves, const RowSample& row, Budget kind, double budget, const char* path,
                std::map<const Json*, Json*>& records) {
  for (std::size_t group = 0; group < row.groups.size(); ++group) {
    const std::vector<SeedValue> losses = curves.losses(group, kind, budget);
    for (const RunCase& run_case : row.groups[group].cases)
      for (const SeedValue& loss : losses)
        if (loss.seed == run_case.record->value("seed", Json()))
          (*records.at(run_case.record))[path] = loss.value;
  }
}

// The clock of a method that is ahead may be late, and that of another early.
double relative_error(const RowSample& row) {
  double residual = 0;
  for (const GroupSample& group : row.groups)
    for (const RunCase& run_case : group.cases)
      if (run_case.record->contains("fidelity"))
        residual = std::max(residual, network_residual(*run_case.record));
  return residual;
}

void add_new_number(double number, std::vector<double>& numbers) {
  if (std::find(numbers.begin(), numbers.end(), number) == numbers.end()) numbers.push_back(number);
}

RowFacts facts_of(const RowSample& row, std::map<const Json*, Json*>& records) {
  RowFacts facts;
  facts.at = row.at;
  for (const GroupSample& group : row.groups)
    for (const RunCase& run_case : group.cases) {
      if (const auto tokens = value_at(*run_case.record, "tokens")) add_new_number(*tokens, facts.tokens);
      if (const auto target = value_at(*run_case.record, "target_loss")) facts.target = target;
    }
  const RowCurves curves(row.groups);
  facts.time = curves.horizon(Budget::kSeconds);
  facts.bytes = curves.horizon(Budget::kBytes);
  if (facts.time) {
    const double residual = relative_error(row), end = facts.time->budget;
    put_losses(curves, row, Budget::kSeconds, end, kEqualTime, records);
    put_losses(curves, row, Budget::kSeconds, end * (1 - residual) / (1 + residual), kEqualTimeLate, records);
  }
  if (facts.bytes) put_losses(curves, row, Budget::kBytes, facts.bytes->budget, kEqualBytes, records);
  return facts;
}

bool is_asked(const std::string& metric, const std::vector<Json>& records) {
  const std::string& needed = metric_named(metric).target.empty() ? metric : metric_named(metric).target;
  return std::any_of(records.begin(), records.end(),
                     [&](const Json& record) { return value_at(record, needed).has_value(); });
}

// ------------------------------------------------------------------ one question at one point

// A group that takes part in a question, in the order of the answer.
struct Standing {
  std::size_t group = 0;
  double reached = 1;  // share of the seeds that have a value
};

std::vector<Standing> standings(const std::vector<Group>& groups) {
  std::vector<Standing> all;
  for (std::size_t i = 0; i < groups.size(); ++i)
    if (!groups[i].values.empty() || groups[i].has_target)
      all.push_back({i, static_cast<double>(groups[i].values.size()) /
                            static_cast<double>(std::max<std::size_t>(1, groups[i].cases))});
  std::stable_sort(all.begin(), all.end(), [&](const Standing& a, const Standing& b) {
    return a.reached != b.reached ? a.reached > b.reached : groups[a.group].mean < groups[b.group].mean;
  });
  return all;
}

// The first against another: what compare says of them.
struct Against {
  const Comparison* comparison = nullptr;
  std::size_t other = 0;
  Interval interval;  // of other − first
  double difference = 0;
  Doubt doubt = Doubt::kNone;
  std::string reason;  // why nothing is shown
};

std::string over_seeds(const Comparison& comparison) {
  return comparison.test == Test::kPaired || comparison.test == Test::kWelch
             ? fmt::format(" over {} seeds", comparison.seeds)
             : "";
}

std::string interval_words(const Metric& metric, const Against& against) {
  if (against.comparison->test != Test::kPaired && against.comparison->test != Test::kWelch) return "";
  return fmt::format(" [{}, {}]", value_text(metric, against.interval.low, against.difference),
                     value_text(metric, against.interval.high, against.difference));
}

std::string difference_words(const Metric& metric, const Against& against) {
  return value_text(metric, against.difference) + interval_words(metric, against) +
         over_seeds(*against.comparison);
}

double residual_of(const Group& a, const Group& b) {
  return std::max(a.residual, b.residual);
}

// How many times as long the other takes as the first: over the seeds that both have, as a claim on it has
// it.
std::optional<OverSeeds> ratio_of(const Group& other, const Group& first) {
  std::vector<double> ratios;
  for (const SeedValue& seed_value : other.values)
    for (const SeedValue& of_first : first.values)
      if (seed_value.seed == of_first.seed && of_first.value > 0)
        ratios.push_back(seed_value.value / of_first.value);
  if (ratios.empty() && first.mean > 0) ratios.push_back(other.mean / first.mean);
  if (ratios.empty()) return std::nullopt;
  return over_seeds_of(ratios, residual_of(other, first), true);
}

std::string ratio_text(double ratio) {
  return fmt::format("{:.3g}", ratio);
}

// "1.1", "1.1 [1.05, 1.15]".
std::string over_seeds_text(const OverSeeds& ratio) {
  const std::string low = ratio_text(ratio.interval.low), high = ratio_text(ratio.interval.high);
  return ratio_text(ratio.mean) + (low == high ? "" : fmt::format(" [{}, {}]", low, high));
}

// "1.1 times as long [1.05, 1.15] (0.956 to 1.27 with the network model's 7 %)".
std::string ratio_words(const OverSeeds& ratio, double residual) {
  const std::string mean = ratio_text(ratio.mean), interval = over_seeds_text(ratio).substr(mean.size());
  const std::string text = mean + " times as long" + interval;
  if (residual == 0) return text;
  return text + fmt::format(" ({} to {} with the network model's {} %)", ratio_text(ratio.possible.low),
                            ratio_text(ratio.possible.high), std::lround(100 * residual));
}

// "a ratio of 1.1; the network model's 7 % make that 0.956 to 1.27".
std::string undecided_ratio(const OverSeeds& ratio, double residual) {
  return fmt::format(
      "a ratio of {}; {}", over_seeds_text(ratio),
      residual_in_words(residual, ratio_text(ratio.possible.low), ratio_text(ratio.possible.high)));
}

void doubt(const Metric& metric, const Group& first, const Group& other, Against& against) {
  const Comparison& comparison = *against.comparison;
  const std::string difference = "the difference of " + difference_words(metric, against);
  if (comparison.test == Test::kNone) {
    against.doubt = Doubt::kOneSeed;
    against.reason = comparison.remark;
  } else if (comparison.has_difference && against.difference == 0) {
    against.doubt = Doubt::kEqual;
    against.reason = "they are equal";
  } else if (comparison.remark.rfind("equal", 0) == 0) {
    against.doubt = Doubt::kEqual;
    against.reason = "they are " + comparison.remark;
  } else if (comparison.has_p() && comparison.corrected.p > kLevel) {
    against.doubt = Doubt::kChance;
    against.reason = comparison.test == Test::kFisher ? "so many of so few seeds may be chance"
                                                      : difference + " may be chance";
  } else {
    against.doubt = Doubt::kNetworkModel;
    const std::optional<OverSeeds> ratio = ratio_of(other, first);
    if (comparison.remark.rfind("within", 0) == 0 && ratio)
      against.reason = undecided_ratio(*ratio, residual_of(first, other));
    else
      against.reason = difference + ": " + comparison.remark;
  }
}

Against against(const Metric& metric, const ComparisonRow& row, std::size_t first, std::size_t other) {
  Against found;
  found.other = other;
  for (const Comparison& comparison : row.comparisons) {
    const bool turned = comparison.a == first && comparison.b == other;  // compare gives a − b
    if (!turned && !(comparison.a == other && comparison.b == first)) continue;
    found.comparison = &comparison;
    found.difference = turned ? -comparison.difference.mean : comparison.difference.mean;
    found.interval =
        turned ? Interval{-comparison.interval.high, -comparison.interval.low} : comparison.interval;
    if (comparison.outcome == Outcome::kNone) doubt(metric, row.groups[first], row.groups[other], found);
    return found;
  }
  return found;
}

const ComparisonRow* row_at(const MetricComparison* metric, const Json& point) {
  if (!metric) return nullptr;
  for (const ComparisonRow& row : metric->rows)
    if (row.point == point || std::find(row.same_at.begin(), row.same_at.end(), point) != row.same_at.end())
      return &row;
  return nullptr;
}

// The difference that is left when the clock of the first is late: other − first, of the seeds that both
// have.
bool stays_when_late(const Group& late_first, const Group& other, double level) {
  std::vector<double> a, b;
  for (const SeedValue& seed_value : other.values)
    for (const SeedValue& late : late_first.values)
      if (seed_value.seed == late.seed) {
        a.push_back(seed_value.value);
        b.push_back(late.value);
      }
  return a.size() >= 2 && paired_difference(a, b).interval(1 - level).low > 0;
}

void doubt_clocks(const Metric& metric, const ComparisonRow& row, const ComparisonRow& late, double residual,
                  std::size_t first, Against& found) {
  if (!found.comparison || found.doubt != Doubt::kNone || residual == 0) return;
  const auto group = std::find_if(late.groups.begin(), late.groups.end(), [&](const Group& group_here) {
    return group_here.name == row.groups[first].name;
  });
  const bool stays = group != late.groups.end() &&
                     stays_when_late(*group, row.groups[found.other], found.comparison->corrected.level);
  if (stays) return;
  found.doubt = Doubt::kNetworkModel;
  found.reason =
      fmt::format("the network model's error of {} % in the times can turn the difference of {} round",
                  std::lround(100 * std::min(1., residual)), difference_words(metric, found));
}

// ------------------------------------------------------------------ the sentence

std::string prefix(const Question& question, const RowFacts& facts) {
  const std::string metric = question.metric;
  std::string text = capitalized(question.words);
  if (metric == "final_loss") {
    if (facts.tokens.size() > 1) return "After the last step (of different numbers of tokens)";
    return facts.tokens.empty() ? text : fmt::format("{} ({})", text, counted_tokens(facts.tokens[0]));
  }
  if (metric == kEqualTime)
    return fmt::format("{} ({}, when {} ends)", text,
                       value_text(metric_named("simulated_time_s"), facts.time->budget), facts.time->first);
  if (metric == kEqualBytes)
    return fmt::format("{} ({} sent by a replica, when {} ends)", text, human_bytes(facts.bytes->budget),
                       facts.bytes->first);
  if (metric == "time_to_target_s" && facts.target) return fmt::format("{} of {:.6g}", text, *facts.target);
  return text;
}

// "2.1500 [2.12, 2.18]", "2 min 32.4 s in every seed", "reached by 2 of 3".
std::string value_words(const Metric& metric, const Group& group) {
  std::string interval = interval_text(metric, group);
  const bool is_point = value_text(metric, group.interval.low) == value_text(metric, group.interval.high);
  if (is_point && !group.is_fixed()) interval.clear();  // its ends are alike in the digits that are shown
  return mean_text(metric, group) + (interval.empty() ? "" : " " + interval);
}

std::string behind_words(const Metric& metric, const ComparisonRow& row, const Group& first,
                         const Against& found) {
  const Group& other = row.groups[found.other];
  if (found.comparison->test == Test::kFisher)
    return fmt::format("{} {}", other.name, value_words(metric, other));
  if (!is_time(metric.path))
    return fmt::format("{} is at {}, {} more{}", other.name, value_text(metric, other.mean),
                       value_text(metric, found.difference), interval_words(metric, found));
  const std::string text = fmt::format("{} takes {}", other.name, value_text(metric, other.mean));
  if (const auto ratio = ratio_of(other, first))
    return text + ", " + ratio_words(*ratio, residual_of(first, other));
  return fmt::format("{}, {} more{}", text, value_text(metric, found.difference),
                     interval_words(metric, found));
}

// "both", "all three".
std::string all_of(std::size_t count) {
  static const char* const words[] = {"", "", "both", "all three", "all four", "all five", "all six"};
  return count < std::size(words) ? words[count] : fmt::format("all {}", count);
}

std::string named_with_values(const Metric& metric, const ComparisonRow& row, const Against& found) {
  const Group& other = row.groups[found.other];
  return fmt::format("{} ({})", other.name, value_words(metric, other));
}

// The question, and who is ahead. Those that are equal to the first are ahead with it.
std::string opening_of(const std::string& question, const Metric& metric, const ComparisonRow& row,
                       const Group& first, const std::vector<Against>& others, std::size_t asked) {
  std::vector<std::string> leaders = {first.name};
  std::size_t doubted = 0;
  for (const Against& found : others) {
    if (found.doubt == Doubt::kEqual) leaders.push_back(row.groups[found.other].name);
    doubted += found.doubt != Doubt::kNone && found.doubt != Doubt::kEqual;
  }
  const bool is_alone = leaders.size() == 1;
  if (leaders.size() == asked)
    return fmt::format("{}, {} {} {}", question, all_of(asked), is_time(metric.path) ? "take" : "are at",
                       value_words(metric, first));
  const std::string verb = !doubted               ? is_alone ? "is ahead" : "are ahead"
                           : is_time(metric.path) ? is_alone ? "is fastest" : "are fastest"
                           : is_alone             ? "has the lowest loss"
                                                  : "have the lowest loss";
  return fmt::format("{}, {} {}, {}", question, enumeration(leaders, "and"), verb,
                     value_words(metric, first));
}

const char* badge_of(const Comparison& comparison) {
  return comparison.test == Test::kOneDraw ? "shown for this draw" : "shown";
}

std::vector<Decision::Part> parts_of(const Metric& metric, const ComparisonRow& row, const Group& first,
                                     const std::vector<Against>& others, std::size_t asked) {
  std::vector<Decision::Part> parts;
  for (const Against& found : others)
    if (found.doubt == Doubt::kNone)
      parts.push_back({{row.groups[found.other].name},
                       badge_of(*found.comparison),
                       behind_words(metric, row, first, found)});
  // Of several without a difference for the same reason the reason stands once.
  std::vector<std::string> reasons;
  for (const Against& found : others)
    if (found.doubt != Doubt::kNone && found.doubt != Doubt::kEqual) add_new(found.reason, reasons);
  for (const std::string& reason : reasons) {
    std::vector<std::string> names, with_values;
    for (const Against& found : others)
      if (found.reason == reason) {
        names.push_back(row.groups[found.other].name);
        with_values.push_back(named_with_values(metric, row, found));
      }
    const std::string between = asked == 2 ? fmt::format("between {} ({}) and {}", first.name,
                                                         value_words(metric, first), with_values[0])
                                           : "to " + enumeration(with_values, "and");
    parts.push_back({names, "undecided",
                     asked == 2 ? fmt::format("no difference is shown {}: {}", between, reason)
                                : fmt::format("no difference {} is shown: {}", between, reason)});
  }
  return parts;
}

// Who trained, but was not evaluated within the budget, is not behind: nothing is known of it there.
void add_not_evaluated(const Question& question, const ComparisonRow& row, Decision& decision) {
  if (question.metric != std::string(kEqualTime) && question.metric != std::string(kEqualBytes)) return;
  std::vector<std::string> names;
  for (const Group& group : row.groups)
    if (group.values.empty()) names.push_back(group.name);
  if (!names.empty())
    decision.parts.push_back(
        {names, "not compared", enumeration(names, "and") + " had not been evaluated by then"});
}

std::optional<Decision> decided(const Question& question, const MetricComparison& metric,
                                const ComparisonRow& row, const ComparisonRow* late, const RowFacts& facts,
                                double residual) {
  const std::vector<Standing> order = standings(row.groups);
  if (order.size() < 2) return std::nullopt;
  const Group& first = row.groups[order[0].group];
  Decision decision;
  decision.metric = question.metric;
  decision.question = question.words;
  decision.first = first.name;
  const std::string asked = prefix(question, facts);
  if (first.values.empty()) {
    decision.doubt = Doubt::kEqual;
    decision.opening = asked + ": no method reached it";
    return decision;
  }
  std::vector<Against> others;
  for (std::size_t i = 1; i < order.size(); ++i) {
    Against found = against(metric.metric, row, order[0].group, order[i].group);
    if (!found.comparison) continue;
    if (late) doubt_clocks(metric.metric, row, *late, residual, order[0].group, found);
    others.push_back(std::move(found));
  }
  if (others.empty()) return std::nullopt;
  for (const Against& found : others) {
    if (decision.doubt == Doubt::kNone) decision.doubt = found.doubt;
    if (found.doubt == Doubt::kNone && found.comparison->test == Test::kOneDraw)
      decision.is_of_one_draw = true;
  }
  const Group& second = row.groups[others[0].other];
  const std::optional<OverSeeds> ratio = ratio_of(second, first);
  decision.lead = !is_time(question.metric) ? second.mean - first.mean : ratio ? ratio->mean : 0;
  decision.is_tie = others.size() == 1 && decision.doubt != Doubt::kNone && decision.doubt != Doubt::kEqual;
  decision.opening =
      decision.is_tie ? asked : opening_of(asked, metric.metric, row, first, others, others.size() + 1);
  decision.parts = parts_of(metric.metric, row, first, others, others.size() + 1);
  add_not_evaluated(question, row, decision);
  return decision;
}

// ------------------------------------------------------------------ over all points

std::string doubts_words(const std::map<Doubt, std::size_t>& doubts) {
  std::vector<std::string> parts;
  for (const auto& [doubt, words] : {std::pair(Doubt::kOneSeed, "one seed shows nothing"),
                                     std::pair(Doubt::kChance, "the difference may be chance"),
                                     std::pair(Doubt::kNetworkModel, "the network model's error is as large"),
                                     std::pair(Doubt::kEqual, "the first are equal")})
    if (const auto found = doubts.find(doubt); found != doubts.end())
      parts.push_back(doubts.size() == 1 ? words : fmt::format("at {} {}", found->second, words));
  return join(parts);
}

std::string lead_words(const std::string& metric, const std::vector<double>& leads) {
  const auto [low, high] = std::minmax_element(leads.begin(), leads.end());
  const auto text = [&](double value) {
    return is_time(metric) ? fmt::format("{:.3g}", value) : value_text(metric_named(metric), value);
  };
  const std::string range = text(*low) == text(*high) ? text(*low) : text(*low) + " to " + text(*high);
  return is_time(metric) ? fmt::format("the next takes {} times as long", range) : range + " before the next";
}

// "is diloco at 4 and noloco at 5", "is diloco".
std::string lowest_words(const std::map<std::string, std::size_t>& lowest) {
  if (lowest.size() == 1) return "is " + lowest.begin()->first;
  std::vector<std::string> parts;
  for (const auto& [name, count] : lowest)
    parts.push_back(fmt::format("{} ({})", name, counted(count, "point")));
  return "is " + enumeration(parts, "and");
}

std::string over_points(const Question& question, const std::vector<PointDecisions>& points) {
  std::vector<std::string> leaders;
  std::map<std::string, std::vector<double>> leads;
  std::map<Doubt, std::size_t> doubts;
  std::map<std::string, std::size_t> lowest;  // where no difference is shown
  std::size_t asked = 0, open = 0, of_one_draw = 0;
  for (const PointDecisions& point : points)
    for (const Decision& decision : point.decisions) {
      if (decision.metric != question.metric) continue;
      ++asked;
      if (decision.doubt != Doubt::kNone) {
        ++open;
        ++doubts[decision.doubt];
        ++lowest[decision.first];
        continue;
      }
      add_new(decision.first, leaders);
      leads[decision.first].push_back(decision.lead);
      of_one_draw += decision.is_of_one_draw;
    }
  if (asked == 0) return "";
  std::stable_sort(leaders.begin(), leaders.end(), [&](const std::string& a, const std::string& b) {
    return leads[a].size() > leads[b].size();
  });
  std::vector<std::string> parts;
  for (const std::string& leader : leaders)
    parts.push_back(fmt::format("{} is ahead at {} points ({})", leader,
                                leads[leader].size() == asked
                                    ? fmt::format("all {}", asked)
                                    : fmt::format("{} of {}", leads[leader].size(), asked),
                                lead_words(question.metric, leads[leader])));
  if (open)
    parts.push_back(fmt::format("at {} no method is shown to be ahead of all others ({}); lowest {}",
                                open == asked ? fmt::format("all {} points", asked) : fmt::format("{}", open),
                                doubts_words(doubts), lowest_words(lowest)));
  if (of_one_draw)
    parts.push_back(fmt::format("{} that is shown for the draw of one seed alone",
                                of_one_draw == asked ? "all of" : fmt::format("at {} points", of_one_draw)));
  return capitalized(question.words) + ": " + join(parts, "; ") + ".";
}

// ------------------------------------------------------------------ conditions

constexpr std::size_t kMostValues = 8;

std::string values_words(const std::vector<const Json*>& records, const char* key) {
  std::vector<std::string> values;
  for (const Json* record : records)
    if (record->contains(key)) add_new(plain((*record)[key]), values);
  if (values.size() <= kMostValues) return join(values);
  return fmt::format("{} to {}", values.front(), values.back());
}

bool is_swept(const std::vector<std::string>& keys, const std::string& section) {
  return std::any_of(keys.begin(), keys.end(),
                     [&](const std::string& key) { return key.rfind(section, 0) == 0; });
}

// "star of access links with 1Gbps, round trip 50ms", of each run; where it is swept its name alone.
std::string network_words(const std::vector<RunDirectory>& runs) {
  std::vector<std::string> all;
  for (const RunDirectory& run : runs) {
    const bool varies = is_swept(swept_keys(run.records), "network.topology");
    const Json scenario = run.manifest.is_object() ? member(run.manifest, "scenario") : Json();
    const Json topology = member(member(scenario, "network"), "topology");
    for (const TopologyKind& kind : topologies())
      if (const Json section = member(topology, kind.name()); !section.is_null())
        add_new(varies ? kind.name() : kind.words(section), all);
  }
  return join(all, "; ");
}

std::string conditions_of(const std::vector<RunDirectory>& runs) {
  std::vector<const Json*> done;
  for (const RunDirectory& run : runs)
    for (const Json& record : run.records)
      if (record.value("status", "") == "done") done.push_back(&record);
  std::vector<std::string> seeds;
  for (const Json* record : done)
    if (record->contains("seed")) add_new(plain((*record)["seed"]), seeds);
  std::string text = counted(seeds.size(), "seed");
  if (const std::string replicas = values_words(done, "replicas"); !replicas.empty())
    text = fmt::format("{} replica{}, {}", replicas, replicas == "1" ? "" : "s", text);
  if (const std::string network = network_words(runs); !network.empty()) text += "; network: " + network;
  if (const std::string fidelity = values_words(done, "fidelity"); !fidelity.empty())
    text += "; fidelity " + fidelity;
  std::vector<std::string> keys = swept_keys(all_records(runs));
  keys.erase(std::remove(keys.begin(), keys.end(), "seed"), keys.end());
  if (!keys.empty()) text += "; swept: " + join(keys);
  return text + ".";
}

std::string grounds_of(const ComparisonTable& table) {
  std::string text = "The verdicts are those of longhaul compare: ";
  text += table.tests == 0
              ? "nothing here had to be tested."
              : fmt::format(
                    "differences paired by seed, p corrected by Holm over the {} behind these sentences "
                    "(together 5 %).",
                    counted(table.tests, "test"));
  return text +
         " Brackets are 95 % intervals over the seeds, those of differences at the level of their test; what "
         "is said with the network model's error is such an interval widened by it. What no seed changes "
         "needs "
         "no test; a difference of simulated times must be larger than that error.";
}

// ------------------------------------------------------------------ text

Json decisions_json(const std::vector<Decision>& decisions) {
  Json json = Json::array();
  for (const Decision& decision : decisions) {
    Json parts = Json::array();
    for (const Decision::Part& part : decision.parts)
      parts.push_back({{"others", part.others}, {"badge", part.badge}, {"words", part.words}});
    json.push_back({{"question", decision.question},
                    {"first", decision.first},
                    {"shown", decision.doubt == Doubt::kNone},
                    {"sentence", decision.sentence()},
                    {"opening", decision.opening},
                    {"parts", parts}});
  }
  return json;
}

std::vector<std::string> sentences_of(const PointDecisions& point) {
  std::vector<std::string> sentences;
  for (const Decision& decision : point.decisions) sentences.push_back(decision.sentence());
  return sentences;
}

std::vector<std::string> main_sentences(const Conclusions& conclusions) {
  return conclusions.everywhere.empty() ? sentences_of(conclusions.points.at(0)) : conclusions.everywhere;
}

}  // namespace

// "At equal tokens, b is ahead, 2.01; a is at 3.01, 1 more [0.99, 1.01]."
std::string Decision::sentence() const {
  std::string text = opening;
  for (const Part& part : parts) text += (is_tie && text == opening ? ", " : "; ") + part.words;
  if (is_of_one_draw) text += "; one seed: shown for this draw alone";
  return text + ".";
}

Conclusions conclusions_of(const std::vector<RunDirectory>& runs, const ComparisonRequest& request) {
  std::vector<RunDirectory> copies = runs;  // with what is measured here in their records
  std::map<const Json*, Json*> records;
  bool any_done = false;
  for (RunDirectory& run : copies)
    for (Json& record : run.records) {
      records[&record] = &record;
      any_done = any_done || record.value("status", "") == "done";
    }
  if (!any_done) return {};
  ComparisonRequest asked = request;
  asked.metrics = {};
  const Samples samples = samples_of(copies, asked);
  Facts facts;
  std::map<std::string, double> residuals;
  for (const RowSample& row : samples.rows) {
    if (row.groups.size() < 2) continue;
    facts[row.point.dump()] = facts_of(row, records);
    residuals[row.point.dump()] = relative_error(row);
  }
  if (facts.empty()) return {};
  const std::vector<Json> all = all_records(copies);
  for (const Question& question : kQuestions)
    if (is_asked(question.metric, all)) asked.metrics.push_back(question.metric);
  if (asked.metrics.empty()) return {};
  const ComparisonTable table = compare_runs(copies, asked);
  std::optional<ComparisonTable> late;
  if (is_asked(kEqualTimeLate, all)) {
    asked.metrics = {kEqualTimeLate};
    late = compare_runs(copies, asked);
  }
  Conclusions conclusions;
  for (const RowSample& row : samples.rows) {
    const auto known = facts.find(row.point.dump());
    if (known == facts.end()) continue;
    PointDecisions point{row.at, {}};
    for (const Question& question : kQuestions)
      for (const MetricComparison& metric : table.metrics) {
        if (metric.metric.path != question.metric) continue;
        const ComparisonRow* compared = row_at(&metric, row.point);
        if (!compared) continue;
        const bool has_clocks = late && std::string(question.metric) == kEqualTime;
        const ComparisonRow* late_row = has_clocks ? row_at(&late->metrics.at(0), row.point) : nullptr;
        if (auto item =
                decided(question, metric, *compared, late_row, known->second, residuals[row.point.dump()]))
          point.decisions.push_back(std::move(*item));
      }
    if (!point.decisions.empty()) conclusions.points.push_back(std::move(point));
  }
  if (conclusions.empty()) return {};
  conclusions.conditions = conditions_of(copies);
  conclusions.grounds = grounds_of(table);
  if (conclusions.points.size() > 1)
    for (const Question& question : kQuestions)
      if (std::string text = over_points(question, conclusions.points); !text.empty())
        conclusions.everywhere.push_back(std::move(text));
  return conclusions;
}

std::string conclusions_text(const Conclusions& conclusions, std::size_t width) {
  if (conclusions.empty()) return "";
  std::string text = "What to conclude\n" + wrapped(conclusions.conditions, width, "", "");
  for (const std::string& word : main_sentences(conclusions)) text += wrapped(word, width, "- ", "  ");
  return text + wrapped(conclusions.grounds, width, "", "");
}

std::string conclusions_markdown(const Conclusions& conclusions) {
  if (conclusions.empty()) return "";
  std::string text = "### What to conclude\n\n" + markdown_text(conclusions.conditions) + "\n\n";
  for (const std::string& word : main_sentences(conclusions)) text += "- " + markdown_text(word) + "\n";
  return text + "\n" + markdown_text(conclusions.grounds) + "\n\n";
}

Json conclusions_json(const Conclusions& conclusions) {
  if (conclusions.empty()) return nullptr;
  Json points = Json::array();
  for (const PointDecisions& point : conclusions.points)
    points.push_back({{"at", point.at}, {"decisions", decisions_json(point.decisions)}});
  return {{"conditions", conclusions.conditions},
          {"everywhere", conclusions.everywhere},
          {"points", points},
          {"grounds", conclusions.grounds}};
}

}  // namespace longhaul
