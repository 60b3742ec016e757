#include "core/plan/trace.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <istream>
#include <ostream>
#include <set>

#include "core/base/errors.h"
#include "core/base/index.h"
#include "core/base/limits.h"
#include "core/plan/rule_json.h"

namespace longhaul {
namespace {

constexpr const char* kMachines[] = {"one", "all"};  // of whole_batch: as fast as one replica's, or as all

// Of a plan whose rules and replicas are read.
DynamicSteps dynamic_steps_from(const Json& json, const Trace& trace) {
  const OperationPlan& plan = trace.plan;
  if (plan.takes_whole_batch || plan.pipeline.has_stages() || has_merges(plan))
    throw InputError("dynamic_steps", "found beside whole_batch, pipeline or merges", "none of these");
  DynamicSteps steps;
  steps.every = static_cast<int>(in_range("every", number_at(json, "every"), 1, kMostOfACount));
  for (const OperationRule& rule : plan.rules)
    if (rule.every != steps.every || rule.phase != 0)
      throw InputError(
          "every",
          fmt::format("found {} with a rule every {} steps, phase {}", steps.every, rule.every, rule.phase),
          "the same of each rule, and phase 0: all replicas take the last step of a round");
  for (const std::int64_t taken : json.at("taken").get<std::vector<std::int64_t>>())
    steps.taken.push_back(static_cast<int>(in_range("taken", taken, 1, steps.every)));
  if (static_cast<int>(steps.taken.size()) != trace.context.replicas)
    throw InputError("taken", fmt::format("found those of {} replicas", steps.taken.size()),
                     fmt::format("one for each of the {} replicas", trace.context.replicas));
  return steps;
}

// What a step graph has no place for (combinations.h).
void check_beside_step_graph(const OperationPlan& plan) {
  if (plan.step_graph.is_empty()) return;
  const bool releases = std::any_of(plan.rules.begin(), plan.rules.end(), [](const OperationRule& rule) {
    return rule.overlap_backward > 0 || !rule.completion.is_all();
  });
  if (releases || plan.takes_whole_batch || plan.pipeline.has_stages() || plan.dynamic_steps.is_on() ||
      has_merges(plan))
    throw InputError(
        "step_graph",
        "found beside whole_batch, pipeline, dynamic_steps, merges, completion or overlap_backward",
        "none of these");
}

void read_header(const Json& json, Trace& trace) {
  if (json.at("longhaul_trace") != kTraceVersion)
    throw InputError("longhaul_trace", "found version " + json["longhaul_trace"].dump(),
                     fmt::format("{}", kTraceVersion));
  const auto count = [&json](const char* key, std::int64_t least, std::int64_t most) {
    return in_range(key, number_at(json, key), least, most);
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
  if (json.contains("step_graph"))
    trace.plan.step_graph = step_graph_from(json["step_graph"], trace.context.replicas);
  for (const Json& rule : json.at("rules")) {
    trace.plan.rules.push_back(rule_from(rule, trace.context));
    if (const int stage = trace.plan.rules.back().stage;
        stages > 1 ? stage < 0 || stage >= stages : stage >= 0)
      throw InputError("stage", fmt::format("found {} with {} stages", stage, stages),
                       "the stage of each rule, where there are several");
  }
  if (json.contains("dynamic_steps"))
    trace.plan.dynamic_steps = dynamic_steps_from(json["dynamic_steps"], trace);
  check_beside_step_graph(trace.plan);
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
  const std::int64_t rule = number_at(json, "rule");
  if (rule < 0 || rule >= static_cast<std::int64_t>(trace.plan.rules.size()))
    throw InputError("rule", fmt::format("found {}", rule), "the index of a rule in the header");
  const int steps = trace.context.steps;
  const auto step = static_cast<int>(in_range("step", number_at(json, "step"), 1, steps));
  if (const OperationRule& posted = trace.plan.rules[as_index(rule)]; !is_posted_at(posted, steps, step))
    throw InputError(
        "step", fmt::format("found {}, after which {} is not posted", step, posted.name),
        fmt::format("a step of the rule, which is every {} steps, phase {}", posted.every, posted.phase));
  return {static_cast<int>(rule), step};
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

// What is missing would be drawn from the seed.
void check_draws(const Trace& trace) {
  const int steps = trace.context.steps;
  for (std::size_t i = 0; i < trace.plan.rules.size(); ++i) {
    const OperationRule& rule = trace.plan.rules[i];
    const bool sends = has_targets(rule.grouping), draws = rule.grouping != Grouping::kEveryone;
    for (int step = last_post_step(rule, steps); draws && is_posted_at(rule, steps, step); step -= rule.every)
      if ((sends ? trace.targets : trace.groups).count({static_cast<int>(i), step}) == 0)
        throw InputError(sends ? "targets" : "groups",
                         fmt::format("there is no line of rule {} (\"{}\") and step {}", i, rule.name, step),
                         "a line for each step after which the rule is posted",
                         "longhaul run writes them all");
  }
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

std::int64_t Trace::hop_bytes(int step, int replica, int hop, bool is_forward) const {
  const PipelinePlan& pipeline = plan.pipeline;
  if (bits.empty()) return (is_forward ? pipeline.forward_bytes : pipeline.backward_bytes).at(as_index(hop));
  const int used = bits.at(as_index(step - 1)).at(as_index(replica)).at(as_index(hop));
  const auto& by_bits = is_forward ? pipeline.by_bits->forward : pipeline.by_bits->backward;
  return by_bits.at(as_index(used - pipeline.by_bits->fewest)).at(as_index(hop));
}

std::int64_t Trace::stage_bytes(int step, int replica) const {
  if (bits.empty()) return plan.pipeline.bytes_of_step();
  std::int64_t bytes = 0;
  for (int hop = 0; hop < plan.pipeline.hop_count(); ++hop)
    bytes += hop_bytes(step, replica, hop, true) + hop_bytes(step, replica, hop, false);
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
  if (!trace.plan.step_graph.is_empty()) header["step_graph"] = to_json(trace.plan.step_graph);
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
    check_draws(trace);
  } catch (const InputError& error) {
    throw error.in_file(file);
  }
  return trace;
}

}  // namespace longhaul
