#include "core/plan/rule_json.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/errors.h"
#include "core/base/index.h"
#include "core/base/limits.h"

namespace longhaul {
namespace {

constexpr const char* kFetches = "fetches";  // of completion.late

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Json to_json(const PayloadPart& part) {
  Json json = {{"tensor", part.tensor}, {"codec", to_json(part.codec)}};
  for (const ColumnRange& range : part.columns) json["columns"].push_back({range.begin, range.end});
  return json;
}

PayloadPart part_from(const Json& json) {
  PayloadPart part{json.at("tensor"), codec_from(json.at("codec"))};
  if (part.tensor.empty()) throw InputError("tensor", "found \"\"", "a name");
  for (const Json& range : json.value("columns", Json::array()))
    part.columns.push_back({range.at(0), range.at(1)});
  return part;
}

// Ranges in order, without touching, inside the parameters.
void check_columns(const Columns& columns, std::int64_t parameters) {
  std::int64_t free = 0;
  for (const ColumnRange& range : columns) {
    if (range.begin < free || range.end <= range.begin || range.end > parameters)
      throw InputError("columns", fmt::format("found [{}, {}]", range.begin, range.end),
                       fmt::format("ranges in ascending order, apart from each other, up to {}", parameters));
    free = range.end + 1;
  }
}

// A matrix as [offset, stride, rows, row_stride, width].
Json to_json(const HiddenUnits& units) {
  Json json = {{"count", units.count}, {"matrices", Json::array()}};
  for (const UnitColumns& unit_columns : units.matrices)
    json["matrices"].push_back({unit_columns.offset, unit_columns.stride, unit_columns.rows,
                                unit_columns.row_stride, unit_columns.width});
  return json;
}

HiddenUnits units_from(const Json& json, std::int64_t parameters) {
  HiddenUnits units{json.at("count"), {}};
  double columns = 0;
  for (const Json& entry : json.at("matrices")) {
    units.matrices.push_back({entry.at(0), entry.at(1), entry.at(2), entry.at(3), entry.at(4)});
    const UnitColumns& matrix = units.matrices.back();
    for (const std::int64_t number :
         {matrix.offset, matrix.stride, matrix.rows, matrix.row_stride, matrix.width})
      in_range("units", number, 0, parameters);
    columns += static_cast<double>(matrix.rows) * static_cast<double>(matrix.width);
  }
  if (units.count < 1 || columns < 1 || columns * units.count > static_cast<double>(parameters))
    throw InputError("units", fmt::format("found {} units of {:.6g} columns", units.count, columns),
                     fmt::format("1 or more, with columns, in {} parameters", parameters));
  return units;
}

// An infinite start is not there.
Json to_json(const Completion& completion) {
  Json json = {{"quorum", completion.quorum}};
  if (completion.fetches) json["late"] = kFetches;
  if (!completion.adaptive) {
    json["grace_s"] = completion.grace_s;
    return json;
  }
  const AdaptiveGrace& adaptive = *completion.adaptive;
  json["adaptive"] = {
      {"mads", adaptive.mads}, {"window", adaptive.window}, {"at_least_s", adaptive.at_least_s}};
  if (std::isfinite(adaptive.start_s)) json["adaptive"]["start_s"] = adaptive.start_s;
  return json;
}

// On a cycle a replica has two neighbours, and of more than two cycles a draw may not end.
void check_target_graph(const OperationRule& rule, int replicas) {
  if (rule.target_graph == TargetGraph::kOwn) return;
  const bool is_ring = rule.target_graph == TargetGraph::kRing;
  const bool fits = rule.group_size == 2 || (!is_ring && rule.group_size == 4);
  if (rule.grouping != Grouping::kTargets || !fits || rule.group_size >= replicas)
    throw InputError(
        "target_graph",
        fmt::format("found \"{}\" with {} targets of {} replicas in groups \"{}\"",
                    word_of(rule.target_graph), rule.group_size, replicas, word_of(rule.grouping)),
        "targets: 2 on a ring, 2 or 4 on cycles, fewer than replicas");
}

// What the plan divides by, draws with and counts up to.
void check_numbers(const OperationRule& rule, const PlanContext& context) {
  in_range("every", rule.every, 1, kMostOfACount);
  in_range("phase", rule.phase, 0, kMostOfACount);
  in_range("first_step", rule.first_step, 0, kMostOfACount);
  in_range("last_step", rule.last_step, 0, kMostOfACount);
  in_range("overlap_steps", rule.overlap_steps, 0, kMostOfACount);
  in_range("slack_steps", rule.slack_steps, -1, kMostOfACount);
  in_range("buckets", rule.buckets, 1, kMostBuckets);
  if (!(rule.overlap_backward >= 0 && rule.overlap_backward <= 1))
    throw InputError("overlap_backward", fmt::format("found {}", rule.overlap_backward), "0 to 1");
  const Grouping grouping = rule.grouping;
  const bool is_two_level = grouping == Grouping::kTwoLevel, is_of_targets = grouping == Grouping::kTargets;
  if (is_two_level || grouping == Grouping::kSites)
    in_range("across_every", rule.across_every, 1, kMostOfACount);
  const int least = is_two_level || grouping == Grouping::kEveryone ? 0 : is_of_targets ? 1 : 2;
  in_range("group_size", rule.group_size, least, context.replicas - (is_of_targets ? 1 : 0));
  check_target_graph(rule, context.replicas);
  if (grouping == Grouping::kGrid && grid_dimensions(context.replicas, rule.group_size) == 0)
    throw InputError("group_size", fmt::format("found {}", rule.group_size),
                     fmt::format("a number of which {} replicas are a power", context.replicas));
}

void check_sizes(const OperationRule& rule) {
  if (rule.sizes.empty()) return;
  double all = 0;
  for (const std::int64_t size : rule.sizes) {
    if (size < 1) throw InputError("sizes", fmt::format("found {}", size), "1 or more");
    all += static_cast<double>(size);
  }
  constexpr double kMost = 9e18;
  const auto count = static_cast<int>(std::min<std::size_t>(rule.sizes.size(), kMostBuckets + 1));
  if (count > kMostBuckets || (rule.buckets != 1 && rule.buckets != count) || all > kMost)
    throw InputError("sizes", fmt::format("found {} with {} buckets", rule.sizes.size(), rule.buckets),
                     fmt::format("one for each bucket or, with one bucket, at most {}; {:.0e} together",
                                 kMostBuckets, kMost));
}

// All that a ring of everyone sends fits 64 bits.
void check_bytes(const OperationRule& rule, const PlanContext& context) {
  double bytes = 0;
  for (const PayloadPart& part : rule.payload)
    bytes += static_cast<double>(
        encoded_bytes(part.codec, contributed_columns(rule, part, context.parameters, context.replicas)));
  constexpr double kMost = 9e18;
  if (2 * bytes * context.replicas > kMost)
    throw InputError("payload", fmt::format("found {:.6g} bytes among {} replicas", bytes, context.replicas),
                     fmt::format("at most {:.0e} bytes sent", kMost));
}

AdaptiveGrace adaptive_from(const Json& json) {
  const AdaptiveGrace adaptive{json.at("mads"), json.at("window"), json.value("at_least_s", 0.),
                               json.value("start_s", kInfinity)};
  if (!(adaptive.mads >= 0) || adaptive.window < 1 || adaptive.window > kMostOfACount ||
      !(adaptive.at_least_s >= 0) || !(adaptive.start_s >= 0))
    throw InputError("adaptive", "found " + json.dump(),
                     "a window of 1 or more, and mads, at_least_s and start_s of 0 or more");
  return adaptive;
}

Completion completion_from(const Json& json, const OperationRule& rule) {
  Completion completion{json.at("quorum"), json.value("grace_s", 0.)};
  if (json.contains("adaptive")) completion.adaptive = adaptive_from(json["adaptive"]);
  if (completion.quorum < 1 || !(completion.grace_s >= 0))
    throw InputError("completion", "found " + json.dump(),
                     "a quorum of 1 or more, and a grace_s of 0 or more");
  if (json.contains("late")) {
    if (json["late"] != kFetches || !rule.is_blocking() || rule.grouping != Grouping::kEveryone ||
        rule.kind != OperationKind::kAllReduce || rule.sharded || rule.stage >= 0)
      throw InputError("completion.late", "found " + json["late"].dump(),
                       std::string("\"") + kFetches +
                           "\", of a blocking all-reduce among everyone, whole and without stages");
    completion.fetches = true;
  }
  if (rule.buckets > 1)
    throw InputError("completion", "found a quorum and " + std::to_string(rule.buckets) + " buckets",
                     "a quorum of a rule with one bucket");
  return completion;
}

// What merges take for granted.
void check_merge(const OperationRule& rule) {
  if (rule.kind != OperationKind::kMerge) return;
  if (rule.is_blocking() || rule.grouping != Grouping::kEveryone || rule.buckets > 1 || rule.sharded ||
      rule.stage >= 0 || rule.before_optimizer || rule.payload.empty() || rule.answer.empty())
    throw InputError("kind", "found \"merge\" of rule \"" + rule.name + "\"",
                     "an overlapped rule of everyone, after the optimizer, with one bucket, a payload and an "
                     "answer, whole and without stages");
}

}  // namespace

Json to_json(const OperationRule& rule) {
  Json json = {{"name", rule.name},
               {"kind", word_of(rule.kind)},
               {"collective", rule.collective},
               {"every", rule.every},
               {"phase", rule.phase},
               {"first_step", rule.first_step},
               {"last_step", rule.last_step},
               {"before_optimizer", rule.before_optimizer},
               {"grouping", word_of(rule.grouping)},
               {"group_size", rule.group_size},
               {"sharded", rule.sharded},
               {"overlap_steps", rule.overlap_steps},
               {"overlap_backward", rule.overlap_backward},
               {"buckets", rule.buckets},
               {"payload", Json::array()}};
  for (const PayloadPart& part : rule.payload) json["payload"].push_back(to_json(part));
  for (const HiddenUnits& units : rule.units) json["units"].push_back(to_json(units));
  if (rule.across_every > 0) json["across_every"] = rule.across_every;
  if (rule.target_graph != TargetGraph::kOwn) json["target_graph"] = word_of(rule.target_graph);
  if (rule.posts_first) json["posts_first"] = true;
  if (rule.is_sent_ahead) json["is_sent_ahead"] = true;
  if (rule.stage >= 0) json["stage"] = rule.stage;
  if (!rule.releases.empty()) json["releases"] = rule.releases;
  if (!rule.sizes.empty()) json["sizes"] = rule.sizes;
  if (rule.together) json["together"] = true;
  if (!rule.completion.is_all()) json["completion"] = to_json(rule.completion);
  if (rule.slack_steps >= 0) json["slack_steps"] = rule.slack_steps;
  for (const PayloadPart& part : rule.answer) json["answer"].push_back(to_json(part));
  return json;
}

OperationRule rule_from(const Json& json, const PlanContext& context) {
  OperationRule rule;
  const auto take = [&json](const char* key, auto& value) { value = json.value(key, value); };
  rule.name = json.at("name").get<std::string>();
  rule.kind = from_word<OperationKind>(json.value("kind", word_of(rule.kind)), "kind");
  rule.collective = json.at("collective").get<std::string>();
  rule.every = json.at("every");
  take("phase", rule.phase);
  take("first_step", rule.first_step);
  take("last_step", rule.last_step);
  take("before_optimizer", rule.before_optimizer);
  rule.grouping = from_word<Grouping>(json.at("grouping"), "grouping");
  take("across_every", rule.across_every);
  take("group_size", rule.group_size);
  rule.target_graph =
      from_word<TargetGraph>(json.value("target_graph", word_of(rule.target_graph)), "target_graph");
  for (const Json& part : json.at("payload")) rule.payload.push_back(part_from(part));
  take("sharded", rule.sharded);
  for (const Json& units : json.value("units", Json::array()))
    rule.units.push_back(units_from(units, context.parameters));
  std::int64_t units = 0;
  for (const HiddenUnits& hidden_units : rule.units) units += hidden_units.count;
  if (units > kMostUnits)
    throw InputError("units", fmt::format("found {} together", units), fmt::format("at most {}", kMostUnits));
  if (rule.kind == OperationKind::kAllToAll && rule.units.empty())
    throw InputError("units", "this key is missing", "the units that an all-to-all passes on");
  if (rule.kind == OperationKind::kAllToAll && context.replicas > kMostInAllToAll)
    throw InputError("replicas", fmt::format("found {} with an all-to-all", context.replicas),
                     fmt::format("at most {}", kMostInAllToAll));
  take("overlap_steps", rule.overlap_steps);
  take("posts_first", rule.posts_first);
  take("is_sent_ahead", rule.is_sent_ahead);
  take("stage", rule.stage);
  take("overlap_backward", rule.overlap_backward);
  take("buckets", rule.buckets);
  take("releases", rule.releases);
  const auto& releases = rule.releases;
  if (!releases.empty() && (static_cast<int>(releases.size()) != rule.buckets || releases.front() > 1 ||
                            releases.back() < 0 || !std::is_sorted(releases.rbegin(), releases.rend())))
    throw InputError("releases", "found " + json["releases"].dump(),
                     "a share of the step for each bucket, from 1 down to 0");
  take("sizes", rule.sizes);
  take("together", rule.together);
  check_sizes(rule);
  if (json.contains("completion")) rule.completion = completion_from(json["completion"], rule);
  take("slack_steps", rule.slack_steps);
  for (const Json& part : json.value("answer", Json::array())) rule.answer.push_back(part_from(part));
  check_numbers(rule, context);
  check_merge(rule);
  for (const Payload* payload : {&rule.payload, &rule.answer})
    for (const PayloadPart& part : *payload) check_columns(part.columns, context.parameters);
  check_bytes(rule, context);
  return rule;
}

}  // namespace longhaul
