// Which of several plans to take: what they cost, and what a planner prefers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/scenario/case.h"
#include "planner/candidates.h"
#include "planner/extrapolation.h"
#include "planner/memory_need.h"
#include "planner/site_traffic.h"

namespace longhaul {

// A candidate with what it costs.
struct Evaluation {
  Candidate candidate;
  Case config;
  std::string left_out;      // why it is no choice; "": it is one
  bool is_replayed = false;  // with flow (or the fidelity of the plan); else analytic alone
  TrainingTime time;
  double residual = 0;   // of the network model, a fraction of what the network adds
  double compute_s = 0;  // S steps without the network
  double bubble_s = 0;   // by which a pipeline's schedule takes longer, without the network too
  double utilization = 0;
  double busiest_s = 0;   // that a link, or the connections of two nodes, need for their bytes
  double expected_s = 0;  // while it is not replayed: total_s is a lower bound, and this is likelier
  double compute_cost = 0, egress_cost = 0;
  SiteTraffic traffic;
  MemoryNeed memory;
  std::string folder;         // of its replay
  std::size_t exchanges = 0;  // equal: the same to a replay

  double total_s() const { return time.total_s; }
  double cost() const { return compute_cost + egress_cost; }
  double bytes() const { return traffic.together(); }
  // What the network adds may be so much shorter or longer, and two standard errors of the draws.
  double low_s() const;
  double high_s() const;
};

// H as it is compared: a method without it synchronizes every step.
int inner_steps_of(const Evaluation& evaluation);

// At most (1 + tolerance) times as much in time, money and bytes, and no larger H.
bool is_no_worse(const Evaluation& a, const Evaluation& b, double tolerance);

// Whether `a` is at most `b` in H, time, money and bytes, and less in one of them.
bool dominates(const Evaluation& a, const Evaluation& b);

// What differs by less does not matter to a planner.
constexpr double kSameToAPlanner = 0.005;

// What to take of several plans. First those within deadline and budget; without any, those that miss them by
// the least. Of these those that compute `min_utilization` of their time. To `time`: of the plans that take
// at most 1 / min_utilization of `least_compute_s` the smallest H, and the fastest of these; without any, or
// with a min_utilization of 0, the fastest. To `money` and `bytes`: the least, whatever H. Ties go to the
// other two, then to the smaller H. Times within half a per cent of the least compute are a tie to `time`.
struct ChoiceRule {
  Preference prefer = Preference::kTime;
  double min_utilization = 0;
  double least_compute_s = 0;  // of all candidates: tokens may differ by method
  std::optional<double> deadline_s = {}, budget = {};

  bool has_limits() const { return deadline_s || budget; }
  // How far the one of deadline and budget is exceeded that is exceeded by more, as a fraction of it.
  double excess(const Evaluation& evaluation) const;
  bool keeps(const Evaluation& evaluation) const { return evaluation.utilization >= min_utilization; }
  // Whether `one` is a choice while `best` is the best plan that is known.
  bool is_eligible(const Evaluation& evaluation, const Evaluation& best) const {
    return (excess(evaluation) == 0 || excess(best) > 0) && (keeps(evaluation) || !keeps(best));
  }
  bool is_better(const Evaluation& a, const Evaluation& b) const;
};

// The numbers of those that are not left out and that none dominates, the better first; of several that are
// the same to a planner in all three the best one alone.
std::vector<std::size_t> pareto_front(const std::vector<Evaluation>& all, const ChoiceRule& rule);

}  // namespace longhaul
