#include "core/plan/trace.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <istream>
#include <limits>
#include <ostream>
#include <set>

#include "core/base/errors.h"
#include "core/base/index.h"
#include "core/base/json.h"
#include "core/base/limits.h"
#include "core/plan/lines.h"
#include "core/plan/unit_limit.h"

namespace longhaul {
namespace {

constexpr const char* kFetches = "fetches";          // of completion.late
constexpr const char* kMachines[] = {"one", "all"};  // of whole_batch: as fast as one replica's, or as all

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
      if (number < 0 || number > parameters)
        throw InputError("units", fmt::format("found {}", number), fmt::format("0 to {}", parameters));
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
  if (rule.posts_first) json["posts_first"] = true;
  if (rule.stage >= 0) json["stage"] = rule.stage;
  if (!rule.releases.empty()) json["releases"] = rule.releases;
  if (!rule.completion.is_all()) json["completion"] = to_json(rule.completion);
  if (rule.slack_steps >= 0) json["slack_steps"] = rule.slack_steps;
  for (const PayloadPart& part : rule.answer) json["answer"].push_back(to_json(part));
  return json;
}

void check_all_to_all(int replicas) {
  if (replicas > kMostInAllToAll)
    throw InputError("replicas", fmt::format("found {} with an all-to-all", replicas),
                     fmt::format("at most {}", kMostInAllToAll));
}

// What the plan divides by, draws with and counts up to.
void check_numbers(const OperationRule& rule, const PlanContext& context) {
  const auto check = [](const char* key, std::int64_t found, std::int64_t least, std::int64_t most) {
    if (found < least || found > most)
      throw InputError(key, fmt::format("found {}", found), fmt::format("{} to {}", least, most));
  };
  check("every", rule.every, 1, kMostOfACount);
  check("phase", rule.phase, 0, kMostOfACount);
  check("first_step", rule.first_step, 0, kMostOfACount);
  check("last_step", rule.last_step, 0, kMostOfACount);
  check("overlap_steps", rule.overlap_steps, 0, kMostOfACount);
  check("slack_steps", rule.slack_steps, -1, kMostOfACount);
  check("buckets", rule.buckets, 1, kMostBuckets);
  if (!(rule.overlap_backward >= 0 && rule.overlap_backward <= 1))
    throw InputError("overlap_backward", fmt::format("found {}", rule.overlap_backward), "0 to 1");
  switch (rule.grouping) {
    case Grouping::kEveryone:
      check("group_size", rule.group_size, 0, context.replicas);
      break;
    case Grouping::kTwoLevel:
      check("across_every", rule.across_every, 1, kMostOfACount);
      check("group_size", rule.group_size, 0, context.replicas);
      break;
    case Grouping::kSites:
      check("across_every", rule.across_every, 1, kMostOfACount);
      check("group_size", rule.group_size, 2, context.replicas);
      break;
    case Grouping::kRandom:
      check("group_size", rule.group_size, 2, context.replicas);
      break;
    case Grouping::kGrid:
      check("group_size", rule.group_size, 2, context.replicas);
      if (grid_dimensions(context.replicas, rule.group_size) == 0)
        throw InputError("group_size", fmt::format("found {}", rule.group_size),
                         fmt::format("a number of which {} replicas are a power", context.replicas));
      break;
    case Grouping::kTargets:
    case Grouping::kRegularTargets:
      check("group_size", rule.group_size, 1, context.replicas - 1);
      break;
  }
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

// What a rule does not say is as in OperationRule.
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
  if (rule.kind == OperationKind::kAllToAll) check_all_to_all(context.replicas);
  take("overlap_steps", rule.overlap_steps);
  take("posts_first", rule.posts_first);
  take("stage", rule.stage);
  take("overlap_backward", rule.overlap_backward);
  take("buckets", rule.buckets);
  take("releases", rule.releases);
  const auto& releases = rule.releases;
  if (!releases.empty() && (static_cast<int>(releases.size()) != rule.buckets || releases.front() > 1 ||
                            releases.back() < 0 || !std::is_sorted(releases.rbegin(), releases.rend())))
    throw InputError("releases", "found " + json["releases"].dump(),
                     "a share of the step for each bucket, from 1 down to 0");
  if (json.contains("completion")) rule.completion = completion_from(json["completion"], rule);
  take("slack_steps", rule.slack_steps);
  for (const Json& part : json.value("answer", Json::array())) rule.answer.push_back(part_from(part));
  check_numbers(rule, context);
  check_merge(rule);
  return rule;
}

// Of a plan whose rules and replicas are read.
DynamicSteps dynamic_steps_from(const Json& json, const Trace& trace) {
  const OperationPlan& plan = trace.plan;
  if (plan.takes_whole_batch || plan.pipeline.has_stages() || has_merges(plan))
    throw InputError("dynamic_steps", "found beside whole_batch, pipeline or merges", "none of these");
  DynamicSteps steps;
  const std::int64_t every = number_at(json, "every");
  if (every < 1 || every > kMostOfACount)
    throw InputError("every", fmt::format("found {}", every), fmt::format("1 to {}", kMostOfACount));
  steps.every = static_cast<int>(every);
  for (const OperationRule& rule : plan.rules)
    if (rule.every != steps.every || rule.phase != 0)
      throw InputError(
          "every",
          fmt::format("found {} with a rule every {} steps, phase {}", every, rule.every, rule.phase),
          "the same of each rule, and phase 0: all replicas take the last step of a round");
  for (const std::int64_t taken : json.at("taken").get<std::vector<std::int64_t>>()) {
    if (taken < 1 || taken > every)
      throw InputError("taken", fmt::format("found {}", taken), fmt::format("1 to {}", every));
    steps.taken.push_back(static_cast<int>(taken));
  }
  if (static_cast<int>(steps.taken.size()) != trace.context.replicas)
    throw InputError("taken", fmt::format("found those of {} replicas", steps.taken.size()),
                     fmt::format("one for each of the {} replicas", trace.context.replicas));
  return steps;
}

void read_header(const Json& json, Trace& trace) {
  if (json.at("longhaul_trace") != kTraceVersion)
    throw InputError("longhaul_trace", "found version " + json["longhaul_trace"].dump(),
                     fmt::format("{}", kTraceVersion));
  const auto count = [&json](const char* key, std::int64_t least, std::int64_t most) {
    const std::int64_t found = number_at(json, key);
    if (found < least || found > most)
      throw InputError(key, fmt::format("found {}", found), fmt::format("{} to {}", least, most));
    return found;
  };
  trace.context.seed = json.at("seed");
  trace.context.replicas = static_cast<int>(count("replicas", 1, kMostReplicas));
  trace.context.steps = static_cast<int>(count("steps", 1, kMostOfACount));
  trace.context.parameters = count("parameters", 1, kMostParameters);
  trace.evaluate_every = static_cast<int>(count("evaluate_every", 0, kMostOfACount));
  if (json.contains("sites")) trace.context.site_of = json["sites"].get<std::vector<int>>();
  if (const std::size_t sites = trace.context.site_of.size();
      sites > 0 && sites != as_index(trace.context.replicas))
    throw InputError("sites", fmt::format("found {}", sites),
                     fmt::format("one for each of the {} replicas", trace.context.replicas));
  if (json.contains("whole_batch")) {
    const Json& machine = json["whole_batch"];
    if (machine != kMachines[0] && machine != kMachines[1])
      throw InputError("whole_batch", "found " + machine.dump(), "one, or all");
    trace.plan.takes_whole_batch = true;
    trace.plan.is_as_fast_as_all = machine == kMachines[1];
  }
  trace.plan.keeps = json.value("keeps", trace.plan.keeps);
  if (json.contains("pipeline"))
    trace.plan.pipeline = pipeline_from(json["pipeline"], trace.context.parameters);
  const int stages = trace.plan.pipeline.stages;
  if (trace.context.replicas > kMostReplicas / stages)
    throw InputError("replicas", fmt::format("found {} with {} stages", trace.context.replicas, stages),
                     fmt::format("at most {} workers", kMostReplicas));
  for (const Json& rule : json.at("rules")) {
    trace.plan.rules.push_back(rule_from(rule, trace.context));
    if (const int stage = trace.plan.rules.back().stage;
        stages > 1 ? stage < 0 || stage >= stages : stage >= 0)
      throw InputError("stage", fmt::format("found {} with {} stages", stage, stages),
                       "the stage of each rule, where there are several");
    const OperationRule& last = trace.plan.rules.back();
    for (const Payload* payload : {&last.payload, &last.answer})
      for (const PayloadPart& part : *payload) check_columns(part.columns, trace.context.parameters);
    check_bytes(last, trace.context);
  }
  if (json.contains("dynamic_steps"))
    trace.plan.dynamic_steps = dynamic_steps_from(json["dynamic_steps"], trace);
}

void check_targets(const std::vector<std::vector<int>>& targets, int replicas) {
  if (static_cast<int>(targets.size()) != replicas)
    throw InputError("targets", fmt::format("found those of {} replicas", targets.size()),
                     fmt::format("a list for each of the {} replicas", replicas));
  for (int replica = 0; replica < replicas; ++replica) {
    std::set<int> seen = {replica};
    for (const int target : targets[as_index(replica)])
      if (target < 0 || target >= replicas || !seen.insert(target).second)
        throw InputError("targets", fmt::format("found {} among those of replica {}", target, replica),
                         fmt::format("other replicas, 0 to {}, each at most once", replicas - 1));
  }
}

// Each replica at most once in all of them.
void check_groups(const std::vector<std::vector<int>>& groups, int replicas) {
  std::vector<bool> seen(as_index(replicas));
  for (const std::vector<int>& group : groups)
    for (const int replica : group) {
      if (replica < 0 || replica >= replicas || seen[as_index(replica)])
        throw InputError("groups", fmt::format("found replica {}", replica),
                         fmt::format("0 to {}, each at most once", replicas - 1));
      seen[as_index(replica)] = true;
    }
}

void check_times(const std::vector<double>& times_s, const Trace& trace) {
  const int computing = training_replicas(trace.plan, trace.context.replicas);
  if (static_cast<int>(times_s.size()) != computing)
    throw InputError("compute_s", fmt::format("found {} times", times_s.size()),
                     fmt::format("one for each of {} replicas", computing));
  for (const double time_s : times_s)
    if (!(time_s >= 0) || !std::isfinite(time_s))
      throw InputError("compute_s", fmt::format("found {}", time_s), "seconds, at least 0");
}

// The rule and the step that a line is about.
std::pair<int, int> operation_in(const Json& json, const Trace& trace) {
  const std::int64_t rule = number_at(json, "rule"), step = number_at(json, "step");
  if (rule < 0 || rule >= static_cast<std::int64_t>(trace.plan.rules.size()))
    throw InputError("rule", fmt::format("found {}", rule), "the index of a rule in the header");
  if (step < 1 || step > trace.context.steps)
    throw InputError("step", fmt::format("found {}", step), fmt::format("1 to {}", trace.context.steps));
  return {static_cast<int>(rule), static_cast<int>(step)};
}

// Of steps x replicas x hops: they are held one by one.
constexpr std::int64_t kMostBits = 1 << 27;

// Of a step and all after it up to the next such line.
void read_bits(const Json& json, Trace& trace) {
  const auto& by_bits = trace.plan.pipeline.by_bits;
  if (!by_bits) throw InputError("bits", "found without pipeline.by_bits in the header", "no such line");
  const std::int64_t of_step =
      std::int64_t{trace.context.replicas} * std::max(1, trace.plan.pipeline.hop_count());
  if (of_step > kMostBits / std::max(1, trace.context.steps))
    throw InputError("bits", fmt::format("found those of {} steps, {} each", trace.context.steps, of_step),
                     fmt::format("at most {} together", kMostBits));
  const std::int64_t step = number_at(json, "step"), last = static_cast<std::int64_t>(trace.bits.size());
  if (step < 1 || step > trace.context.steps || step <= last || (last == 0 && step != 1))
    throw InputError("step", fmt::format("found {} after {}", step, last),
                     "the steps in order, from 1 to the last one");
  const auto found = json.at("bits").get<std::vector<std::vector<std::int64_t>>>();
  bool fits = static_cast<int>(found.size()) == trace.context.replicas;
  std::vector<std::vector<int>> bits;
  for (const std::vector<std::int64_t>& of_replica : found) {
    fits &= static_cast<int>(of_replica.size()) == trace.plan.pipeline.hop_count();
    for (const std::int64_t number : of_replica)
      fits &= number >= by_bits->fewest && number <= by_bits->most();
    bits.emplace_back(of_replica.begin(), of_replica.end());
  }
  if (!fits)
    throw InputError("bits", "found " + json["bits"].dump(),
                     fmt::format("for each of {} replicas {} numbers from {} to {}", trace.context.replicas,
                                 trace.plan.pipeline.hop_count(), by_bits->fewest, by_bits->most()));
  if (last > 0) trace.bits.resize(as_index(step - 1), trace.bits.back());
  trace.bits.push_back(bits);
}

// Those of the last line hold to the end.
void check_bits(Trace& trace) {
  if (!trace.plan.pipeline.by_bits) return;
  if (trace.bits.empty())
    throw InputError("bits", "there is no such line", "the bits of each step, as a training has learned them",
                     "train first: longhaul run writes what the training used");
  trace.bits.resize(as_index(trace.context.steps), trace.bits.back());
}

void read_line(const Json& json, Trace& trace) {
  using Lists = std::vector<std::vector<int>>;
  if (json.contains("groups")) {
    Lists groups = json["groups"];
    check_groups(groups, trace.context.replicas);
    trace.groups[operation_in(json, trace)] = std::move(groups);
  } else if (json.contains("targets")) {
    const Lists targets = json["targets"];
    check_targets(targets, trace.context.replicas);
    trace.targets[operation_in(json, trace)] = targets;
  } else if (json.contains("bits")) {
    read_bits(json, trace);
  } else if (json.contains("compute_s")) {
    const std::size_t step = json.at("step").get<std::size_t>();
    if (step != trace.measured_s.size() + 1)
      throw InputError("step", fmt::format("found {}", step), "the steps in order");
    trace.measured_s.push_back(json["compute_s"].get<std::vector<double>>());
    check_times(trace.measured_s.back(), trace);
  } else {
    throw InputError("", "found a line without groups, targets, bits or compute_s", "one of them");
  }
}

}  // namespace

