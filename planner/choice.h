// Which of several plans to take, and which are on the front.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "planner/evaluation.h"
#include "planner/plan_request.h"

namespace longhaul {

// What differs by less does not matter to a planner.
constexpr double kSameToAPlanner = 0.005;

// At most (1 + tolerance) times as much in time, money and bytes, and no larger H.
bool is_no_worse(const Evaluation& a, const Evaluation& b, double tolerance);

// Whether `a` is at most `b` in H, time, money and bytes, and less in one of them.
bool dominates(const Evaluation& a, const Evaluation& b);

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
  double excess(double total_s, double cost) const;
  bool keeps(const Evaluation& evaluation) const { return evaluation.utilization >= min_utilization; }
  // "79.7 %": of a plan that misses min_utilization, with the decimals that tell it from that.
  std::string share_in_words(double utilization) const;
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
