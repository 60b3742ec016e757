#include "analysis/report/sync_times.h"

#include <filesystem>

#include "analysis/exchange_table.h"
#include "analysis/record_values.h"
#include "analysis/statistics.h"
#include "core/base/csv.h"
#include "core/base/index.h"
#include "core/base/ranges.h"

namespace longhaul {
namespace {

// Which replicas to show: evenly spaced in the order of their idle time, both ends among them.
std::vector<std::size_t> shown_replicas(const std::vector<double>& idle_s, std::size_t most) {
  std::vector<std::size_t> order(idle_s.size());
  for (std::size_t r = 0; r < order.size(); ++r) order[r] = r;
  if (order.size() <= most) return order;
  stable_sort(order, [&](std::size_t a, std::size_t b) { return idle_s[a] < idle_s[b]; });
  std::vector<std::size_t> shown;
  for (std::size_t i = 0; i < most; ++i) shown.push_back(order[i * (order.size() - 1) / (most - 1)]);
  std::sort(shown.begin(), shown.end());
  return shown;
}

}  // namespace

SyncTimes sync_times(const std::string& case_folder) {
  SyncTimes times;
  if (!std::filesystem::exists(case_folder + "/exchanges.csv")) return times;
  for (const Synchronization& sync : synchronizations(case_folder)) {
    const auto replica = as_index(sync.replica);
    if (replica >= times.wait_of_replica.size()) times.wait_of_replica.resize(replica + 1);
    if (sync.exchanges) times.sync_s.push_back(sync.sync_s);
    times.wait_of_replica[replica] += sync.wait_s;
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
  std::vector<std::string> columns = {"compute_s", "idle_s"};
  const bool waits_inside = std::filesystem::exists(case_folder + "/collectives.csv");
  if (has_stages) columns.insert(columns.end(), {"bubble_s", "stage_wait_s"});
  if (waits_inside) columns.push_back("inside_wait_s");
  const bool waits_for_samples = std::filesystem::exists(case_folder + "/staleness.csv");
  if (waits_for_samples) columns.push_back("batch_wait_s");
  auto totals = read_numbers(file, columns);
  const std::vector<double>& idle_s = totals["idle_s"];
  if (idle_s.empty()) return nullptr;
  Json json = {{"replicas", idle_s.size()},
               {"shown", Json::array()},
               {"compute", Json::array()},
               {"exchange", Json::array()},
               {"wait", Json::array()}};
  for (const std::size_t r : shown_replicas(idle_s, most)) {
    double exchange_s = idle_s[r];
    const auto add = [&](const char* key, double part_s) {
      json[key].push_back(six_digits(part_s));
      exchange_s -= part_s;
    };
    json["shown"].push_back(r);
    json["compute"].push_back(six_digits(totals["compute_s"][r]));
    add("wait", r < times.wait_of_replica.size() ? times.wait_of_replica[r] : 0);
    if (has_stages) add("bubble", totals["bubble_s"][r]);
    if (has_stages) add("stage_wait", totals["stage_wait_s"][r]);
    if (waits_inside) add("inside_wait", totals["inside_wait_s"][r]);
    if (waits_for_samples) add("batch_wait", totals["batch_wait_s"][r]);
    json["exchange"].push_back(six_digits(std::max(0., exchange_s)));
  }
  return json;
}

}  // namespace longhaul
