// The replays that a search has of its candidates: of all in fidelity analytic, of some in that of the plan,
// or for an estimate. What they give goes into the evaluations.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "planner/evaluation.h"
#include "planner/extrapolation.h"
#include "planner/plan_request.h"
#include "planner/replay_task.h"
#include "planner/shared_replays.h"

namespace longhaul {

class CandidateReplays {
 public:
  using Numbers = std::vector<std::size_t>;

  // All must outlive it; candidates may be added to `all` and left out until the first replay.
  CandidateReplays(const PlanRequest& plan, std::string fidelity, const PlanTools& tools,
                   std::vector<Evaluation>& all)
      : plan_(plan), fidelity_(std::move(fidelity)), tools_(tools), all_(all) {}

  // Two periods of each in fidelity analytic: a lower bound, and what is likely.
  void screen();
  // In full: each number's exchanges once. What that gives is of all candidates with these exchanges, and of
  // those that differ in H alone where one replay serves them.
  void replay(const Numbers& numbers, const std::string& phase);
  // Not served by another's.
  void replay_itself(std::size_t number);

  // Whether a cheaper estimate of it can be had (coarse_estimate.h) and none has been.
  bool may_be_estimated(std::size_t number) const;
  // A better lower bound, and what is likely, of these and of others that differ in H alone.
  void estimate(const Numbers& numbers, const std::string& phase);

  // Processor seconds of the replays that these would need, each number's exchanges once.
  double estimated_cost_s(const Numbers& numbers) const;

  int count() const { return count_; }  // of replays in full

 private:
  struct Chosen {
    std::vector<WantedReplay> wanted;
    std::vector<std::size_t> exchanges;  // of each
  };

  // Replays more periods of those with these exchanges whose last ones differ, where that costs little.
  void settle(const std::vector<std::size_t>& exchanges, const std::string& phase);
  std::optional<WantedReplay> more_periods(const Evaluation& evaluation, int times) const;
  WantedReplay wanted_of(const Evaluation& evaluation, bool is_needed) const;
  Chosen with_other_h(const Numbers& numbers) const;
  void take(const WantedReplay& wanted, const SharedReplay& found, Evaluation& evaluation);
  void take_screened(const WantedReplay& wanted, const SharedReplay& first, const SharedReplay& second,
                     Evaluation& evaluation);
  void bound(const OperationPlan& plan, const Periods& periods, Evaluation& evaluation) const;
  std::string screening_key(const Evaluation& evaluation) const;

  const PlanRequest& plan_;
  const std::string fidelity_;
  const PlanTools& tools_;
  std::vector<Evaluation>& all_;
  int count_ = 0;
};

}  // namespace longhaul
