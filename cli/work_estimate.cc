#include "cli/work_estimate.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "core/index.h"
#include "core/plan/trace.h"
#include "methods/common/dynamic_steps.h"
#include "methods/common/registry.h"
#include "replay/outputs.h"

namespace longhaul {
namespace {

// Useful arithmetic of training on this kind of CPU, both cores: for an estimate, not a promise.
constexpr double kTrainingFlops = 60e9;

// Bytes of a row, or of what stands for one in timeline.json, as measured over runs of 4 to 64 replicas.
constexpr double kStepRow = 40, kExchangeRow = 80, kJoinedExchangeRow = 110, kBreakdownRow = 85,
                 kTransferRow = 52, kLinkRow = 65, kTimelineMessage = 710, kTimelineSlice = 180;
constexpr double kRestOfACase = 8e3, kReport = 4e5, kReportOfACase = 2e4;
constexpr double kMostTransferRows = 1e4;  // replay/logged_network.cc
constexpr double kGzip = 0.11;             // of timeline.json

// Of a program with LibTorch that has trained nothing yet.
constexpr double kProgram = 200e6;
constexpr int kEvaluatedTogether = 8;  // sequences (trainer/data/dataset.h)

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

// A parameter and replica: weights, gradient and two moments; with steps of its own after the optimizer's
// also slow weights and their momentum.
double bytes_of_tables(const Case& one) {
  const OperationPlan plan = trained_plan_of(one);
  const bool has_outer_steps = std::any_of(plan.rules.begin(), plan.rules.end(),
                                           [](const OperationRule& rule) { return !rule.before_optimizer; });
  return has_outer_steps ? 24 : 16;
}

// Of a training that runs: two checkpoints and the one that is being written, 20 bytes a parameter and
// replica each. Once it is done the weights stay.
double checkpoint_bytes(const Case& one, bool is_done) {
  return (is_done ? 4. : 60. + 12. * late_rows(one)) * static_cast<double>(one.train->model.parameters()) *
         one.replicas;
}

double timeline_bytes(double transfers, double steps, double exchanges, TimelineFormat format) {
  if (format == TimelineFormat::kNone) return 0;
  const double messages = std::min(transfers, kMostTransferRows);
  const double slices = std::min(steps + 2 * exchanges, kMaximumSlices - 2 * messages);
  return (kTimelineMessage * messages + kTimelineSlice * slices) *
         (format == TimelineFormat::kGzip ? kGzip : 1);
}

double case_bytes(const Case& one, const ReplayEstimate& replay, TimelineFormat timeline) {
  const double steps = 1. * one.steps() * one.workers();
  double exchanges = 0;
  for (const OperationRule& rule : plan_of(one).rules)
    exchanges += 1. * one.steps() * one.replicas / rule.every;
  const auto transfers = static_cast<double>(replay.transfers);
  return kRestOfACase + kReportOfACase + 4. * one.workers() * kLinkRow +
         (steps <= static_cast<double>(kMostStepRows) ? steps * kStepRow : 0) +
         exchanges * (kExchangeRow + kJoinedExchangeRow + kBreakdownRow) +
         std::min(transfers, kMostTransferRows) * kTransferRow +
         timeline_bytes(transfers, steps, exchanges, timeline);
}

// A number of steps to walk: whole periods of all rules where these are short enough.
int walked_steps(const Case& one) {
  std::int64_t period = 1, longest = 1;
  for (const OperationRule& rule : plan_of(one).rules) {
    longest = std::max<std::int64_t>(longest, rule.every);
    if (period <= kMostWalkedSteps) period = std::lcm(period, std::int64_t{rule.every});
  }
  const std::int64_t least = std::max<std::int64_t>(kMostWalkedSteps, 10 * longest);
  const std::int64_t walked = period <= least ? (least + period - 1) / period * period : least;
  return static_cast<int>(std::min<std::int64_t>(walked, one.steps()));
}

std::int64_t scaled(std::int64_t count, double factor) {
  const double product = static_cast<double>(count) * factor;
  constexpr double kMost = 9e18;
  return product < kMost ? std::llround(product) : static_cast<std::int64_t>(kMost);
}

}  // namespace

double TrainingMemory::together() const {
  return tables + passes + kProgram;
}

ReplayEstimate replay_estimate(const Case& one) {
  const int steps = one.steps(), walked = walked_steps(one);
  if (walked == steps) return estimate(one, trace_of(one));
  Case shorter = one;
  shorter.workload.steps = walked;
  ReplayEstimate replay = estimate(shorter, trace_of(shorter));
  const double factor = 1. * steps / walked;
  replay.transfers = scaled(replay.transfers, factor);
  replay.payload_bytes = scaled(replay.payload_bytes, factor);
  replay.events = scaled(replay.events, factor);
  replay.node_bytes *= factor;
  replay.seconds *= factor;
  return replay;
}

TrainingMemory training_memory(const Case& one, int threads) {
  const TrainSpec& train = *one.train;
  const ModelShape& model = train.model;
  TrainingMemory memory;
  memory.tables =
      (bytes_of_tables(one) + 4. * late_rows(one)) * static_cast<double>(model.parameters()) * one.replicas;
  // Numbers that a token keeps in one layer, attention's of each pair of tokens among them, and at the end.
  const double layer = 12. * model.hidden + 3. * model.ffn + 2. * model.heads * model.context,
               logits = 1.25 * model.vocabulary;
  const int evaluated = train.evaluate_sequences > 0 ? std::min(train.evaluate_sequences, kEvaluatedTogether)
                                                     : kEvaluatedTogether;
  const double step = train.batch * (model.layers * layer + logits),
               evaluation = evaluated * (layer + logits);
  memory.passes = 4. * std::min(threads, one.replicas) * model.context * std::max(step, evaluation);
  return memory;
}

TimelineFormat timeline_format(const std::string& name, std::size_t cases) {
  if (name == "gz") return TimelineFormat::kGzip;
  if (name == "json" || (name.empty() && cases <= kMostCasesWithTimelines)) return TimelineFormat::kJson;
  return TimelineFormat::kNone;
}

WorkEstimate estimate_work(const WorkPlan& plan, int jobs, int threads, TimelineFormat timeline) {
  WorkEstimate work;
  std::vector<double> memories;
  double largest = 0, checkpoints = 0;
  for (const Training& training : plan.trainings) {
    const Case& one = *training.example;
    work.training_s += training_seconds(one);
    memories.push_back(training_memory(one, threads).together());
    if (memories.back() > largest) {
      largest = memories.back();
      work.largest = &training;
    }
    checkpoints = std::max(checkpoints, checkpoint_bytes(one, false));
    work.disk_bytes += checkpoint_bytes(one, true);
  }
  std::sort(memories.begin(), memories.end(), std::greater<>());
  memories.resize(std::min(memories.size(), as_index(jobs)));
  work.memory_bytes = std::accumulate(memories.begin(), memories.end(), 100e6);
  work.disk_bytes += checkpoints * jobs + kReport;
  for (const Case* one : plan.cases) {
    work.cases.push_back({one, replay_estimate(*one)});
    work.replay_s += work.cases.back().replay.seconds;
    work.disk_bytes += case_bytes(*one, work.cases.back().replay, timeline);
  }
  return work;
}

}  // namespace longhaul
