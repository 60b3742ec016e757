// How wrong a simulated time may be: the measured residual of a fidelity.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/statistics.h"
#include "core/base/options.h"
#include "core/scenario/case.h"

namespace longhaul {

// The queue in one word: "host", "fq_codel", "fq_codel+ecn", "fifo"; "+loss" behind it where packets are lost
// at random, "+bbr" with BBR, "+trunk-fifo" where routers have FIFOs.
std::string queue_setting(const TcpSpec& tcp);
// The same; faults that lose packets count as "+loss".
std::string queue_setting(const NetworkSpec& network);

// How far the simulated times of a case were measured.
struct Validity {
  double residual = 0;               // a fraction; 1: not known
  std::vector<std::string> outside;  // its axes beyond what was measured: "2048 replicas (pair: to 1024)"
};

// The 95th percentile of |flow / packets − 1| of the sync time over the measured cases of its class, rounded
// up to whole per cents: by queue, random loss and BBR, which is held against the kernel. 1: not measured. It
// is 0 for packets that are not lost, and where messages draw their times (network.message_time) or
// `analytic` is asked for: those are assumptions, and what follows from an assumption is exact. Packets that
// are lost are repaired as ns-3 does: then it is the largest difference to the kernel. Where links change
// with what that is measured to add (analysis/changing_links.h).
double class_residual(const NetworkSpec& network);
// Of its class; outside of what was measured there (connections, round trips, collectives with their
// replicas, buckets; with BBR the links too; of `linux` connections, round trips and rates alone) it is 1 and
// decides nothing. Throws InputError as
// build_topology().
Validity network_validity(const Case& config);

// The residual of a case record, from its key `residual`. A record of an earlier version has none: that of
// the queue "host" (without a key `queue` too), else 1.
// In a fitted scenario with its `fit_error`: the root of the sum of both squares.
double network_residual(const Json& record);
// What the record says is outside, in words; "this queue or loss" if it does not.
std::string outside_of(const Json& record);
// "3 of 8 cases are outside of what the network model was measured for: …", "" if none is.
std::string outside_in_words(const std::vector<Json>& records);

// One number over seeds: what claims judge, and what the sentences of a comparison say of a ratio.
struct OverSeeds {
  double mean = 0;
  Interval interval;  // of the mean over seeds, 95 %, Student's t; of one seed a point
  Interval possible;  // that interval, widened by the network model's error
};

// Of a list that is not empty.
OverSeeds over_seeds_of(const std::vector<double>& values, double residual, bool is_ratio);
// Where each may be something else, from `low` to `high`.
OverSeeds over_seeds_of(const std::vector<double>& values, const std::vector<Interval>& possible);

// What the record itself says that a number of it may be (key `possible`): of what is left of exchanges
// beside compute, which is not off by a factor. Nothing for others.
std::optional<Interval> possible_value(const Json& record, const std::string& metric);
// `value` · (1 ± residual) where it says nothing.
Interval possible_value(const Json& record, const std::string& metric, double value);

// "the network model's 7 % make that 7.95 to 10.5", from the ends of `possible` in words; of an unknown
// residual what is `outside`.
std::string residual_in_words(double residual, const std::string& low, const std::string& high);
std::string unknown_residual_in_words(const std::string& outside);

}  // namespace longhaul
