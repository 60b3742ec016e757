// Tests of a difference between two samples, and the correction for making many of them.
//
// Textbook definitions: Student's paired t test; Welch's (1947) with the degrees of freedom of Satterthwaite;
// Fisher's exact test of two proportions, two-sided as R's fisher.test (the sum over all tables at most as
// likely); Holm (1979), "A simple sequentially rejective multiple test procedure". The distributions are
// Boost.Math's. All tests are two-sided.
#pragma once

#include <cstddef>
#include <vector>

#include "analysis/statistics.h"

namespace longhaul {

// A difference of means with what is needed for an interval at any confidence.
struct Difference {
  double mean = 0;
  double error = 0;    // standard error of `mean`
  double freedom = 0;  // degrees of freedom of Student's t
  double p = 1;        // of no difference

  Interval interval(double confidence) const;
};

// Of a[i] − b[i]; two pairs at least. Where all differences are the same to nine digits of the values there
// is no chance in them: p is 0, or 1 where they are 0.
Difference paired_difference(const std::vector<double>& a, const std::vector<double>& b);

// Of mean(a) − mean(b); two values at least in each.
Difference welch_difference(const std::vector<double>& a, const std::vector<double>& b);

// p of `successes_a` of `a` and `successes_b` of `b` having one probability.
double fisher_exact(unsigned successes_a, unsigned a, unsigned successes_b, unsigned b);

struct Corrected {
  double p = 1;      // adjusted for the whole family; at most `level` means rejected
  double level = 0;  // at which Holm tested this one; an interval at 1 − level agrees with the outcome
};

// One a test, in the order given, for a family-wise error of at most `level`. What comes after the first that
// is not rejected is given that one's level.
std::vector<Corrected> holm(const std::vector<double>& p, double level);

// The smallest mean of `pairs` paired differences, in standard deviations of a difference, that a t test at
// `level` finds with probability `power`. Infinity below two pairs.
double detectable_effect(std::size_t pairs, double level, double power);

}  // namespace longhaul
