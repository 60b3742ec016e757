// How wrong a simulated time may be: the measured residual of a fidelity against packets.
#pragma once

#include <string>
#include <vector>

#include "analysis/statistics.h"
#include "core/base/options.h"
#include "core/scenario/case.h"

namespace longhaul {

// The largest random loss that `flow` was held against packets for (results/reference/residuals).
constexpr double kMostMeasuredLoss = 1e-4;

// What decides about the residual besides the fidelity: "host", "fq_codel", "fq_codel+ecn", "fifo"; with
// "+loss" behind it where packets are lost at random over one connection, "+high-loss" beyond
// kMostMeasuredLoss, "+loss+connections" over several, "+trunk-fifo" where routers have FIFOs.
std::string queue_setting(const TcpSpec& tcp);

// Of a case record. The 95th percentile of |fidelity / packets − 1| of the sync time over the judge half of
// the validation grid of results/reference/residuals, for `flow` by queue setting (the key `queue`; without
// it "host"), rounded up to whole per cents, 1 for a setting that was not measured; 0 for packets themselves,
// and where messages draw their times (network.message_time) or `analytic` is asked for: those are
// assumptions, and what follows from an assumption is exact. A fraction.
double network_residual(const Json& record);

// What simulated times in `measured` may be, each right to a factor of 1 ± residual; of ratios of two of
// them, right to (1 ± residual) / (1 ∓ residual), which for a residual of 1 may be anything.
Interval widened(const Interval& measured, double residual, bool is_ratio);

// One number over seeds: what claims judge, and what the sentences of a comparison say of a ratio.
struct OverSeeds {
  double mean = 0;
  Interval interval;  // of the mean over seeds, 95 %, Student's t; of one seed a point
  Interval possible;  // that interval, widened() by the network model's error
};

// Of a list that is not empty.
OverSeeds over_seeds_of(const std::vector<double>& values, double residual, bool is_ratio);

// "the network model's 7 % make that 7.95 to 10.5", from the ends of widened() in words.
std::string residual_in_words(double residual, const std::string& low, const std::string& high);

}  // namespace longhaul
