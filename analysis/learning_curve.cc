#include "analysis/learning_curve.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <vector>

#include "analysis/exchange_table.h"
#include "analysis/record_values.h"
#include "core/base/csv.h"
#include "core/base/errors.h"
#include "core/base/index.h"

namespace longhaul {
namespace {

// What the replay says of one replica at the step of an evaluation.
struct Moment {
  double computed_s = 0, done_s = 0;
  bool evaluated = false, replayed = false;
  std::int64_t bytes_before = 0;  // sent without the exchanges posted at this step
  std::int64_t bytes_after = 0;
};

using Moments = std::map<std::int64_t, std::vector<Moment>>;  // by step, [replica]

// Of the training's metrics.csv.
enum MetricColumn { kStep, kPhase, kReplica, kLoss, kLossOfMean, kWeightSpread };
const std::vector<std::string> kMetricColumns = {"step", "phase",        "replica",
                                                 "loss", "loss_of_mean", "weight_spread"};

void check_replica(std::int64_t replica, int replicas, const std::string& file) {
  if (replica < 0 || replica >= replicas)
    throw DamagedFile(fmt::format("{}: has replica {}, the case has {}", file, replica, replicas));
}

Moments evaluated_steps(const std::string& metrics, int replicas) {
  Moments moments;
  CsvStream rows(metrics, {"step", "replica"});
  while (rows.next()) {
    std::vector<Moment>& of_step = moments[rows.step(0)];
    of_step.resize(as_index(replicas));
    if (rows.text(1) == "mean") continue;
    check_replica(rows.integer(1), replicas, metrics);
    of_step[as_index(rows.integer(1))].evaluated = true;
  }
  const auto start = moments.find(0);  // before the first step all clocks are 0 and nothing is sent
  if (start != moments.end())
    for (Moment& moment : start->second) moment.replayed = true;
  return moments;
}

// With stages rows are of workers; a replica's clock is that of its last worker.
void read_clocks(const std::string& file, int replicas, int stages, Moments& moments) {
  CsvStream rows(file, {"step", "replica", "computed_s", "done_s"});
  while (rows.next()) {
    const auto found = moments.find(rows.integer(0));
    if (found == moments.end()) continue;
    const std::int64_t replica = rows.integer(1) / stages;
    check_replica(replica, replicas, file);
    Moment& moment = found->second[as_index(replica)];
    moment.computed_s = std::max(moment.computed_s, rows.number(2));
    moment.done_s = std::max(moment.done_s, rows.number(3));
    moment.replayed = true;
  }
}

void add_stage_bytes(const StageBytes& stage_bytes, Moments& moments) {
  for (auto& [step, of_replicas] : moments)
    for (std::size_t replica = 0; replica < of_replicas.size(); ++replica) {
      const std::int64_t passed = stage_bytes.until(step, static_cast<int>(replica));
      Moment& moment = of_replicas[replica];
      for (std::int64_t* bytes : {&moment.bytes_before, &moment.bytes_after}) *bytes += passed;
    }
}

void read_bytes(const std::string& case_folder, int replicas, int stages, Moments& moments) {
  const std::string file = case_folder + "/exchanges.csv";
  std::vector<std::int64_t> sent(as_index(replicas));
  auto moment = moments.begin();
  std::int64_t step = -1;
  // Fills in the evaluations up to `until`, where the counts of `sent` are those of all steps before it.
  const auto advance_to = [&](std::int64_t until) {
    for (; moment != moments.end() && moment->first < until; ++moment)
      for (std::size_t r = 0; r < sent.size(); ++r) {
        if (moment->first != step) moment->second[r].bytes_before = sent[r];
        moment->second[r].bytes_after = sent[r];
      }
    if (moment != moments.end() && moment->first == until)
      for (std::size_t r = 0; r < sent.size(); ++r) moment->second[r].bytes_before = sent[r];
  };
  for (ExchangeTable rows(case_folder); rows.next();) {
    if (rows.step() < step) throw DamagedFile(file + ": its steps are not in order");
    if (rows.step() != step) {
      advance_to(rows.step());
      step = rows.step();
    }
    const std::int64_t replica = rows.replica() / stages;
    check_replica(replica, replicas, file);
    sent[as_index(replica)] += rows.bytes();
  }
  advance_to(moments.empty() ? 0 : moments.rbegin()->first + 1);
}

struct Cost {
  double simulated_s = 0;
  double bytes_sent = 0;
};

Cost cost_of(const Moment& moment, bool before) {
  return {before ? moment.computed_s : moment.done_s,
          static_cast<double>(before ? moment.bytes_before : moment.bytes_after)};
}

// Who has a clock there; bytes have been sent by those too who are gone.
Cost mean_cost(const std::vector<Moment>& moments, bool before) {
  Cost all;
  for (const Moment& moment : moments) {
    const Cost cost = cost_of(moment, before);
    if (moment.replayed) all.simulated_s = std::max(all.simulated_s, cost.simulated_s);
    all.bytes_sent += cost.bytes_sent;
  }
  all.bytes_sent /= static_cast<double>(moments.size());
  return all;
}

// A count of bytes stays an integer in the file wherever it is one.
void bytes_cell(CsvWriter& out, double bytes) {
  if (bytes == std::floor(bytes) && bytes < 9e15)
    out.cell(static_cast<std::int64_t>(bytes));
  else
    out.cell(bytes);
}

void write_row(const CsvStream& row, const Moments& moments, const std::string& steps_file, CsvWriter& out) {
  const std::vector<Moment>& all = moments.at(row.integer(kStep));
  const bool before = row.text(kPhase) == "before", is_mean = row.text(kReplica) == "mean";
  if (!is_mean) check_replica(row.integer(kReplica), static_cast<int>(all.size()), "metrics.csv");
  for (const Moment& moment : all)
    if (moment.evaluated && !moment.replayed)
      throw RunError(fmt::format("{}: has no clock of every replica for the evaluation at step {}",
                                 steps_file, row.text(kStep)));
  const Cost cost = is_mean ? mean_cost(all, before) : cost_of(all[as_index(row.integer(kReplica))], before);
  out.cell(row.integer(kStep)).cell(std::string(row.text(kPhase)));
  out.cell(std::string(row.text(kReplica))).cell(cost.simulated_s);
  for (const std::size_t column : std::initializer_list<std::size_t>{kLoss, kLossOfMean, kWeightSpread})
    out.cell(std::string(row.text(column)));
  bytes_cell(out, cost.bytes_sent);
  out.end_row();
}

struct CurvePoint {
  std::int64_t step = 0;
  Json time_s, bytes, loss, of_mean, spread;
};

std::vector<CurvePoint> mean_rows(const std::string& file, bool replayed) {
  std::vector<std::string> columns = {"step", "replica", "loss", "loss_of_mean", "weight_spread"};
  if (replayed) columns.insert(columns.end(), {"simulated_s", "bytes_sent"});
  CsvStream rows(file, columns);
  std::vector<CurvePoint> points;
  const auto cell = [&](std::size_t column) {
    const bool has_value = column < columns.size() && !rows.empty(column);
    return has_value ? Json(six_digits(rows.number(column))) : Json(nullptr);
  };
  while (rows.next())
    if (rows.text(1) == "mean")
      points.push_back({rows.step(0), cell(5), cell(6), six_digits(rows.number(2)), cell(3), cell(4)});
  return points;
}

// The steps to keep: evenly spaced in the list of evaluated steps, the first and the last among them.
std::vector<std::int64_t> kept_steps(const std::vector<CurvePoint>& points, std::size_t most) {
  std::vector<std::int64_t> steps;
  for (const CurvePoint& point : points)
    if (steps.empty() || steps.back() != point.step) steps.push_back(point.step);
  const std::size_t room =
      std::max<std::size_t>(2, most * steps.size() / std::max<std::size_t>(1, points.size()));
  if (steps.size() <= room) return steps;
  std::vector<std::int64_t> kept;
  for (std::size_t i = 0; i < room; ++i) kept.push_back(steps[i * (steps.size() - 1) / (room - 1)]);
  return kept;
}

}  // namespace

void write_case_metrics(const Case& config, const std::string& case_folder, const std::string& train_folder) {
  const std::string metrics = train_folder + "/metrics.csv", steps = case_folder + "/steps.csv";
  Moments moments = evaluated_steps(metrics, config.replicas);
  read_clocks(steps, config.replicas, config.pipeline.stages, moments);
  read_bytes(case_folder, config.replicas, config.pipeline.stages, moments);
  add_stage_bytes(StageBytes(case_folder), moments);
  CsvWriter out(case_folder + "/metrics.csv", {"step", "phase", "replica", "simulated_s", "loss",
                                               "loss_of_mean", "weight_spread", "bytes_sent"});
  CsvStream rows(metrics, kMetricColumns);
  while (rows.next()) write_row(rows, moments, steps, out);
  out.flush();
}

Json curve_of(const std::string& case_folder, const std::string& train_folder, std::size_t points) {
  const std::string joined = case_folder + "/metrics.csv", trained = train_folder + "/metrics.csv";
  const bool replayed = std::filesystem::exists(joined);
  if (!replayed && (train_folder.empty() || !std::filesystem::exists(trained))) return nullptr;
  const std::vector<CurvePoint> all = mean_rows(replayed ? joined : trained, replayed);
  const std::vector<std::int64_t> kept = kept_steps(all, points);
  Json curve;
  for (const char* key : {"step", "time_s", "bytes", "loss", "of_mean", "spread"}) curve[key] = Json::array();
  for (const CurvePoint& point : all) {
    if (!std::binary_search(kept.begin(), kept.end(), point.step)) continue;
    curve["step"].push_back(point.step);
    curve["time_s"].push_back(point.time_s);
    curve["bytes"].push_back(point.bytes);
    curve["loss"].push_back(point.loss);
    curve["of_mean"].push_back(point.of_mean);
    curve["spread"].push_back(point.spread);
  }
  return curve;
}

}  // namespace longhaul