std::vector<Operation> Trace::operations_at(int step) const {
  std::vector<Operation> operations = longhaul::operations_at(plan, context, step);
  for (Operation& operation : operations) {
    if (operation.rule->grouping == Grouping::kEveryone) continue;
    const std::pair<int, int> key = {rule_index(plan, operation), step};
    if (const auto found = groups.find(key); found != groups.end()) operation.groups = found->second;
    if (const auto found = targets.find(key); found != targets.end()) operation.targets = found->second;
  }
  return operations;
}

std::int64_t Trace::forward_bytes(int step, int replica, int hop) const {
  const PipelinePlan& pipeline = plan.pipeline;
  if (bits.empty()) return pipeline.forward_bytes.at(as_index(hop));
  const int used = bits.at(as_index(step - 1)).at(as_index(replica)).at(as_index(hop));
  return pipeline.by_bits->forward.at(as_index(used - pipeline.by_bits->fewest)).at(as_index(hop));
}

std::int64_t Trace::backward_bytes(int step, int replica, int hop) const {
  const PipelinePlan& pipeline = plan.pipeline;
  if (bits.empty()) return pipeline.backward_bytes.at(as_index(hop));
  const int used = bits.at(as_index(step - 1)).at(as_index(replica)).at(as_index(hop));
  return pipeline.by_bits->backward.at(as_index(used - pipeline.by_bits->fewest)).at(as_index(hop));
}

