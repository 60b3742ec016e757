#include "analysis/comparison/decision_words.h"

#include <fmt/core.h>

#include <cmath>

#include "analysis/comparison/comparison.h"
#include "analysis/comparison/decision.h"
#include "analysis/comparison/metric.h"
#include "analysis/comparison/over_points.h"
#include "analysis/comparison/pair_words.h"
#include "analysis/comparison/power_notes.h"
#include "analysis/comparison/render.h"
#include "analysis/record_values.h"
#include "analysis/text.h"
#include "core/base/errors.h"
#include "core/base/ranges.h"
#include "core/base/units.h"
#include "net/topologies/registry.h"

namespace longhaul {
namespace {

using Against = Decision::Against;
using Doubt = Decision::Doubt;
using Test = Comparison::Test;

// "2.05 million", "512".
std::string counted_tokens(double tokens) {
  const auto [scale, word] = tokens < 1e6    ? std::pair(1., "")
                             : tokens < 1e9  ? std::pair(1e6, " million")
                             : tokens < 1e12 ? std::pair(1e9, " billion")
                                             : std::pair(1e12, " trillion");
  return scale == 1. ? fmt::format("{:.0f}", tokens) : fmt::format("{:.3g}{}", tokens / scale, word);
}

std::string interval_words(const Metric& metric, const Against& against) {
  if (!against.comparison.has_interval()) return "";
  return fmt::format(" [{}, {}]", value_text(metric, against.interval.low, against.difference),
                     value_text(metric, against.interval.high, against.difference));
}

std::string difference_words(const Metric& metric, const Against& against) {
  const Comparison& comparison = against.comparison;
  return value_text(metric, against.difference) + interval_words(metric, against) +
         (comparison.has_interval() ? fmt::format(" over {} seeds", comparison.seeds) : "");
}

double residual_of(const Group& a, const Group& b) {
  return std::max(a.residual, b.residual);
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

// Why nothing is shown, of two that are not equal.
std::string reason_of(const Decision& decision, const Against& against, double clock_residual) {
  const Comparison& comparison = against.comparison;
  const Group &first = decision.leader(), &other = decision.row.groups[against.other];
  const std::string difference = "the difference of " + difference_words(decision.metric, against);
  const std::string seeds =
      seeds_that_decide(comparison.seeds_needed ? std::vector<std::size_t>{comparison.seeds_needed}
                                                : std::vector<std::size_t>());
  const std::string decided_by = seeds.empty() ? "" : "; " + seeds;
  if (against.doubt == Doubt::kOneSeed)
    return comparison.remark + fmt::format("; {} seeds would find a difference of three standard deviations",
                                           seeds_for_a_large_difference(decision.row.comparisons.size()));
  if (against.doubt == Doubt::kOtherSeeds) return "over the seeds that both have the order is the other one";
  if (against.doubt == Doubt::kChance)
    return (comparison.test == Test::kFisher ? "so many of so few seeds may be chance"
                                             : difference + " may be chance") +
           decided_by;
  if (against.by_clocks)
    return fmt::format("the network model's error of {} % in the times can turn {} round",
                       std::lround(100 * std::min(1., clock_residual)), difference);
  const std::optional<OverSeeds> ratio = ratio_of(other, first);
  if (comparison.remark.rfind("within", 0) == 0 && ratio)
    return undecided_ratio(*ratio, residual_of(first, other));
  return difference + ": " + comparison.remark + decided_by;
}

std::string prefix(const Decision& decision, const PointDecisions& point) {
  const std::string text = capitalized(decision.question), &metric = decision.metric.path;
  if (metric == "final_loss") {
    if (point.tokens.size() > 1) return "After the last step (of different numbers of tokens)";
    return point.tokens.empty() ? text : fmt::format("{} ({})", text, counted_tokens(point.tokens[0]));
  }
  if (metric == "loss@equal_time")
    return fmt::format("{} ({}, when {} ends)", text,
                       value_text(metric_named("simulated_time_s"), point.time->budget), point.time->first);
  if (metric == "loss@equal_bytes")
    return fmt::format("{} ({} sent by a replica, when {} ends)", text, human_bytes(point.bytes->budget),
                       point.bytes->first);
  if (metric == "time_to_target_s" && point.target) return fmt::format("{} of {:.6g}", text, *point.target);
  return text;
}

// "2.1500 [2.12, 2.18]", "2 min 32.4 s in every seed", "reached by 2 of 3".
std::string value_words(const Metric& metric, const Group& group) {
  std::string interval = interval_text(metric, group);
  const bool is_point = value_text(metric, group.interval.low) == value_text(metric, group.interval.high);
  if (is_point && !group.is_fixed()) interval.clear();  // its ends are alike in the digits that are shown
  return mean_text(metric, group) + (interval.empty() ? "" : " " + interval);
}

std::string behind_words(const Decision& decision, const Against& found) {
  const Metric& metric = decision.metric;
  const Group &first = decision.leader(), &other = decision.row.groups[found.other];
  if (found.comparison.test == Test::kFisher)
    return fmt::format("{} {}", other.name, value_words(metric, other));
  const std::string more =
      fmt::format("{} more{}", value_text(metric, found.difference), interval_words(metric, found));
  const std::string mean = value_text(metric, other.mean);
  if (!decision.is_time()) return fmt::format("{} is at {}, {}", other.name, mean, more);
  const auto ratio = ratio_of(other, first);
  return fmt::format("{} takes {}, {}", other.name, mean,
                     ratio ? ratio_words(*ratio, residual_of(first, other)) : more);
}

// "both", "all three".
std::string all_of(std::size_t count) {
  static const char* const words[] = {"", "", "both", "all three", "all four", "all five", "all six"};
  return count < std::size(words) ? words[count] : fmt::format("all {}", count);
}

// The question, and who is ahead. Those that are equal to the first are ahead with it.
std::string opening_of(const Decision& decision, const std::string& question) {
  std::vector<std::string> leaders = {decision.leader().name};
  std::size_t doubted = 0;
  for (const Against& found : decision.others) {
    if (found.doubt == Doubt::kEqual) leaders.push_back(decision.row.groups[found.other].name);
    doubted += found.doubt != Doubt::kNone && found.doubt != Doubt::kEqual;
  }
  const bool is_alone = leaders.size() == 1, is_time = decision.is_time();
  const std::string value = value_words(decision.metric, decision.leader());
  if (leaders.size() == decision.others.size() + 1)
    return fmt::format("{}, {} {} {}", question, all_of(leaders.size()), is_time ? "take" : "are at", value);
  if (doubted == decision.others.size())
    return fmt::format("{}, none is shown to be {}: {} {} {}", question, is_time ? "fastest" : "ahead",
                       decision.leader().name, is_time ? "takes" : "is at", value);
  const std::string verb = !doubted || is_time ? is_alone ? "is " : "are " : is_alone ? "has " : "have ";
  return fmt::format("{}, {} {}{}, {}", question, enumeration(leaders, "and"), verb,
                     !doubted  ? "ahead"
                     : is_time ? "fastest"
                               : "the lowest loss",
                     value);
}

// Of the others among themselves.
std::vector<DecisionWords::Part> further_parts(const Decision& decision) {
  PairTally tally(
      decision.metric,
      each_of(decision.others, [&](const Against& found) { return decision.row.groups[found.other].name; }),
      1);
  const auto is_first_too = [&](std::size_t group) {  // ahead with the first, as the opening says
    return any_of(decision.others,
                  [&](const Against& found) { return found.other == group && found.doubt == Doubt::kEqual; });
  };
  for (const Against& found : decision.further)
    if (found.doubt == Doubt::kOneSeed)
      continue;  // as is said of the first
    else if (found.doubt != Doubt::kEqual || !is_first_too(found.ahead) || !is_first_too(found.other))
      tally.add(decision.row, found, false);
  std::vector<DecisionWords::Part> parts;
  for (const PairTally::Phrase& phrase : tally.shown())
    parts.push_back({phrase.behind, phrase.is_of_one_draw ? "shown for this draw" : "shown", phrase.words});
  for (const PairTally::Phrase& phrase : tally.open())
    parts.push_back({phrase.behind, "undecided", phrase.words});
  return parts;
}

std::vector<DecisionWords::Part> parts_of(const Decision& decision, double clock_residual) {
  const auto name_of = [&](const Against& found) { return decision.row.groups[found.other].name; };
  std::vector<DecisionWords::Part> parts;
  for (const Against& found : decision.others)
    if (found.doubt == Doubt::kNone)
      parts.push_back({{name_of(found)},
                       found.comparison.test == Test::kOneDraw ? "shown for this draw" : "shown",
                       behind_words(decision, found)});
  // Of several without a difference for the same reason the reason stands once.
  nlohmann::ordered_map<std::string, std::vector<const Against*>> reasons;
  for (const Against& found : decision.others)
    if (found.doubt != Doubt::kNone && found.doubt != Doubt::kEqual)
      reasons[reason_of(decision, found, clock_residual)].push_back(&found);
  for (const auto& [reason, of] : reasons) {
    std::vector<std::string> names, with_values;
    for (const Against* found : of) {
      names.push_back(name_of(*found));
      with_values.push_back(fmt::format("{} ({})", names.back(),
                                        value_words(decision.metric, decision.row.groups[found->other])));
    }
    const std::string words =
        decision.others.size() == 1
            ? fmt::format("is shown between {} ({}) and {}", decision.leader().name,
                          value_words(decision.metric, decision.leader()), with_values[0])
            : fmt::format("to {} is shown", enumeration(with_values, "and"));
    parts.push_back({names, "undecided", fmt::format("no difference {}: {}", words, reason)});
  }
  for (DecisionWords::Part& part : further_parts(decision)) parts.push_back(std::move(part));
  // Who trained, but was not evaluated within the budget, is not behind: nothing is known of it there.
  std::vector<std::string> without;
  if (decision.is_at_equal_budget())
    for (const Group& group : decision.row.groups)
      if (group.values.empty()) without.push_back(group.name);
  if (!without.empty())
    parts.push_back(
        {without, "not compared", enumeration(without, "and") + " had not been evaluated by then"});
  return parts;
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
  return any_of(keys, [&](const std::string& key) { return key.rfind(section, 0) == 0; });
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

// "6 tests", "6 to 24 tests".
std::string families_words(std::vector<std::size_t> tests) {
  drop_if(tests, [](std::size_t count) { return count == 0; });
  const auto [least, most] = std::minmax_element(tests.begin(), tests.end());
  return *least == *most ? counted(*most, "test") : fmt::format("{} to {} tests", *least, *most);
}

std::string grounds_of(const std::vector<std::size_t>& tests) {
  const std::size_t families =
      static_cast<std::size_t>(count_if(tests, [](std::size_t count) { return count; }));
  std::string text = "The verdicts are those of longhaul compare. ";
  text +=
      families == 0
          ? "Nothing here had to be tested."
          : fmt::format(
                "Differences are paired by seed. Each question is a family of its own: p is corrected by "
                "Holm "
                "over all its pairs, at all points where the values differ ({}). So a sentence names a "
                "difference that is only chance with a probability of at most 5 %{}. How many seeds would "
                "decide is said for a difference as large as the one seen, found in 80 % of cases.",
                families_words(tests),
                families > 1
                    ? fmt::format(", one of these {} or more with at most {} %", families, 5 * families)
                    : "");
  return text +
         " Brackets are 95 % intervals over the seeds, those of differences at the level of their test; what "
         "is said with the network model's error is such an interval widened by it. What no seed changes "
         "needs no test; a difference of simulated times must be larger than that error.";
}

}  // namespace

// "At equal tokens, b is ahead, 2.01; a is at 3.01, 1 more [0.99, 1.01]."
DecisionWords in_words(const Decision& decision, const PointDecisions& point) {
  const std::string asked = prefix(decision, point);
  if (decision.others.empty())
    return {asked + ": no method reached it", {}, asked + ": no method reached it."};
  DecisionWords words{decision.is_tie ? asked : opening_of(decision, asked),
                      parts_of(decision, point.residual), ""};
  words.sentence = words.opening;
  for (const DecisionWords::Part& part : words.parts)
    words.sentence += (decision.is_tie && words.sentence == words.opening ? ", " : "; ") + part.words;
  words.sentence += decision.is_of_one_draw ? "; one seed: shown for this draw alone." : ".";
  return words;
}

std::vector<std::string> over_all_points(const Conclusions& conclusions) {
  std::vector<std::string> sentences;
  if (conclusions.points.size() < 2) return sentences;
  for (const auto& [metric, question] : decision_questions())
    if (std::string text = over_points(metric, question, conclusions.points); !text.empty())
      sentences.push_back(std::move(text));
  return sentences;
}

std::string conditions_in_words(const std::vector<RunDirectory>& runs) {
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

std::string conclusions_markdown(const Conclusions& conclusions) {
  if (conclusions.empty()) return "";
  std::vector<std::string> sentences = over_all_points(conclusions);
  if (sentences.empty())
    for (const Decision& decision : conclusions.points[0].decisions)
      sentences.push_back(in_words(decision, conclusions.points[0]).sentence);
  std::string text = "### What to conclude\n\n" + markdown_text(conclusions.conditions) + "\n\n";
  for (const std::string& word : sentences) text += "- " + markdown_text(word) + "\n";
  return text + "\n" + markdown_text(grounds_of(conclusions.tests)) + "\n\n";
}

Json conclusions_json(const Conclusions& conclusions) {
  if (conclusions.empty()) return nullptr;
  Json points = Json::array();
  for (const PointDecisions& point : conclusions.points) {
    Json decisions = Json::array();
    for (const Decision& decision : point.decisions) {
      const DecisionWords words = in_words(decision, point);
      Json parts = Json::array();
      for (const DecisionWords::Part& part : words.parts)
        parts.push_back({{"others", part.others}, {"badge", part.badge}, {"words", part.words}});
      decisions.push_back({{"question", decision.question},
                           {"first", decision.leader().name},
                           {"shown", decision.doubt == Doubt::kNone},
                           {"sentence", words.sentence},
                           {"opening", words.opening},
                           {"parts", parts}});
    }
    points.push_back({{"at", point.at}, {"decisions", decisions}});
  }
  return {{"conditions", conclusions.conditions},
          {"everywhere", over_all_points(conclusions)},
          {"points", points},
          {"grounds", grounds_of(conclusions.tests)}};
}

}  // namespace longhaul
