#include <algorithm>
#include <filesystem>

#include "analysis/exchange_table.h"
#include "analysis/record_values.h"
#include "analysis/report/parts.h"
#include "analysis/run_files.h"
#include "analysis/statistics.h"
#include "core/base/index.h"

namespace longhaul {
namespace {

struct Totals {
  double compute_s = 0, idle_s = 0;
  double bubble_s = 0, stage_wait_s = 0;  // of idle_s, with stages
};

std::vector<Totals> read_totals(const std::string& file, bool has_stages) {
  std::vector<std::string> columns = {"compute_s", "idle_s"};
  if (has_stages) columns.insert(columns.end(), {"bubble_s", "stage_wait_s"});
  std::vector<Totals> totals;
  for (CsvStream rows(file, columns); rows.next();) {
    totals.push_back({rows.number(0), rows.number(1)});
    if (has_stages) totals.back().bubble_s = rows.number(2), totals.back().stage_wait_s = rows.number(3);
  }
  return totals;
}

// Which replicas to show: evenly spaced in the order of their idle time, both ends among them.
std::vector<std::size_t> shown_replicas(const std::vector<Totals>& totals, std::size_t most) {
  std::vector<std::size_t> order(totals.size());
  for (std::size_t r = 0; r < order.size(); ++r) order[r] = r;
  if (order.size() <= most) return order;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return totals[a].idle_s < totals[b].idle_s; });
  std::vector<std::size_t> shown;
  for (std::size_t i = 0; i < most; ++i) shown.push_back(order[i * (order.size() - 1) / (most - 1)]);
  std::sort(shown.begin(), shown.end());
  return shown;
}

}  // namespace

SyncTimes sync_times(const std::string& case_folder) {
  SyncTimes times;
  if (!std::filesystem::exists(case_folder + "/exchanges.csv")) return times;
  std::vector<std::int64_t> step_of;  // of a replica: the outer step of its last row, and where its time is
  std::vector<std::size_t> row_of;
  for (ExchangeTable rows(case_folder); rows.next();) {
    if (!rows.is_synchronization()) continue;
    const auto replica = as_index(rows.replica());
    if (replica >= step_of.size()) {
      step_of.resize(replica + 1, -1);
      row_of.resize(replica + 1);
      times.wait_of_replica.resize(replica + 1);
    }
    // Exchanges that follow each other at a step are one synchronization.
    if (step_of[replica] != rows.step()) {
      step_of[replica] = rows.step();
      row_of[replica] = times.sync_s.size();
      times.sync_s.push_back(0);
    }
    times.sync_s[row_of[replica]] += rows.done_s() - rows.start_s();
    times.wait_of_replica[replica] += rows.wait_s();
  }
  return times;
}

const std::vector<double>& quantile_levels() {
  static const std::vector<double> levels = {0,    0.01, 0.05, 0.1, 0.15, 0.2,  0.25, 0.3,
                                             0.35, 0.4,  0.45, 0.5, 0.55, 0.6,  0.65, 0.7,
                                             0.75, 0.8,  0.85, 0.9, 0.95, 0.99, 1};
  return levels;
}

Json sync_distribution(const SyncTimes& times) {
  if (times.sync_s.empty()) return nullptr;
  std::vector<double> sorted = times.sync_s;
  std::sort(sorted.begin(), sorted.end());
  Json quantiles = Json::array();
  for (const double level : quantile_levels())
    quantiles.push_back(six_digits(percentile(sorted, 100 * level)));
  if (quantiles.front() == quantiles.back()) return Json::array({quantiles.front()});
  return quantiles;
}

Json times_of_replicas(const std::string& case_folder, const SyncTimes& times, std::size_t most) {
  const std::string file = case_folder + "/replicas.csv";
  if (!std::filesystem::exists(file)) return nullptr;
  const bool has_stages = std::filesystem::exists(case_folder + "/pipeline.csv");
  const std::vector<Totals> totals = read_totals(file, has_stages);
  if (totals.empty()) return nullptr;
  Json json = {{"replicas", totals.size()},
               {"shown", Json::array()},
               {"compute", Json::array()},
               {"exchange", Json::array()},
               {"wait", Json::array()}};
  for (const std::size_t r : shown_replicas(totals, most)) {
    const double wait_s = r < times.wait_of_replica.size() ? times.wait_of_replica[r] : 0;
    json["shown"].push_back(r);
    json["compute"].push_back(six_digits(totals[r].compute_s));
    json["wait"].push_back(six_digits(wait_s));
    const double stages_s = totals[r].bubble_s + totals[r].stage_wait_s;
    json["exchange"].push_back(six_digits(std::max(0., totals[r].idle_s - wait_s - stages_s)));
    if (!has_stages) continue;
    json["bubble"].push_back(six_digits(totals[r].bubble_s));
    json["stage_wait"].push_back(six_digits(totals[r].stage_wait_s));
  }
  return json;
}

}  // namespace longhaul
