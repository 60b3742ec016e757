#include "validation/grid/residual_entries.h"

#include <algorithm>
#include <cmath>

#include "core/base/csv.h"
#include "core/base/units.h"

namespace longhaul {
namespace {

GridTimes mean_flow(const ReferenceCase& reference) {
  GridTimes mean;
  const double weight = 1. / static_cast<double>(reference.seeds.size());
  for (const int seed : reference.seeds) {
    const GridTimes times = run_grid_case(reference.grid_case, "flow", static_cast<std::uint64_t>(seed));
    mean.cold.last_s += weight * times.cold.last_s;
    mean.cold.first_s += weight * times.cold.first_s;
    mean.again.last_s += weight * times.again.last_s;
    mean.again.first_s += weight * times.again.first_s;
  }
  return mean;
}

}  // namespace

std::vector<Entry> entries_of(const std::vector<ReferenceCase>& cases,
                              const std::function<double(const GridCase&)>& simgrid_s) {
  std::vector<Entry> entries;
  for (const ReferenceCase& reference : cases) {
    if (reference.done < reference.wanted || reference.grid_case.queue == "fifo") continue;
    const GridTimes flow = mean_flow(reference);
    const double simgrid = simgrid_s ? simgrid_s(reference.grid_case) : -1,
                 naive = naive_s(reference.grid_case);
    for (const bool is_cold : {true, false}) {
      const ExchangeTime& packet = is_cold ? reference.mean.cold : reference.mean.again;
      const ExchangeTime& fluid = is_cold ? flow.cold : flow.again;
      entries.push_back({reference.grid_case, is_cold, packet.last_s, fluid.last_s, naive, simgrid,
                         packet.first_s, fluid.first_s});
    }
  }
  return entries;
}

Spread spread_of(std::vector<double> values) {
  Spread spread;
  spread.count = values.size();
  if (values.empty()) return spread;
  for (double& value : values) {
    spread.mean_signed += value / static_cast<double>(values.size());
    value = std::abs(value);
  }
  std::sort(values.begin(), values.end());
  const auto at = [&](double share) {
    return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1) + 0.5)];
  };
  spread.median = at(0.5);
  spread.p95 = at(0.95);
  spread.largest = at(1);
  return spread;
}

void write_entries(const std::vector<Entry>& entries, const std::string& file) {
  std::vector<std::string> header = grid_columns();
  for (const char* name :
       {"half", "exchange", "packet_s", "flow_s", "naive_s", "simgrid_s", "packet_first_s", "flow_first_s"})
    header.push_back(name);
  CsvWriter out(file, header);
  for (const Entry& entry : entries) {
    for (const std::string& cell : cells_of(entry.grid_case)) out.cell(cell);
    out.cell(std::string(entry.grid_case.is_judge() ? "judge" : "train"));
    out.cell(std::string(entry.is_cold ? "cold" : "again"));
    for (const double time : {entry.packet_s, entry.flow_s, entry.naive_s, entry.simgrid_s,
                              entry.packet_first_s, entry.flow_first_s})
      out.cell(time);
    out.end_row();
  }
  out.flush();
}

}  // namespace longhaul
