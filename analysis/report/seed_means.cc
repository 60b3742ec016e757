#include <algorithm>

#include "analysis/record_values.h"
#include "analysis/report/parts.h"
#include "analysis/seed_rows.h"
#include "analysis/statistics.h"
#include "analysis/table.h"

namespace longhaul {

Json seed_means(const std::vector<Json>& records, const std::vector<std::size_t>& indices) {
  const std::vector<SeedRow> rows = seed_rows(records);
  Json json = Json::array();
  std::vector<Json> means;
  for (const SeedRow& row : rows) {
    Json cases = Json::array();
    for (const std::size_t i : row.indices) cases.push_back(indices[i]);
    means.push_back(means_record(row));
    json.push_back({{"cases", cases}, {"seeds", row.done.size()}});
  }
  const bool several =
      std::any_of(rows.begin(), rows.end(), [](const SeedRow& row) { return row.done.size() > 1; });
  if (!several) return json;
  for (const Metric& metric : columns()) {
    const std::vector<bool> best = best_values(means, metric);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::vector<double> values = values_at(rows[i].done, metric.path);
      const bool all = !values.empty() && values.size() == rows[i].done.size();
      json[i]["texts"].push_back(mean_cell(rows[i], metric));
      json[i]["values"].push_back(all ? Json(six_digits(mean(values))) : Json(nullptr));
      json[i]["best"].push_back(best[i] ? 1 : 0);
    }
  }
  return json;
}

}  // namespace longhaul
