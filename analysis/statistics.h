// Statistics of plain lists of numbers. Everything is in the unit of its input.
#pragma once

#include <vector>

namespace longhaul {

// NaN for an empty list.
double mean(const std::vector<double>& values);

// The p-th percentile (0 … 100) by linear interpolation between the order statistics at rank p/100 · (n − 1),
// the default of NumPy and R (type 7), so that a user's own script gives the same digits. NaN for an empty
// list.
double percentile(std::vector<double> values, double p);

// What a record says of one quantity.
struct Distribution {
  double mean = 0, p50 = 0, p95 = 0, max = 0;
};

// Of a list that is not empty.
Distribution distribution(std::vector<double> values);

}  // namespace longhaul
