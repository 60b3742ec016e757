// A candidate with what it costs: time, money, and the bytes that leave a site.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/scenario/case.h"
#include "planner/candidates.h"
#include "planner/extrapolation.h"
#include "planner/memory_need.h"
#include "planner/plan_request.h"
#include "planner/site_traffic.h"
#include "replay/output/replayed_times.h"

namespace longhaul {

struct Evaluation {
  Candidate candidate;
  Case config;
  std::string left_out;      // why it is no choice; "": it is one
  bool is_replayed = false;  // with flow (or the fidelity of the plan); else analytic alone
  double step_s = 0;         // compute of the slowest node
  std::vector<std::int64_t> node_tokens = {};  // of a step, by rank; empty: the plan's, of all
  TrainingTime time;
  double residual = 0;   // of the network model, a fraction of what the network adds
  double fit_half_width_s = 0;  // by which it may be off because of a fit (fit_range.h); of the choice alone
  double compute_s = 0;  // S steps without the network
  double bubble_s = 0;   // by which a pipeline's schedule takes longer, without the network too
  double utilization = 0;
  double busiest_s = 0;   // that a link, or the connections of two nodes, need for their bytes
  double expected_s = 0;  // while it is not replayed: total_s is a lower bound, and this is likelier
  double price_per_hour = 0;  // of the nodes that it needs: all, or one that takes the whole batch
  double compute_cost = 0, egress_cost = 0;
  SiteTraffic traffic;
  MemoryNeed memory;
  std::shared_ptr<const ReplayedTimes> replayed;  // null: not yet
  bool is_estimated = false;                      // coarse_estimate.h
  bool is_own_replay = false;                     // `replayed`: no other H's (shared_replays.h)
  std::size_t exchanges = 0;                      // equal: the same to a replay
  std::string exchanges_of_any_h = {};            // equal: the same but for H; "": replayed for itself alone

  double total_s() const { return time.total_s; }
  double cost() const { return compute_cost + egress_cost; }
  double bytes() const { return traffic.together(); }
  // What the network adds may be so much shorter or longer, and what is drawn (TrainingTime::half_width_s).
  // Never less than the compute.
  double low_s() const;
  double high_s() const;
};

// H as it is compared: a method without it synchronizes every step.
int inner_steps_of(const Evaluation& evaluation);

// Share of computing and money, of its time.
void price(const PlanRequest& plan, Evaluation& evaluation);  // by price_per_hour

// Throws std::logic_error where a time cannot be: below its compute, or outside of its own range. Nothing is
// printed of such a plan.
void expect_possible(const Evaluation& evaluation);

}  // namespace longhaul
