#include "core/plan/trace.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <istream>
#include <ostream>
#include <set>

#include "core/errors.h"
#include "core/index.h"
#include "core/json.h"

namespace longhaul {
namespace {

// Both in the order of their enumerations.
constexpr const char* kGroupings[] = {"everyone", "random",  "sites",          "two-level",
                                      "grid",     "targets", "regular-targets"};
constexpr const char* kKinds[] = {"all-reduce",     "group-average", "all-gather",
                                  "reduce-scatter", "send",          "all-to-all"};

constexpr const char* kMachines[] = {"one", "all"};  // of whole_batch: as fast as one replica's, or as all

// The place of `word` in `words`.
template <std::size_t kCount>
int place_of(const std::string& word, const char* const (&words)[kCount], const char* key) {
  const auto found = std::find(std::begin(words), std::end(words), word);
  if (found == std::end(words))
    throw InputError(key, fmt::format("found \"{}\"", word), fmt::format("{}", fmt::join(words, ", ")));
  return static_cast<int>(found - std::begin(words));
}

Json to_json(const PayloadPart& part) {
  Json json = {{"tensor", part.tensor}, {"codec", to_json(part.codec)}};
  for (const ColumnRange& range : part.columns) json["columns"].push_back({range.begin, range.end});
  return json;
}

PayloadPart part_from(const Json& json) {
  PayloadPart part{json.at("tensor"), codec_from(json.at("codec"))};
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
  for (const UnitColumns& one : units.matrices)
    json["matrices"].push_back({one.offset, one.stride, one.rows, one.row_stride, one.width});
  return json;
}

HiddenUnits units_from(const Json& json) {
  HiddenUnits units{json.at("count"), {}};
  for (const Json& one : json.at("matrices"))
    units.matrices.push_back({one.at(0), one.at(1), one.at(2), one.at(3), one.at(4)});
  if (units.count < 1 || units.columns() < 1)
    throw InputError("units", "found " + json.dump(), "a count of 1 or more, of units with columns");
  return units;
}

Json to_json(const OperationRule& rule) {
  Json json = {{"name", rule.name},
               {"kind", kKinds[static_cast<int>(rule.kind)]},
               {"collective", rule.collective},
               {"every", rule.every},
               {"phase", rule.phase},
               {"first_step", rule.first_step},
               {"last_step", rule.last_step},
               {"before_optimizer", rule.before_optimizer},
               {"grouping", kGroupings[static_cast<int>(rule.grouping)]},
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
  if (!rule.completion.is_all())
    json["completion"] = {{"quorum", rule.completion.quorum}, {"grace_s", rule.completion.grace_s}};
  return json;
}

Completion completion_from(const Json& json, const OperationRule& rule) {
  const Completion completion{json.at("quorum"), json.value("grace_s", 0.)};
  if (completion.quorum < 1 || completion.grace_s < 0)
    throw InputError("completion", "found " + json.dump(),
                     "a quorum of 1 or more, and a grace_s of 0 or more");
  if (rule.buckets > 1)
    throw InputError("completion", "found a quorum and " + std::to_string(rule.buckets) + " buckets",
                     "a quorum of a rule with one bucket");
  return completion;
}

// What a rule does not say is as in OperationRule.
OperationRule rule_from(const Json& json) {
  OperationRule rule;
  const auto take = [&json](const char* key, auto& value) { value = json.value(key, value); };
  rule.name = json.at("name").get<std::string>();
  rule.kind = static_cast<OperationKind>(place_of(json.value("kind", kKinds[0]), kKinds, "kind"));
  rule.collective = json.at("collective").get<std::string>();
  rule.every = json.at("every");
  if (rule.every < 1) throw InputError("every", "found " + json["every"].dump(), "at least 1");
  take("phase", rule.phase);
  take("first_step", rule.first_step);
  take("last_step", rule.last_step);
  take("before_optimizer", rule.before_optimizer);
  rule.grouping = static_cast<Grouping>(place_of(json.at("grouping"), kGroupings, "grouping"));
  take("across_every", rule.across_every);
  take("group_size", rule.group_size);
  for (const Json& part : json.at("payload")) rule.payload.push_back(part_from(part));
  take("sharded", rule.sharded);
  for (const Json& units : json.value("units", Json::array())) rule.units.push_back(units_from(units));
  if (rule.kind == OperationKind::kAllToAll && rule.units.empty())
    throw InputError("units", "this key is missing", "the units that an all-to-all passes on");
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
  return rule;
}

void read_header(const Json& json, Trace& trace) {
  if (json.at("longhaul_trace") != kTraceVersion)
    throw InputError("longhaul_trace", "found version " + json["longhaul_trace"].dump(),
                     fmt::format("{}", kTraceVersion));
  trace.context.seed = json.at("seed");
  trace.context.replicas = json.at("replicas");
  trace.context.steps = json.at("steps");
  trace.context.parameters = json.at("parameters");
  trace.evaluate_every = json.at("evaluate_every");
  if (json.contains("sites")) trace.context.site_of = json["sites"].get<std::vector<int>>();
  if (json.contains("whole_batch")) {
    const Json& machine = json["whole_batch"];
    if (machine != kMachines[0] && machine != kMachines[1])
      throw InputError("whole_batch", "found " + machine.dump(), "one, or all");
    trace.plan.takes_whole_batch = true;
    trace.plan.is_as_fast_as_all = machine == kMachines[1];
  }
  if (json.contains("pipeline"))
    trace.plan.pipeline = pipeline_from(json["pipeline"], trace.context.parameters);
  const int stages = trace.plan.pipeline.stages;
  for (const Json& rule : json.at("rules")) {
    trace.plan.rules.push_back(rule_from(rule));
    if (const int stage = trace.plan.rules.back().stage;
        stages > 1 ? stage < 0 || stage >= stages : stage >= 0)
      throw InputError("stage", fmt::format("found {} with {} stages", stage, stages),
                       "the stage of each rule, where there are several");
    for (const PayloadPart& part : trace.plan.rules.back().payload)
      check_columns(part.columns, trace.context.parameters);
  }
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

// The rule and the step that a line is about.
std::pair<int, int> operation_in(const Json& json, const Trace& trace) {
  const int rule = json.at("rule");
  if (rule < 0 || rule >= static_cast<int>(trace.plan.rules.size()))
    throw InputError("rule", fmt::format("found {}", rule), "the index of a rule in the header");
  return {rule, json.at("step").get<int>()};
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
  const int step = json.at("step");
  const int last = static_cast<int>(trace.bits.size());
  if (step < 1 || step > trace.context.steps || step <= last || (last == 0 && step != 1))
    throw InputError("step", fmt::format("found {} after {}", step, last),
                     "the steps in order, from 1 to the last one");
  const auto bits = json.at("bits").get<std::vector<std::vector<int>>>();
  bool fits = static_cast<int>(bits.size()) == trace.context.replicas;
  for (const std::vector<int>& of_replica : bits) {
    fits &= static_cast<int>(of_replica.size()) == trace.plan.pipeline.hop_count();
    for (const int one : of_replica) fits &= one >= by_bits->fewest && one <= by_bits->most();
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
    trace.groups[operation_in(json, trace)] = json["groups"].get<Lists>();
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
  if (trace.plan.takes_whole_batch) header["whole_batch"] = kMachines[trace.plan.is_as_fast_as_all];
  if (trace.plan.pipeline.has_stages()) header["pipeline"] = to_json(trace.plan.pipeline);
  if (needs_sites(trace.plan)) header["sites"] = context.site_of;
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
    const std::string place = fmt::format("line {}", number);
    try {
      const Json json = Json::parse(line);
      number == 1 ? read_header(json, trace) : read_line(json, trace);
    } catch (const Json::exception& error) {
      throw InputError({file, place, error.what(), "a line of a trace (docs/formats.md)", ""});
    } catch (const InputError& error) {
      InputErrorParts parts = error.parts();
      parts.file = file;
      parts.path = parts.path.empty() ? place : place + ", " + parts.path;
      throw InputError(parts);
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
