// breakdown.csv of a replay run in a test.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/unit/replay/replayed.h"

namespace longhaul {

struct BreakdownRow {
  int step = 0, replica = 0;
  std::string exchange;
  std::map<std::string, double> parts;  // seconds, by name

  double of(const std::string& part) const { return parts.at(part); }
  double total_s() const {
    double total = 0;
    for (const auto& [name, seconds] : parts) total += seconds;
    return total;
  }
};

inline std::vector<BreakdownRow> breakdown_of(const Replayed& replayed) {
  const std::vector<std::string> header = cells_of(replayed, "breakdown.csv").at(0);
  std::vector<BreakdownRow> rows;
  for (const auto& cells : rows_of(replayed, "breakdown.csv")) {
    BreakdownRow row{std::stoi(cells.at(0)), std::stoi(cells.at(1)), cells.at(2), {}};
    for (std::size_t i = 3; i < header.size(); ++i)
      row.parts[header[i].substr(0, header[i].size() - 2)] = std::stod(cells.at(i));
    rows.push_back(std::move(row));
  }
  return rows;
}

// The breakdown of the replica that is done last at a step.
inline BreakdownRow last_one(const Replayed& replayed, int step = 1) {
  const std::vector<BreakdownRow> rows = breakdown_of(replayed);
  std::size_t last = rows.size();
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (rows[i].step == step &&
        (last == rows.size() || replayed.exchanges.at(i).done_s > replayed.exchanges[last].done_s))
      last = i;
  return rows.at(last);
}

}  // namespace longhaul
