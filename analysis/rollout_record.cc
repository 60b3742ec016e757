#include "analysis/rollout_record.h"

#include <algorithm>
#include <cmath>

#include "analysis/record_values.h"
#include "analysis/run_files.h"
#include "analysis/statistics.h"
#include "core/base/csv.h"

namespace longhaul {
namespace {

// Of versions that all groups took up.
std::vector<double> refit_times(const std::string& file, std::vector<double>& bytes) {
  std::vector<double> times;
  for (CsvStream rows(file, {"published_s", "last_s", "bytes"}); rows.next();) {
    if (rows.empty(1)) continue;
    times.push_back(rows.number(1) - rows.number(0));
    bytes.push_back(rows.number(2));
  }
  return times;
}

// Of samples; the 95th percentile is the least number of versions that 95 % of them do not exceed.
Json staleness_of(const std::string& file) {
  std::vector<std::pair<double, double>> samples;  // versions, how many
  double all = 0, sum = 0;
  for (CsvStream rows(file, {"versions", "samples"}); rows.next();) {
    samples.push_back({rows.number(0), rows.number(1)});
    all += rows.number(1);
    sum += rows.number(0) * rows.number(1);
  }
  if (all == 0) return nullptr;
  double below = 0, p95 = 0;
  for (const auto& [versions, count] : samples) {
    if (below < 0.95 * all) p95 = versions;
    below += count;
  }
  return {{"mean", sum / all}, {"p95", p95}, {"max", samples.back().first}};
}

}  // namespace

void add_rollouts(const Case& config, const std::string& case_folder, Json& record) {
  if (!config.rollouts) return;
  const RolloutSpec& spec = *config.rollouts;
  const std::string folder = case_folder + "/";
  std::vector<double> bytes;
  const std::vector<double> refits = refit_times(folder + "versions.csv", bytes);
  auto groups = read_numbers(folder + "rollouts.csv", {"busy_s", "sample_s", "clock_s", "samples"});
  const std::vector<double>& clock_s = groups["clock_s"];
  const double end_s = clock_s.empty() ? 0 : clock_s.front();
  record["versions"] = refits.size();
  record["refit_time_s"] = distribution_or_null(refits);
  record["staleness"] = staleness_of(folder + "staleness.csv");
  record["batch_wait_s"] =
      distribution_or_null(read_numbers(folder + "batches.csv", {"waited_s"})["waited_s"]);
  record["batch_wait_time_s"] = mean(read_numbers(folder + "replicas.csv", {"batch_wait_s"})["batch_wait_s"]);
  record["bytes_per_version"] = bytes.empty() ? Json() : Json(mean(bytes));
  if (end_s > 0) {
    std::vector<double> idle;
    for (const double busy_s : groups["busy_s"]) idle.push_back(1 - busy_s / end_s);
    record["rollout_idle_fraction"] = {{"mean", mean(idle)},
                                       {"max", *std::max_element(idle.begin(), idle.end())}};
    record["rollout_slot_use"] =
        sum(groups["sample_s"]) / (end_s * static_cast<double>(spec.concurrent) * spec.groups);
    record["samples_per_s"] = static_cast<double>(spec.batch) * config.steps() / end_s;
    record["step_time_s"] = end_s / config.steps();
  }
  const double trainers = static_cast<double>(config.workload.accelerators) * config.workers(),
               rollouts = static_cast<double>(spec.accelerators) * spec.groups, hours = end_s / 3600;
  record["accelerator_hours"] = hours * trainers;
  record["rollout_accelerator_hours"] = hours * rollouts;
  // A topology without sites has no rows, and no price of egress.
  const std::vector<double> egress = read_numbers(folder + "sites.csv", {"bytes_out"})["bytes_out"];
  record["egress_bytes"] = egress.empty() ? Json() : Json(sum(egress));
  if (spec.prices)
    record["cost"] = hours * (trainers * spec.prices->trainer_hour + rollouts * spec.prices->rollout_hour) +
                     sum(egress) / 1e9 * spec.prices->egress_gb;
}

}  // namespace longhaul
