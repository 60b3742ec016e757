#include "checks/work_estimate.h"

#include <cmath>
#include <filesystem>
#include <functional>
#include <map>
#include <numeric>
#include <utility>

#include "core/base/errors.h"
#include "core/base/files.h"
#include "core/base/index.h"
#include "core/base/ranges.h"
#include "core/base/units.h"
#include "core/plan/trace.h"
#include "core/scenario/training_text.h"
#include "methods/common/dynamic_steps.h"
#include "methods/common/registry.h"
#include "replay/output/tables.h"

namespace longhaul {
namespace {

// Of training on one core of an AMD EPYC of family 25 (AVX2), whose products of large models come to 60e9:
// processor time of models of width 48 to 256, which is within a tenth of what follows (results/reference/
// speed/trainer.md). Small models are slower than their products: what a token costs besides, and each number
// of its attention. cli/core_speed.h compares another core with that one.
constexpr double kTrainingFlops = 60e9, kTokenBesides_s = 5e-6, kAttentionBesides_s = 6e-9;
// LibTorch 1.13 multiplies bf16 on a CPU without instructions for it: models of width 128 and 384 took 15 and
// 19 times as much processor time.
constexpr double kBf16OnACpu = 17;
constexpr double kCores = 2;              // that the estimate is for
constexpr double kStartOfTraining = 0.5;  // s of a program
constexpr double kTokenOfText_s = 4.5e-8;  // reading it, and looking for what the held-out part copies

// Bytes of a row, as measured over runs of 4 to 64 replicas.
constexpr double kStepRow = 40, kExchangeRow = 80, kJoinedExchangeRow = 110, kBreakdownRow = 85,
                 kTransferRow = 52, kLinkRow = 65;
constexpr double kRestOfACase = 8e3, kReport = 4e5, kReportOfACase = 2e4;
// A file takes whole blocks of its file system, of which the last is half full on average.
constexpr double kBlock = 4096, kFilesOfACase = 14, kFilesWithoutTables = 5;
constexpr double kMostTransferRows = 1e4;  // replay/output/logged_network.cc

// Of a program that replays, and of each worker: 100,000 on a star took 497 MB and 8.6 s for two outer steps,
// 300,000 1.48 GB and 24.9 s.
constexpr double kReplayProgram = 100e6, kWorkerOfReplay = 4.9e3, kWorkerOfReplay_s = 7.3e-5;

// Of a program with LibTorch that has trained nothing yet.
constexpr double kProgram = 200e6;
constexpr int kEvaluatedTogether = 8;  // sequences (trainer/data/dataset.h)

// A third of it is the pass forward.
double seconds_of_token(const ModelShape& model) {
  const double of_layers = static_cast<double>(model.layers) * model.context;  // pairs of tokens, about
  return (6. * static_cast<double>(model.parameters()) + 12. * of_layers * model.hidden) / kTrainingFlops +
         kTokenBesides_s + kAttentionBesides_s * of_layers * model.heads;
}

// Without its text, whose files may lie on another machine.
double training_seconds(const Case& config) {
  const TrainSpec& train = *config.train;
  const auto steps = static_cast<double>(dynamic_steps_of(config).taken_by_all(config.replicas, train.steps));
  const double tokens = steps * train.batch * train.model.context;
  // Of each replica and of their mean; of a whole held-out part it is not known how long that is.
  const double evaluated = 1. * train.steps / train.evaluate_every * (config.replicas + 1) *
                           train.evaluate_sequences * train.model.context;
  const double times = train.precision == Precision::kBf16 && train.device != "cuda" ? kBf16OnACpu : 1;
  return kStartOfTraining + times * (tokens + evaluated / 3) * seconds_of_token(train.model) / kCores;
}

double replay_seconds(const Case& config, const ReplayEstimate& replay) {
  return kStartOfReplay_s + kWorkerOfReplay_s * config.workers() + replay.seconds;
}

// Rows of late gradients, 4 bytes a parameter and replica each.
int late_rows(const Case& config) {
  int most = 0;
  for (const GradientDelay& delay : trained_plan_of(config).delays) most = std::max(most, delay.steps);
  return most;
}

// A parameter and replica: weights, gradient and two moments; with steps of its own after the optimizer's
// also slow weights and their momentum.
double bytes_of_tables(const Case& config) {
  const OperationPlan plan = trained_plan_of(config);
  const bool has_outer_steps =
      any_of(plan.rules, [](const OperationRule& rule) { return !rule.before_optimizer; });
  return has_outer_steps ? 24 : 16;
}

// Of a training that runs: two checkpoints and the one that is being written, 20 bytes a parameter and
// replica each. Once it is done the weights stay.
double checkpoint_bytes(const Case& config, bool is_done) {
  return (is_done ? 4. : 60. + 12. * late_rows(config)) *
         static_cast<double>(config.train->model.parameters()) * config.replicas;
}

// The tables with a row for each exchange, step, message or link.
double table_bytes(const Case& config, const ReplayEstimate& replay) {
  const double steps = 1. * config.steps() * config.workers();
  double exchanges = 0;
  const OperationPlan plan = plan_of(config);
  for (const OperationRule& rule : plan.rules)
    exchanges += 1. * config.steps() * config.replicas / rule.every;
  return 3. * config.workers() * kLinkRow +
         (steps <= static_cast<double>(kMostStepRows) ? steps * kStepRow : 0) +
         exchanges * (kExchangeRow + kJoinedExchangeRow + kBreakdownRow) +
         std::min(static_cast<double>(replay.transfers), kMostTransferRows) * kTransferRow;
}

// A number of steps to walk: whole periods of all rules where these are short enough.
int walked_steps(const Case& config) {
  std::int64_t period = 1, longest = 1;
  for (const OperationRule& rule : plan_of(config).rules) {
    longest = std::max<std::int64_t>(longest, rule.every);
    if (period <= kMostWalkedSteps) period = std::lcm(period, std::int64_t{rule.every});
  }
  const std::int64_t least = std::max<std::int64_t>(kMostWalkedSteps, 10 * longest);
  const std::int64_t walked = period <= least ? (least + period - 1) / period * period : least;
  return static_cast<int>(std::min<std::int64_t>(walked, config.steps()));
}

// Two bytes a token; a byte of a text is a token.
double bytes_of_text(const Case& config) {
  const DataSpec& data = config.train->data;
  if (data.kind == DataSpec::Kind::kCorpus) return 2 * installed_bytes(data.corpus);
  if (data.kind == DataSpec::Kind::kSynthetic) return 2. * static_cast<double>(data.synthetic.tokens);
  double bytes = 0;
  for (const std::string& glob : data.globs)
    for (const std::string& file : files_matching(glob, config.folder)) {
      std::error_code unreadable;
      const auto size = std::filesystem::file_size(file, unreadable);
      if (!unreadable) bytes += static_cast<double>(size);
    }
  return data.kind == DataSpec::Kind::kText ? 2 * bytes : bytes;
}

std::int64_t scaled(std::int64_t count, double factor) {
  const double product = static_cast<double>(count) * factor;
  constexpr double kMost = 9e18;
  return product < kMost ? std::llround(product) : static_cast<std::int64_t>(kMost);
}

// "2/5": which, of how many.
std::pair<int, int> parse_shard(const std::string& text) {
  const std::size_t slash = std::min(text.find('/'), text.size() - 1);  // without one no count is left
  const auto index = parse_number<int>(text.substr(0, slash)),
             count = parse_number<int>(text.substr(slash + 1));
  if (!index || !count || *index < 1 || *index > *count)
    throw InputError("--shard", "found \"" + text + "\"", "i/n with 1 <= i <= n, as 2/5");
  return {*index, *count};
}

}  // namespace

WorkPlan plan_work(const Scenario& scenario) {
  WorkPlan plan;
  std::map<std::string, std::size_t> training_of;
  for (const Case& config : scenario.cases) {
    plan.cases.push_back(&config);
    if (!config.train) continue;
    const std::string key = training_key(config);
    const auto [entry, is_new] = training_of.emplace(key, plan.trainings.size());
    if (is_new) plan.trainings.push_back({key, &config, {}});
    plan.trainings[entry->second].cases.push_back(&config);
  }
  return plan;
}

WorkPlan part_of(const WorkPlan& whole, const std::set<std::string>& names) {
  const auto named = [&](const std::vector<const Case*>& cases) {
    std::vector<const Case*> some;
    for (const Case* config : cases)
      if (names.count(config->name) > 0) some.push_back(config);
    return some;
  };
  WorkPlan part{{}, named(whole.cases)};
  for (const Training& training : whole.trainings)
    if (std::vector<const Case*> cases = named(training.cases); !cases.empty())
      part.trainings.push_back({training.key, training.example, std::move(cases)});
  return part;
}

double TrainingMemory::together() const {
  return tables + passes + text + kProgram;
}

ReplayEstimate replay_estimate(const Case& config) {
  const int steps = config.steps(), walked = walked_steps(config);
  if (walked == steps) return estimate(config, trace_of(config));
  Case shorter = config;
  shorter.workload.steps = walked;
  ReplayEstimate replay = estimate(shorter, trace_of(shorter));
  const double factor = 1. * steps / walked;
  replay.transfers = scaled(replay.transfers, factor);
  replay.payload_bytes = scaled(replay.payload_bytes, factor);
  replay.events = scaled(replay.events, factor);
  replay.segments = scaled(replay.segments, factor);
  replay.segments_of_others = scaled(replay.segments_of_others, factor);
  replay.beside_others_s *= factor;
  replay.seconds *= factor;
  return replay;
}

TrainingMemory training_memory(const Case& written, int threads) {
  const Case config = trained_case(written);
  const TrainSpec& train = *config.train;
  const ModelShape& model = train.model;
  TrainingMemory memory;
  memory.tables = (bytes_of_tables(config) + 4. * late_rows(config)) *
                  static_cast<double>(model.parameters()) * config.replicas;
  // Numbers that a token keeps in one layer, attention's of each pair of tokens among them, and at the end.
  const double layer = 12. * model.hidden + 3. * model.ffn + 2. * model.heads * model.context,
               logits = 1.25 * model.vocabulary;
  const int evaluated = train.evaluate_sequences > 0 ? std::min(train.evaluate_sequences, kEvaluatedTogether)
                                                     : kEvaluatedTogether;
  memory.text = bytes_of_text(config);
  const double step = train.batch * (model.layers * layer + logits),
               evaluation = evaluated * (layer + logits);
  memory.passes = 4. * std::min(threads, config.replicas) * model.context * std::max(step, evaluation);
  return memory;
}

bool keeps_tables(const Scenario& scenario) {
  return scenario.resolved.at("tables") == "all";
}

std::vector<int> shards_by_cost(const std::vector<double>& costs, int shards) {
  std::vector<std::size_t> order(costs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  stable_sort(order, [&](std::size_t a, std::size_t b) { return costs[a] > costs[b]; });
  std::vector<double> sums(std::min(as_index(shards), costs.size()));
  std::vector<int> shard_of(costs.size());
  for (const std::size_t group : order) {
    const auto emptiest = std::min_element(sums.begin(), sums.end());
    *emptiest += costs[group];
    shard_of[group] = static_cast<int>(emptiest - sums.begin());
  }
  return shard_of;
}

std::set<std::string> cases_of_shard(const WorkPlan& whole, const std::string& shard) {
  const auto [index, count] = parse_shard(shard);
  std::map<const Case*, std::size_t> group_of;
  std::vector<double> costs;
  for (const Training& training : whole.trainings) {
    for (const Case* config : training.cases) group_of[config] = costs.size();
    costs.push_back(training_seconds(*training.example));
  }
  for (const Case* config : whole.cases) {
    const auto [group, is_new] = group_of.emplace(config, costs.size());
    if (is_new) costs.push_back(0);
    costs[group->second] += replay_seconds(*config, replay_estimate(*config));
  }
  const std::vector<int> shard_of = shards_by_cost(costs, count);
  std::set<std::string> names;
  for (const auto& [config, group] : group_of)
    if (shard_of[group] == index - 1) names.insert(config->name);
  return names;
}

WorkEstimate estimate_work(const WorkPlan& plan, int jobs, int threads, bool keeps_tables) {
  WorkEstimate work;
  std::vector<double> memories;
  double largest = 0, checkpoints = 0;
  for (const Training& training : plan.trainings) {
    const Case& config = *training.example;
    work.training_s += training_seconds(config) + bytes_of_text(config) / 2 * kTokenOfText_s / kCores;
    memories.push_back(training_memory(config, threads).together());
    if (memories.back() > largest) {
      largest = memories.back();
      work.largest = &training;
    }
    checkpoints = std::max(checkpoints, checkpoint_bytes(config, false));
    work.disk_bytes += checkpoint_bytes(config, true);
  }
  std::sort(memories.begin(), memories.end(), std::greater<>());
  memories.resize(std::min(memories.size(), as_index(jobs)));
  work.memory_bytes = std::accumulate(memories.begin(), memories.end(), kReplayProgram);
  work.disk_bytes += checkpoints * jobs + kReport;
  double most_tables = 0;
  int most_workers = 0;
  for (const Case* config : plan.cases) {
    const ReplayEstimate& replay =
        work.cases.emplace_back(CaseEstimate{config, replay_estimate(*config)}).replay;
    work.replay_s += replay_seconds(*config, replay);
    most_workers = std::max(most_workers, config->workers());
    work.segments += static_cast<double>(replay.segments) + static_cast<double>(replay.segments_of_others);
    const double tables = table_bytes(*config, replay);
    most_tables = std::max(most_tables, tables);
    work.disk_bytes += kRestOfACase + kReportOfACase + config->workers() * kLinkRow +
                       (keeps_tables ? tables : 0) +
                       kBlock / 2 * (keeps_tables ? kFilesOfACase : kFilesWithoutTables);
  }
  if (!keeps_tables) work.disk_bytes += most_tables * jobs;
  work.memory_bytes += kWorkerOfReplay * most_workers;
  return work;
}

}  // namespace longhaul
