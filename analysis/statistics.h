// Statistics of plain lists of numbers, tests of a difference between two samples, and the correction for
// making many of them. Everything is in the unit of its input.
#pragma once

#include <cstddef>
#include <vector>

namespace longhaul {

double sum(const std::vector<double>& values);

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

// The tests have the textbooks' definitions: Student's paired t test; Welch's (1947) with the degrees of
// freedom of Satterthwaite; Fisher's exact test of two proportions, two-sided as R's fisher.test (the sum
// over all tables at most as likely); Holm (1979), "A simple sequentially rejective multiple test procedure".
// The distributions are Boost.Math's. All tests are two-sided.

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

// The fewest pairs with which a t test at `level` finds a mean difference of `effect` standard deviations of
// a difference with probability `power`; `most` + 1 where `most` pairs do not, or `effect` is not above 0.
std::size_t pairs_needed(double effect, double level, double power, std::size_t most);

}  // namespace longhaul