std::int64_t Trace::stage_bytes(int step, int replica) const {
  if (bits.empty()) return plan.pipeline.bytes_of_step();
  std::int64_t bytes = 0;
  for (int hop = 0; hop < plan.pipeline.hop_count(); ++hop)
    bytes += forward_bytes(step, replica, hop) + backward_bytes(step, replica, hop);
  return plan.pipeline.microbatches * bytes;
}

Trace make_trace(OperationPlan plan, const PlanContext& context) {
  Trace trace;
  trace.plan = std::move(plan);
  trace.context = context;
  for (int step = 1; step <= context.steps; ++step)
    for (Operation& operation : longhaul::operations_at(trace.plan, context, step)) {
      const std::pair<int, int> key = {rule_index(trace.plan, operation), step};
      if (!operation.targets.empty())
        trace.targets[key] = std::move(operation.targets);
      else if (operation.rule->grouping != Grouping::kEveryone)
        trace.groups[key] = std::move(operation.groups);
    }
  return trace;
}

void write_trace(const Trace& trace, std::ostream& out) {
  Json rules = Json::array();
  for (const OperationRule& rule : trace.plan.rules) rules.push_back(to_json(rule));
  const PlanContext& context = trace.context;
  Json header = {{"longhaul_trace", kTraceVersion},
                 {"seed", context.seed},
                 {"replicas", context.replicas},
                 {"steps", context.steps},
                 {"parameters", context.parameters},
                 {"evaluate_every", trace.evaluate_every},
                 {"rules", rules}};
  if (!trace.plan.keeps.empty()) header["keeps"] = trace.plan.keeps;
  if (trace.plan.takes_whole_batch) header["whole_batch"] = kMachines[trace.plan.is_as_fast_as_all];
  if (trace.plan.pipeline.has_stages()) header["pipeline"] = to_json(trace.plan.pipeline);
  if (needs_sites(trace.plan)) header["sites"] = context.site_of;
  if (const DynamicSteps& steps = trace.plan.dynamic_steps; steps.is_on())
    header["dynamic_steps"] = {{"every", steps.every}, {"taken", steps.taken}};
  out << header.dump() << '\n';
  for (const auto& [key, groups] : trace.groups)
    out << Json{{"rule", key.first}, {"step", key.second}, {"groups", groups}}.dump() << '\n';
  for (const auto& [key, targets] : trace.targets)
    out << Json{{"rule", key.first}, {"step", key.second}, {"targets", targets}}.dump() << '\n';
  for (std::size_t i = 0; i < trace.bits.size(); ++i)
    if (i == 0 || trace.bits[i] != trace.bits[i - 1])
      out << Json{{"step", i + 1}, {"bits", trace.bits[i]}}.dump() << '\n';
  for (std::size_t i = 0; i < trace.measured_s.size(); ++i)
    out << Json{{"step", i + 1}, {"compute_s", trace.measured_s[i]}}.dump() << '\n';
}

Trace read_trace(std::istream& in, const std::string& file) {
  Trace trace;
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    try {
      const Json json = parse_json(line);
      number == 1 ? read_header(json, trace) : read_line(json, trace);
    } catch (const Json::exception& error) {
      throw of_line(in_our_words(error), file, number, "a line of a trace (docs/formats.md)");
    } catch (const InputError& error) {
      throw of_line(error, file, number, "a line of a trace (docs/formats.md)");
    }
  }
  if (trace.context.replicas == 0)
    throw InputError({file, "", "is empty", "a trace written by longhaul", ""});
  try {
    check_bits(trace);
  } catch (const InputError& error) {
    throw error.in_file(file);
  }
  return trace;
}

}  // namespace longhaul
