// What the models say of the cases of a reference file.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "validation/grid/grid_reference.h"

namespace longhaul {

// One exchange of one case. A case has two.
struct Entry {
  GridCase grid_case;
  bool is_cold = true;
  double packet_s = 0, flow_s = 0, naive_s = 0;
  double simgrid_s = -1;                        // -1: not built, or failed
  double packet_first_s = 0, flow_first_s = 0;  // of several pairs, the first that is done

  double flow() const { return flow_s / packet_s - 1; }
};

// Runs `flow` with each case's seeds and takes the mean, as was done with packets. Cases in which a seed is
// missing, and FIFOs, which `flow` has not, are left out. `simgrid_s` may be empty.
std::vector<Entry> entries_of(const std::vector<ReferenceCase>& cases,
                              const std::function<double(const GridCase&)>& simgrid_s = {});

// Of |model / packets − 1|, and of model / packets − 1 with its sign; fractions.
struct Spread {
  std::size_t count = 0;
  double median = 0, p95 = 0, largest = 0, mean_signed = 0;
};

Spread spread_of(std::vector<double> signed_residuals);

// Every entry with all its parameters and times, as CSV, for results/reference/residuals/residuals.py.
void write_entries(const std::vector<Entry>& entries, const std::string& file);

}  // namespace longhaul
