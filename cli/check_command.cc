#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "analysis/changing_links.h"
#include "analysis/residual.h"
#include "analysis/text.h"
#include "checks/compute_time.h"
#include "checks/validated_scenario.h"
#include "checks/work_estimate.h"
#include "cli/commands.h"
#include "cli/core_speed.h"
#include "cli/machine.h"
#include "core/base/errors.h"
#include "core/base/index.h"
#include "core/base/printable.h"
#include "core/base/units.h"
#include "methods/common/registry.h"
#include "replay/placement/optimized_order.h"

namespace longhaul {
namespace {

// What an optimized order of ranks gains, and who stands where.
void print_placement(const Case& config) {
  if (config.network.rank_order.kind != RankOrderSpec::Kind::kOptimized) return;
  const OperationPlan plan = plan_of(config);
  const bool has_order = std::any_of(plan.rules.begin(), plan.rules.end(), [](const OperationRule& rule) {
    return rule.grouping == Grouping::kEveryone || rule.grouping == Grouping::kGrid ||
           rule.grouping == Grouping::kTwoLevel;
  });
  if (!has_order && !config.pipeline.has_stages()) {
    std::printf("    placement: its groups are drawn, no order of ranks is faster than another\n");
    return;
  }
  const OptimizedOrder& order = order_found(config);
  say(stdout, fmt::format("    {}\n    {}\n", gain_in_words(order), places_in_words(config, order.places)));
}

bool is_one_machine(const OperationPlan& plan) {
  return plan.takes_whole_batch && !plan.is_as_fast_as_all;
}

// What no network can make shorter: "a step computes for 593 ms: at most 3.54 M tokens/s; 47,684 steps take
// at least 7 h 51 min, 4.02 k accelerator-hours". Without tokens what they say is left out; "" where it is
// not known.
std::string pace_in_words(const Case& config) {
  const OperationPlan plan = plan_of(config);
  const double total_s = longest_compute_s(config, plan);
  if (total_s <= 0) return "";
  const auto steps = static_cast<double>(plan.dynamic_steps.taken_by_all(config.replicas, config.steps()));
  const double tokens = steps * static_cast<double>(config.workload.tokens);
  const bool is_drawn = config.workload.step_time.kind == StepTime::Kind::kLognormal,
             is_bound = !is_drawn && !config.has_absences();  // who is gone computes nothing
  std::string words = fmt::format("a step computes for {}{}", human_duration(total_s / config.steps()),
                                  is_drawn ? " on average" : "");
  if (tokens > 0)
    words += fmt::format(": {} {} tokens/s", is_bound ? "at most" : "some", human_count(tokens / total_s));
  words += fmt::format("; {} steps take {} {}{}", config.steps(), is_bound ? "at least" : "about",
                       human_duration(total_s), is_bound ? "" : " without their exchanges");
  if (tokens > 0 || config.workload.accelerators > 1)
    words += ", " + amount_of(human_count(total_s / 3600 * config.workload.accelerators *
                                          (is_one_machine(plan) ? 1 : config.workers())),
                              "accelerator-hour");
  return words;
}

// Replicas that the groups leave over.
void print_sitting_out(const Case& config) {
  const int count = sitting_out(plan_of(config), config.replicas);
  if (count > 0)
    std::printf(
        "    %d of %d replicas sit%s out each outer step, drawn anew: each takes the step of a group of "
        "one\n",
        count, config.replicas, count == 1 ? "s" : "");
}

// "inside a step, in consecutive groups of 4: 48 dispatch of 16.8 MB, 48 combine of 16.8 MB"
void print_inside(const Case& config) {
  const StepGraph graph = plan_of(config).step_graph;
  if (graph.is_empty()) return;
  std::vector<std::string> parts;
  for (const auto& [collective_and_bytes, count] : graph.sizes())
    parts.push_back(fmt::format("{} {} of {}", count,
                                graph.collectives[as_index(collective_and_bytes.first)].name,
                                human_bytes(static_cast<double>(collective_and_bytes.second))));
  say(stdout, fmt::format("    inside a step, in {} groups of {}: {} a replica\n", word_of(graph.grouping),
                          graph.group_size, named_few(parts, 4)));
}

// "rollouts: 8 groups (oregon 4; london 4) generate 256 samples each at a time, a batch in 102 s or more; a
// version is 14 GB to each by relay-tree". Of lengths without a mean, and of those that are cut, no time.
void print_rollouts(const Case& config) {
  if (!config.rollouts) return;
  const RolloutSpec& rollouts = *config.rollouts;
  std::vector<std::string> places;
  for (const auto& [site, count] : rollouts.places) places.push_back(fmt::format("{} {}", site, count));
  const double mean = rollouts.length.expected(),
               slots = static_cast<double>(rollouts.concurrent) * rollouts.groups;
  std::string batch;
  if (std::isfinite(mean) && rollouts.length.most == 0 && rollouts.speed_factors.empty())
    batch = fmt::format(", a batch in {} or more",
                        human_duration((rollouts.start_s + mean / rollouts.tokens_per_s) *
                                       std::max(1., static_cast<double>(rollouts.batch) / slots)));
  say(stdout,
      fmt::format("    rollouts: {}{} {} {} each at a time{}; a version is {} to each by {}\n",
                  counted(as_index(rollouts.groups), "group"),
                  places.empty() ? "" : " (" + named_few(places, 4) + ")",
                  rollouts.groups == 1 ? "generates" : "generate",
                  counted(as_index(rollouts.concurrent), "sample"), batch,
                  human_bytes(static_cast<double>(rollouts.weights.bytes)), rollouts.weights.distribution));
}

void print_case(const CaseEstimate& estimate) {
  const Case& config = *estimate.config;
  const double bytes =
      static_cast<double>(config.workload.parameters) * bytes_per_parameter(config.workload.wire);
  const std::string segments = segments_in_words(estimate.replay);
  say(stdout, fmt::format("  {}: {} replicas, {} steps, {} of parameters on the wire; replay about {}{}\n",
                          config.name, config.replicas, config.steps(), human_bytes(bytes),
                          segments.empty() ? "" : segments + ", ", human_duration(estimate.replay.seconds)));
  if (const std::string pace = pace_in_words(config); !pace.empty()) std::printf("    %s\n", pace.c_str());
  print_rollouts(config);
  print_inside(config);
  print_sitting_out(config);
  print_placement(config);
}

// "6 cases, 3 trainings: about 94 s of training on 2 cores, 49 ms of replay on one, 313 MB of memory, 40 MB
// of disk".
std::string in_one_line(const WorkPlan& plan, const WorkEstimate& work) {
  std::string text = counted(plan.cases.size(), "case");
  if (!plan.trainings.empty()) text += ", " + counted(plan.trainings.size(), "training");
  text += ": about ";
  if (!plan.trainings.empty()) text += human_duration(work.training_s) + " of training on 2 cores, ";
  const std::string segments =
      work.segments > 0 ? fmt::format(" ({} segments)", human_count(work.segments)) : "";
  return text + fmt::format("{} of replay on one core{}, {} of memory, {} of disk",
                            human_duration(work.replay_s), segments, human_bytes(work.memory_bytes),
                            human_bytes(work.disk_bytes));
}

// What the numbers of segments rest on.
std::string segments_explained(const WorkEstimate& work) {
  if (work.segments == 0) return "";
  const bool has_others = std::any_of(work.cases.begin(), work.cases.end(), [](const CaseEstimate& estimate) {
    return estimate.replay.segments_of_others > 0;
  });
  return std::string("segments: what the messages fill, without those that are lost and sent again") +
         (has_others
              ? "; of others: an even share of each link while exchanges last, and all that is free while "
                "replicas compute; more where windows of exchanges do not come to their share"
              : "") +
         "\n";
}

// ", jitter of rates and outages", as far as they add to the error.
std::string changes_in_words(const NetworkSpec& network) {
  const std::vector<std::string> kinds = changing_links(network).kinds;
  return kinds.empty() ? "" : ", " + enumeration(kinds, "and");
}

// By class of queue and loss; "" where all times are assumptions, or of unlost packets.
std::string error_in_words(const Scenario& scenario) {
  std::vector<std::string> classes;
  for (const Case& config : scenario.cases) {
    const double residual = class_residual(config.network);
    if (residual > 0 && residual < 1)
      add_new(fmt::format("{} % with {}{}{}", std::lround(100 * residual), queue_setting(config.network),
                          config.network.library == "plain" ? "" : " over " + config.network.library,
                          changes_in_words(config.network)),
              classes);
  }
  return classes.empty() ? ""
                         : "the network model's error where it was measured: " + named_few(classes, 4) + "\n";
}

Json as_json(const Scenario& scenario, const WorkPlan& plan, const WorkEstimate& work,
             const std::vector<std::string>& warnings) {
  Json cases = Json::array();
  for (const CaseEstimate& estimate : work.cases)
    cases.push_back({{"case", estimate.config->name},
                     {"method", estimate.config->method.name},
                     {"label", estimate.config->method.label},
                     {"seed", estimate.config->seed},
                     {"swept", estimate.config->swept},
                     {"replicas", estimate.config->replicas},
                     {"sitting_out", sitting_out(plan_of(*estimate.config), estimate.config->replicas)},
                     {"steps", estimate.config->steps()},
                     {"transfers", estimate.replay.transfers},
                     {"payload_bytes", estimate.replay.payload_bytes},
                     {"segments", estimate.replay.segments},
                     {"segments_of_others", estimate.replay.segments_of_others},
                     {"replay_s", estimate.replay.seconds}});
  return {{"scenario", scenario.resolved},
          {"cases", cases},
          {"estimate",
           {{"trainings", plan.trainings.size()},
            {"training_s", work.training_s},
            {"replay_s", work.replay_s},
            {"memory_bytes", work.memory_bytes},
            {"disk_bytes", work.disk_bytes}}},
          {"warnings", warnings}};
}

void print_for_people(const CheckOptions& options, const Scenario& scenario, const WorkPlan& plan,
                      const WorkEstimate& work, const std::vector<std::string>& warnings) {
  constexpr std::size_t kMostListed = 12;
  const std::size_t listed = options.all_cases ? work.cases.size() : std::min(kMostListed, work.cases.size());
  for (std::size_t i = 0; i < listed; ++i) print_case(work.cases[i]);
  if (listed < work.cases.size()) std::printf("  and %zu more (--cases)\n", work.cases.size() - listed);
  for (const std::string& warning : warnings) say(stdout, "warning: " + warning + "\n");
  say(stdout, fmt::format("{}{}{} is a valid scenario\n{}\n", segments_explained(work),
                          error_in_words(scenario), options.scenario, in_one_line(plan, work)));
}

}  // namespace

int check_command(const CheckOptions& options) {
  const Scenario scenario = validated_scenario(options.scenario, options.assignments);
  if (options.resolved) {
    std::printf("%s\n", scenario.resolved.dump(2).c_str());
    return kDone;
  }
  const WorkPlan plan = plan_work(scenario);
  WorkEstimate work = estimate_work(plan, 1, cores_here(), keeps_tables(scenario));
  if (!plan.trainings.empty()) work.training_s *= training_pace();
  std::vector<std::string> warnings = scenario_warnings(scenario);
  if (!options.anywhere) {
    check_corpora(plan, scenario.file);
    for (std::string& warning : machine_warnings(work, scenario.file, "results", ""))
      warnings.push_back(std::move(warning));
  }
  if (options.json)
    std::printf("%s\n", as_json(scenario, plan, work, warnings).dump(2).c_str());
  else
    print_for_people(options, scenario, plan, work, warnings);
  return kDone;
}

}  // namespace longhaul
