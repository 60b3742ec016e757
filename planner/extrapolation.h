// The time of a whole training from a replay of its first outer steps, and its bytes from the plan of
// operations alone: what nodes send each other and what leaves each site.
//
// A plan of operations repeats: with P the period of its rules (H for most methods, 1 for ddp), a replay of K
// steps with S − K a multiple of P ends as the whole training of S steps ends. So where the last two periods
// take equally long, the whole takes the time of the K steps plus (S − K) / P of such periods: exactly what a
// replay of all steps says, as long as nothing is drawn and nothing changes with time. Where periods differ
// (random pairs) their mean stands for the rest, with its standard error.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/plan/operations.h"
#include "core/plan/trace.h"
#include "core/scenario/case.h"
#include "net/topology.h"

namespace longhaul {

// Steps after which the plan of operations repeats: the least common multiple of its rules, with those that
// go across sites now and then.
int period_of(const OperationPlan& plan);

// Steps after which all rules that have a beginning or an end (a warm-up) are as they stay.
int settling_steps(const OperationPlan& plan);

// K: how many of `steps` to replay. Enough periods for windows to settle, or for a mean over draws.
int steps_to_replay(const OperationPlan& plan, int steps);

// The same for fidelity analytic, which has no windows to settle.
int steps_to_screen(const OperationPlan& plan, int steps);

struct TrainingTime {
  double total_s = 0;
  double replayed_s = 0;        // of the steps that were replayed
  double standard_error_s = 0;  // of draws; 0: the periods are equal, or nothing was left out
  int replayed_steps = 0, outer_steps = 0;
  bool is_exact = false;  // the last two periods are equal, or all steps were replayed
};

// `clock_s`: of the last replica after P, 2P, …, `end_s` after the last replayed step. The first `unlike`
// periods, at least one, in which connections begin, stand for no other one.
TrainingTime training_time(const std::vector<double>& clock_s, double end_s, int period, int unlike,
                           int replayed, int steps);

// The same from CASE_FOLDER/steps.csv, of a replay of steps_to_replay().
TrainingTime training_time(const std::string& case_folder, const OperationPlan& plan, int replayed,
                           int steps);

// Bytes of payload from one node to another.
using NodeTraffic = std::map<std::pair<int, int>, double>;

// Of the whole training. `trace` is of the first steps of the case (steps_to_replay()), `steps` all of them.
// Each period of the rest sends what those of the trace do on average, after a warm-up of the method. Its
// messages are between replicas alone (no merges).
NodeTraffic node_traffic(const Case& config, const Trace& trace, const Topology& topology,
                         std::int64_t steps);

// A site is called by the router that its nodes' links lead to; where the network has none each node is one:
// "node 3".
std::vector<std::string> site_names(const Topology& topology);

struct SiteTraffic {
  std::vector<std::string> sites;  // site_names()
  std::vector<double> leaving;     // bytes of IP packets to nodes of other sites
  double together() const;
};

SiteTraffic site_traffic(const NodeTraffic& traffic, const Topology& topology, int segment);

// The longest time that a direction of a link, or the connections of two nodes, need for their bytes, in
// seconds: in fidelity flow the training takes at least as long.
double busiest_s(const NodeTraffic& traffic, const Topology& topology, const TcpSpec& tcp);

}  // namespace longhaul
