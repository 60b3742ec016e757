#include "analysis/claims/claims.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <optional>

#include "analysis/record_values.h"
#include "analysis/residual.h"
#include "analysis/statistics.h"
#include "analysis/text.h"
#include "core/base/errors.h"
#include "core/base/ranges.h"
#include "core/base/units.h"
#include "core/scenario/metrics.h"
#include "core/scenario/scenario.h"

namespace longhaul {
namespace {

enum class Verdict { kFails, kUndecided, kHolds };  // in this order: "all" is the minimum, "any" the maximum

const char* word(Verdict verdict) {
  const char* words[] = {"fails", "undecided", "holds"};
  return words[static_cast<int>(verdict)];
}

// What a claim says about one number.
struct Bound {
  double threshold = 0, within = 0;  // a fraction of it
  // What may be, ends included; infinite where a claim says "at most" or "at least".
  double bottom = -std::numeric_limits<double>::infinity(), top = -bottom;

  explicit Bound(const Json& claim) : within(claim.value("within", 0.)) {
    for (const char* key : {"at_least", "at_most", "equals"})
      if (claim.contains(key)) threshold = claim[key];
    const double slack = within * std::abs(threshold);
    const double rounding = 1e-9 * std::abs(threshold);  // of numbers that are equal but for the last bits
    if (!claim.contains("at_most")) bottom = threshold - slack - rounding;
    if (!claim.contains("at_least")) top = threshold + slack + rounding;
  }

  Verdict judge(double low, double high) const {
    if (low >= bottom && high <= top) return Verdict::kHolds;
    return high < bottom || low > top ? Verdict::kFails : Verdict::kUndecided;
  }

