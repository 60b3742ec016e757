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

struct Interval {
  double low = 0, high = 0;
};

// Student's t interval of the mean at `confidence` (0.95); [x, x] for a single value, which says nothing of
// its spread. Of a list that is not empty.
Interval t_interval(const std::vector<double>& values, double confidence);

// The bootstrap interval of a mean: BCa, bias-corrected and accelerated (Efron, "Better bootstrap confidence
// intervals", JASA 1987), which moves the percentiles for a skewed sample where the plain percentile interval
// does not.
constexpr int kResamples = 9999;

// From kResamples resamples drawn from a fixed seed: the same list gives the same interval. [x, x] where all
// values are the same. Of a list that is not empty.
Interval bootstrap_interval(const std::vector<double>& values, double confidence);

}  // namespace longhaul
