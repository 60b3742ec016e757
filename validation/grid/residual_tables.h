// Residuals as the Markdown tables and the figure of results/reference/residuals.
#pragma once

#include <string>
#include <vector>

#include "validation/grid/residual_entries.h"

namespace longhaul {

// Of |model / packets − 1|, and of model / packets − 1 with its sign; fractions.
struct Spread {
  std::size_t count = 0;
  double median = 0, p95 = 0, largest = 0, mean_signed = 0;
};

Spread spread_of(std::vector<double> signed_residuals);

// A row for every set and half, with all models.
std::string settings_table(const std::vector<Entry>& entries);

// Flow over one set, cut along each axis in turn.
std::string axes_table(const std::vector<Entry>& entries);

// The `count` entries where flow is furthest off.
std::string worst_table(std::vector<Entry> entries, std::size_t count);

// A block a set for residuals.py: the share of the entries up to here, then the signed residuals of flow,
// naive and SimGrid, each sorted, in per cent.
void write_figure_data(const std::vector<Entry>& entries, const std::string& file);

}  // namespace longhaul