  // Whether every verdict in which one of the two is an end is the same with the other.
  bool is_alike(double a, double b) const {
    return (a >= bottom) == (b >= bottom) && (a <= top) == (b <= top);
  }
};

// The bound of a verdict's record, as the keys of a claim; null where it is damaged.
Json bound_of(const Json& verdict) {
  const std::string words = plain(member(verdict, "bound"));
  const Json threshold = member(verdict, "threshold");
  if (!threshold.is_number()) return nullptr;
  for (const auto& [key, start] : {std::pair("at_least", "at least "), std::pair("at_most", "at most ")})
    if (words.rfind(start, 0) == 0) return {{key, threshold}};
  const std::size_t within = words.find(" within ");
  const double percent = within == std::string::npos ? 0 : std::strtod(words.c_str() + within + 8, nullptr);
  return {{"equals", threshold}, {"within", percent / 100}};
}

std::string with_digits(double value, int digits) {
  const double size = std::abs(value);
  if (!(size >= 1e-4 && size < 1e15)) return fmt::format("{:.{}g}", value, digits);
  const int decimals = std::max(0, digits - 1 - static_cast<int>(std::floor(std::log10(size))));
  std::string text = fmt::format("{:.{}f}", value, decimals);
  if (decimals > 0) text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

// The cases of one point of the sweep: values over seeds.
struct PointValues {
  Json swept;
  std::vector<double> values;
  std::vector<Interval> possible;  // of each, where records say it of the metric
  std::vector<std::string> evidence;
  double residual = 0;
  std::string outside;  // of a residual that is not known
  bool complete = true;
};

struct Judged {
  const PointValues* point;
  double measured, low, high;
  Verdict verdict;
  Interval possible = {NAN, NAN};  // low to high, widened by the network model's error
};

// Without a copy; a record of somebody else's may lack it.
const Json& member_or_null(const Json& object, const char* key) {
  static const Json null;
  const auto found = object.find(key);
  return found == object.end() ? null : *found;
}

using Labels = std::vector<std::string>;

Labels labels_in(const std::vector<Json>& records) {
  Labels labels;
  for (const Json& entry : records) add_new(plain(member_or_null(entry, "label")), labels);
  return labels;
}

// "methods.noloco.pattern": no case of another method has it.
bool is_of_another_method(const std::string& key, const Json& label, const Labels& labels) {
  return is_method_option(key) && addressed_label(key, labels) != plain(label);
}

// A sweep may be a union whose parts sweep different keys. A case that does not have a key has the scenario's
// value there, which is none of those swept: it is not at that point.
bool agrees(const Json& entry, const Json& where, const Labels& labels) {
  const Json &swept = member_or_null(entry, "swept"), &label = member_or_null(entry, "label");
  for (const auto& [key, value] : where.items())
    if (swept.contains(key) ? swept[key] != value : !is_of_another_method(key, label, labels)) return false;
  return true;
}

// At a point of the whole that `where` names? `labels` of the methods whose keys `swept` has, among the
// `known` ones. A null stands for the scenario's own value, as in parts of a sweep that do not vary the key;
// a list is a union.
bool fits(const Json& swept, const std::vector<Json>& labels, const Json& where, const Labels& known) {
  if (where.is_array())
    return std::any_of(where.begin(), where.end(),
                       [&](const Json& one) { return fits(swept, labels, one, known); });
  for (const auto& [key, value] : where.items()) {
    const auto is_of_another = [&, &key = key](const Json& label) {
      return is_of_another_method(key, label, known);
    };
    if (swept.contains(key) ? swept[key] != value
                            : !value.is_null() && !std::all_of(labels.begin(), labels.end(), is_of_another))
      return false;
  }
  return true;
}

bool fits(const Json& entry, const Json& where, const Labels& known) {
  return fits(member_or_null(entry, "swept"), {member_or_null(entry, "label")}, where, known);
}

Json swept_by_both(const Json& a, const Json& b) {
  Json both = a.is_null() ? Json::object() : a;
  for (const auto& [key, value] : b.items()) both[key] = value;
  return both;
}

// In the order in which they were first met; looked up by text, because a sweep may have thousands.
class PointTable {
 public:
  PointValues& with(const Json& swept) {
    const auto [entry, is_new] = place_.emplace(swept.dump(), points_.size());
    if (is_new) points_.emplace_back().swept = swept;
    return points_[entry->second];
  }

  std::vector<PointValues> take() { return std::move(points_); }

 private:
  std::vector<PointValues> points_;
  std::map<std::string, std::size_t> place_;
};

void add(PointValues& point, std::optional<double> value, std::initializer_list<const Json*> cases,
         const Metric& metric) {
  for (const Json* entry : cases) {
    point.evidence.push_back(entry->at("case"));
    if (!metric.depends_on_network_time) continue;
    const double residual = network_residual(*entry);
    if (residual >= 1) point.outside = outside_of(*entry);
    point.residual = std::max(point.residual, residual);
  }
  if (value && std::isfinite(*value))
    point.values.push_back(*value);
  else
    point.complete = false;
}

std::optional<double> done_value(const Json& record, const std::string& metric) {
  return record.value("status", "") == "done" ? value_at(record, metric) : std::nullopt;
}

std::vector<PointValues> metric_points(const Json& claim, const std::vector<Json>& records) {
  const Metric metric = metric_named(claim["metric"]);
  const Json where = claim.value("where", Json::object());
  const Labels labels = labels_in(records);
  PointTable points;
  for (const Json& entry : records) {
    if (claim.contains("of") && member_or_null(entry, "label") != claim["of"]) continue;
    if (!fits(entry, where, labels)) continue;
    Json swept = entry.value("swept", Json::object());
    if (!claim.contains("of")) swept["method"] = member_or_null(entry, "label");
    PointValues& point = points.with(swept);
    const std::optional<double> value = done_value(entry, metric.path);
    if (const auto possible = possible_value(entry, metric.path); possible && value)
      point.possible.push_back(*possible);
    add(point, value, {&entry}, metric);
  }
  return points.take();
}

// Of numbers that are not negative; without end where the denominator may be 0.
Interval quotient(const Interval& above, const Interval& below) {
  return {below.high > 0 ? above.low / below.high : 0,
          below.low > 0 ? above.high / below.low : std::numeric_limits<double>::infinity()};
}

std::vector<const Json*> cases_of(const Json& label, const Json& where, const std::vector<Json>& records,
                                  const Labels& labels) {
  std::vector<const Json*> cases;
  for (const Json& entry : records)
    if (member_or_null(entry, "label") == label && fits(entry, where, labels)) cases.push_back(&entry);
  return cases;
}

// The swept keys that every one of the cases has.
std::vector<std::string> common_keys(const std::vector<const Json*>& cases) {
  std::vector<std::string> keys;
  if (cases.empty()) return keys;
  for (const auto& [key, value] : member_or_null(*cases[0], "swept").items())
    if (std::all_of(cases.begin(), cases.end(), [&key = key](const Json* entry) {
          return member_or_null(*entry, "swept").contains(key);
        }))
      keys.push_back(key);
  return keys;
}

// Cases that can be a pair have the same; so not all pairs of a large sweep are looked at.
std::string pairing_text(const Json& entry, const std::vector<std::string>& keys) {
  std::string text = member_or_null(entry, "seed").dump();
  for (const std::string& key : keys) text += "," + member_or_null(entry, "swept")[key].dump();
  return text;
}

std::vector<PointValues> ratio_points(const Json& claim, const std::vector<Json>& records) {
  const Metric metric = metric_named(claim["ratio"]);
  const Json where = claim.value("where", Json::object());
  const Labels labels = labels_in(records);
  const std::vector<const Json*> aboves = cases_of(claim["of"], where, records, labels);
  const std::vector<const Json*> belows = cases_of(claim["to"], where, records, labels);
  std::vector<const Json*> both = aboves;
  both.insert(both.end(), belows.begin(), belows.end());
  const std::vector<std::string> keys = common_keys(both);
  std::map<std::string, std::vector<const Json*>> partners;
  for (const Json* below : belows) partners[pairing_text(*below, keys)].push_back(below);
  PointTable points;
  for (const Json* above : aboves) {
    for (const Json* below : partners[pairing_text(*above, keys)]) {
      const Json &of_above = member_or_null(*above, "swept"), &of_below = member_or_null(*below, "swept");
      // Cases of different methods may differ in the keys of these methods alone.
      if (!agrees(*above, of_below, labels) || !agrees(*below, of_above, labels)) continue;
      const Json swept = swept_by_both(of_above, of_below);
      // each fits, in other objects of a list
      if (!fits(swept, {claim["of"], claim["to"]}, where, labels)) continue;
      const auto numerator = done_value(*above, metric.path), denominator = done_value(*below, metric.path);
      std::optional<double> ratio;
      if (numerator && denominator && *denominator != 0) ratio = *numerator / *denominator;
      PointValues& point = points.with(swept);
      if (ratio && (possible_value(*above, metric.path) || possible_value(*below, metric.path)))
        point.possible.push_back(quotient(possible_value(*above, metric.path, *numerator),
                                          possible_value(*below, metric.path, *denominator)));
      add(point, ratio, {above, below}, metric);
    }
  }
  return points.take();
}

Judged judge_point(const PointValues& point, const Bound& bound, bool is_ratio) {
  if (point.values.empty()) return {&point, NAN, NAN, NAN, Verdict::kUndecided};
  const bool is_said = point.residual < 1 && point.possible.size() == point.values.size();
  const OverSeeds measured = is_said ? over_seeds_of(point.values, point.possible)
                                     : over_seeds_of(point.values, point.residual, is_ratio);
  const Interval& possible = measured.possible;
  const Verdict verdict = point.complete ? bound.judge(possible.low, possible.high) : Verdict::kUndecided;
  return {&point, measured.mean, measured.interval.low, measured.interval.high, verdict, possible};
}

std::string what_in_words(const Json& claim) {
  if (claim.contains("ratio"))
    return fmt::format("{} of {} over {}", plain(claim["ratio"]), plain(claim["of"]), plain(claim["to"]));
  return plain(claim["metric"]) + (claim.contains("of") ? " of " + plain(claim["of"]) : "");
}

std::string bound_in_words(const Bound& bound) {
  const std::string number = format_number(bound.threshold);
  if (std::isinf(bound.top)) return "at least " + number;
  if (std::isinf(bound.bottom)) return "at most " + number;
  return fmt::format("{} within {:.6g} %", number, 100 * bound.within);
}

std::string point_in_words(const Json& swept) {
  std::vector<std::string> parts;
  for (const auto& [key, value] : swept.items()) parts.push_back(assignment(key, value));
  return join(parts);
}

// Of a verdict's record.
std::string number_in_words(const Json& verdict, double value) {
  const Json bound = bound_of(verdict);
  return bound.is_null() ? with_digits(value, 3) : beside_bound(bound, value);
}

// Of a verdict's record; none where it is missing, null, or no pair of numbers.
std::optional<Interval> interval_at(const Json& verdict, const char* key) {
  const Json ends = member(verdict, key);
  if (!ends.is_array() || ends.size() != 2 || !ends[0].is_number() || !ends[1].is_number())
    return std::nullopt;
  return Interval{ends[0], ends[1]};
}

// "9.14 [9.1, 9.2] over 3 seeds", "9.14 in each of 3 seeds", "9.14", "2.41 of one seed, without an interval".
std::string measured_in_words(const Json& verdict) {
  const Json value = member(verdict, "measured");
  if (!value.is_number()) return "not measured";
  const int seeds = verdict["seeds"];
  const std::optional<Interval> interval = interval_at(verdict, "interval");
  const std::string what = plain(member(verdict, "what")), metric = what.substr(0, what.find(' '));
  if (seeds == 1 && follows_from_training(metric_named(metric)))
    return number_in_words(verdict, value) + " of one seed, without an interval";
  if (seeds < 2 || !interval) return number_in_words(verdict, value);
  if (interval->high - interval->low <= 1e-9 * std::abs(value.get<double>()))
    return fmt::format("{} in each of {} seeds", number_in_words(verdict, value), seeds);
  return fmt::format("{} [{}, {}] over {} seeds", number_in_words(verdict, value),
                     number_in_words(verdict, interval->low), number_in_words(verdict, interval->high),
                     seeds);
}

// "; the network model's 7 % make that 7.95 to 10.5"; "" where the network model plays no part.
std::string widened_in_words(const Json& verdict) {
  const Json residual = member(verdict, "residual");
  const std::optional<Interval> possible = interval_at(verdict, "possible");
  if (!residual.is_number() || residual == 0) return "";
  if (residual >= 1) return "; " + unknown_residual_in_words(outside_of(verdict));
  return possible ? "; " + residual_in_words(residual, number_in_words(verdict, possible->low),
                                             number_in_words(verdict, possible->high))
                  : "";
}

// Why a verdict is what it is where its figures do not say.
std::string not_done_in_words(const Json& verdict) {
  if (verdict.contains("missing_cases"))
    return fmt::format("; {} cases of the scenario are in other shards", plain(verdict["missing_cases"]));
  return member(verdict, "incomplete") == true ? "; not all of its cases have it" : "";
}

Json finite_or_null(double value) {
  return std::isfinite(value) ? Json(value) : Json();
}

Json claim_record(const Json& claim, const Judged& decisive, std::size_t points,
                  const std::vector<std::string>& evidence) {
  return {{"id", claim["id"]},
          {"statement", claim.value("statement", "")},
          {"what", what_in_words(claim)},
          {"bound", bound_in_words(Bound(claim))},
          {"measured", finite_or_null(decisive.measured)},
          {"interval", {finite_or_null(decisive.low), finite_or_null(decisive.high)}},
          {"possible", {finite_or_null(decisive.possible.low), finite_or_null(decisive.possible.high)}},
          {"threshold", Bound(claim).threshold},
          {"verdict", word(decisive.verdict)},
          // Of a shard that lacks its cases nothing is known of the point.
          {"point", decisive.point->swept.is_object() ? decisive.point->swept : Json::object()},
          {"points", points},
          {"seeds", decisive.point->values.size()},
          {"residual", decisive.point->residual},
          {"outside", decisive.point->outside},
          {"incomplete", !decisive.point->complete},
          {"evidence", evidence}};
}

// Of the points with the verdict that decides, the one nearest to going the other way.
const Judged& decisive(const std::vector<Judged>& judged, const Bound& bound, bool all) {
  const auto by_verdict = [](const Judged& a, const Judged& b) { return a.verdict < b.verdict; };
  const Verdict decides = (all ? std::min_element(judged.begin(), judged.end(), by_verdict)
                               : std::max_element(judged.begin(), judged.end(), by_verdict))
                              ->verdict;
  const auto margin = [&](const Judged& point) {
    if (std::isinf(bound.top)) return point.measured - bound.threshold;
    if (std::isinf(bound.bottom)) return bound.threshold - point.measured;
    return -std::abs(point.measured - bound.threshold);
  };
  const Judged* best = nullptr;
  for (const Judged& point : judged) {
    if (point.verdict != decides) continue;
    if (!best || std::isnan(margin(*best)) ||
        (all ? margin(point) < margin(*best) : margin(point) > margin(*best)))
      best = &point;
  }
  return *best;
}

std::vector<PointValues> points_of(const Json& claim, const std::vector<Json>& records) {
  return claim.contains("ratio") ? ratio_points(claim, records) : metric_points(claim, records);
}

void judge_claim(const Json& claim, const std::vector<Json>& records, Json& verdicts) {
  const bool is_ratio = claim.contains("ratio");
  const Bound bound(claim);
  const std::vector<PointValues> points = points_of(claim, records);
  std::vector<Judged> judged;
  std::vector<std::string> evidence;
  for (const PointValues& point : points) {
    judged.push_back(judge_point(point, bound, is_ratio));
    evidence.insert(evidence.end(), point.evidence.begin(), point.evidence.end());
  }
  const PointValues nothing;
  if (judged.empty()) judged.push_back({&nothing, NAN, NAN, NAN, Verdict::kUndecided});
  const std::string quantifier = claim.value("quantifier", "all");
  if (quantifier != "each") {
    verdicts.push_back(
        claim_record(claim, decisive(judged, bound, quantifier == "all"), points.size(), evidence));
    return;
  }
  for (const Judged& point : judged) verdicts.push_back(claim_record(claim, point, 1, point.point->evidence));
}

}  // namespace

Json judge_claims(const Json& claims, const std::vector<Json>& records, std::size_t missing_cases) {
  Json verdicts = Json::array();
  for (const Json& claim : claims) judge_claim(claim, records, verdicts);
  if (missing_cases > 0)
    for (Json& verdict : verdicts) {
      verdict["verdict"] = word(Verdict::kUndecided);
      verdict["missing_cases"] = missing_cases;
    }
  return verdicts;
}

std::vector<JudgedPoint> judged_points(const Json& claim, const std::vector<Json>& records) {
  std::vector<JudgedPoint> judged;
  for (const PointValues& point : points_of(claim, records)) {
    const Judged result = judge_point(point, Bound(claim), claim.contains("ratio"));
    judged.push_back({point.swept, result.measured, word(result.verdict), result.possible, point.residual});
  }
  return judged;
}

std::string beside_bound(const Json& claim, double value) {
  const Bound bound(claim);
  for (int digits = 3; digits < 17; ++digits)
    if (const std::string text = with_digits(value, digits);
        bound.is_alike(std::strtod(text.c_str(), nullptr), value))
      return text;
  return fmt::format("{:.17g}", value);
}

std::string claim_in_words(const Json& claim) {
  return what_in_words(claim) + "; claimed: " + bound_in_words(Bound(claim));
}

std::string verdict_grounds(const Json& verdict) {
  const std::string point = point_in_words(verdict["point"]);
  std::string text =
      fmt::format("{} is {}{}{}, so {} {}", plain(verdict["what"]), measured_in_words(verdict),
                  widened_in_words(verdict), not_done_in_words(verdict), plain(verdict["bound"]),
                  plain(verdict["verdict"]) == "undecided" ? "is undecided" : plain(verdict["verdict"]));
  if (!point.empty()) text += fmt::format(" (at {})", point);
  return text;
}

std::string verdict_sentence(const Json& verdict) {
  const std::string judged = plain(verdict["verdict"]);
  return fmt::format("{} {}: {}", plain(verdict["id"]), judged == "undecided" ? "is undecided" : judged,
                     verdict_grounds(verdict));
}

std::vector<std::string> verdict_lines(const Json& verdicts) {
  std::vector<std::string> lines;
  nlohmann::ordered_map<std::string, std::vector<const Json*>> by_id;
  for (const Json& verdict : verdicts) by_id[plain(verdict["id"])].push_back(&verdict);
  for (const auto& [id, same] : by_id) {
    std::map<std::string, int> counts;
    for (const Json* verdict : same) ++counts[plain((*verdict)["verdict"])];
    lines.push_back(same.size() == 1
                        ? verdict_sentence(*same[0])
                        : fmt::format("{} at each of {} points: {} hold, {} are undecided, {} fail (longhaul "
                                      "claims has the table)",
                                      id, same.size(), counts["holds"], counts["undecided"],
                                      counts["fails"]));
  }
  return lines;
}

}  // namespace longhaul
