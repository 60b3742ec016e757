#include <algorithm>
#include <cstdio>

#include "cli/commands.h"
#include "cli/pace.h"
#include "cli/validated_scenario.h"
#include "cli/work_plan.h"
#include "core/errors.h"
#include "core/plan/node_passes.h"
#include "core/units.h"
#include "methods/common/dynamic_steps.h"
#include "methods/common/registry.h"
#include "replay/estimate.h"
#include "replay/optimized_order.h"

namespace longhaul {
namespace {

// Useful arithmetic of training on this kind of CPU, both cores: for an estimate, not a promise.
constexpr double kTrainingFlops = 60e9;
constexpr double kBytesPerStepRow = 40, kBytesPerExchangeRow = 70, kBytesPerBreakdownRow = 65,
                 kBytesPerTimelineSlice = 120;

double training_seconds(const Case& one) {
  const TrainSpec& train = *one.train;
  const auto steps = static_cast<double>(dynamic_steps_of(one).taken_by_all(one.replicas, train.steps));
  const double tokens = steps * train.batch * train.model.context;
  return 6. * static_cast<double>(train.model.parameters()) * tokens / kTrainingFlops;
}

// Rows of late gradients, 4 bytes a parameter and replica each.
int late_rows(const Case& one) {
  int most = 0;
  for (const GradientDelay& delay : trained_plan_of(one).delays) most = std::max(most, delay.steps);
  return most;
}

double training_bytes(const Case& one) {
  const TrainSpec& train = *one.train;
  const double arena =
      (24. + 4. * late_rows(one)) * static_cast<double>(train.model.parameters()) * one.replicas;
  const double token_bytes = 4. * (train.model.layers * (12. * train.model.hidden + 3. * train.model.ffn +
                                                         2. * train.model.heads * train.model.context) +
                                   3. * train.model.vocabulary);
  return arena + 2 * train.batch * train.model.context * token_bytes + 200e6;
}

// Of a training that runs: two checkpoints and the one that is being written, 20 bytes a parameter and
// replica each. Once it is done the weights stay.
double checkpoint_bytes(const Case& one, bool is_done) {
  return (is_done ? 4. : 60. + 12. * late_rows(one)) * static_cast<double>(one.train->model.parameters()) *
         one.replicas;
}

double disk_bytes(const Case& one) {
  const double rows = 1. * one.steps() * one.replicas;
  double exchanges = 0;
  for (const OperationRule& rule : plan_of(one).rules) exchanges += rows / rule.every;
  return std::min(rows, 1e6) * kBytesPerStepRow +
         exchanges * (kBytesPerExchangeRow + kBytesPerBreakdownRow + 2 * kBytesPerTimelineSlice);
}

// What an optimized order of ranks gains, and who stands where.
void print_placement(const Case& one) {
  if (one.network.rank_order.kind != RankOrderSpec::Kind::kOptimized) return;
  const OperationPlan plan = plan_of(one);
  const bool has_order = std::any_of(plan.rules.begin(), plan.rules.end(), [](const OperationRule& rule) {
    return rule.grouping == Grouping::kEveryone || rule.grouping == Grouping::kGrid ||
           rule.grouping == Grouping::kTwoLevel;
  });
  if (!has_order && !one.pipeline.has_stages()) {
    std::printf("    placement: its groups are drawn, no order of ranks is faster than another\n");
    return;
  }
  const OptimizedOrder order = optimized_order(one, plan);
  std::printf("    %s\n    %s\n", gain_in_words(order).c_str(), places_in_words(one, order.places).c_str());
}

// What the devices of a node say to each other. With stages the passes of all of a replica's workers.
void print_node(const Case& one) {
  if (!one.workload.node) return;
  const NodePass step = node_passes(one).step(one.workload.step_time.mean_s());
  std::printf(
      "    a worker is a node of %d devices: a replica's step computes for %s, %s of it for what they "
      "say to each other, %s inside the site\n",
      one.workload.node->devices, human_duration(step.seconds).c_str(),
      human_duration(step.exposed_s).c_str(), human_bytes(step.bytes).c_str());
}

void print_cases(const Scenario& scenario) {
  std::printf("\n%zu cases:\n", scenario.cases.size());
  for (const Case& one : scenario.cases) {
    const ReplayEstimate replay = estimate(one, trace_of(one));
    std::printf(
        "  %s: %d replicas, %d steps, %s of parameters on the wire; replay about %s\n", one.name.c_str(),
        one.replicas, one.steps(),
        human_bytes(static_cast<double>(one.workload.parameters) * bytes_per_parameter(one.workload.wire))
            .c_str(),
        human_duration(replay.seconds).c_str());
    if (const std::string pace = pace_in_words(one); !pace.empty()) std::printf("    %s\n", pace.c_str());
    print_node(one);
    print_placement(one);
  }
}

void print_estimate(const Scenario& scenario) {
  const WorkPlan plan = plan_work(scenario, {});
  double train_s = 0, replay_s = 0, memory = 100e6, disk = 0, checkpoints = 0;
  for (const Training& training : plan.trainings) {
    train_s += training_seconds(*training.example);
    memory = std::max(memory, training_bytes(*training.example));
    checkpoints = std::max(checkpoints, checkpoint_bytes(*training.example, false));
    disk += checkpoint_bytes(*training.example, true);
  }
  for (const Case& one : scenario.cases) {
    replay_s += estimate(one, trace_of(one)).seconds;
    disk += disk_bytes(one);
  }
  std::printf("\nestimate on 2 cores: %zu trainings %s, %zu replays %s, memory %s, disk %s\n",
              plan.trainings.size(), human_duration(train_s).c_str(), scenario.cases.size(),
              human_duration(replay_s).c_str(), human_bytes(memory).c_str(),
              human_bytes(disk + checkpoints).c_str());
}

}  // namespace

int check_command(const std::string& scenario_file, const std::vector<std::string>& assignments) {
  const Scenario scenario = validated_scenario(scenario_file, assignments);
  std::printf("%s\n", scenario.resolved.dump(2).c_str());
  print_cases(scenario);
  print_estimate(scenario);
  for (const std::string& warning : scenario_warnings(scenario))
    std::printf("warning: %s\n", warning.c_str());
  std::printf("%s is a valid scenario\n", scenario_file.c_str());
  return kDone;
}

}  // namespace longhaul
