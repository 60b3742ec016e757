// The lags that the operations of a rule have shown so far, and the grace time that follows from them
// (AdaptiveGrace). Every group sees those of all groups of the rule at once; real replicas would have to tell
// each other.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "core/plan/operations.h"

namespace longhaul {

// The one in the middle, of an even number the mean of the two. Throws std::logic_error where there is none.
double median(std::vector<double> values);
// The median of |value − median|, without a factor.
double median_absolute_deviation(std::vector<double> values);

class LagHistory {
 public:
  // `window`: operations whose lags are kept, the last ones, at least 1.
  explicit LagHistory(int window) : window_(window) {}

  // An operation begins; lags, in seconds, of those later members that are ready. Returns its number.
  std::int64_t add(std::vector<double> lags_s);
  // That of a member that operation `number` has passed by, once it is known. Ignored where the operation has
  // left the window.
  void add_late(std::int64_t number, double lag_s);

  // Seconds; start_s while no lag is known.
  double grace_s(const AdaptiveGrace& adaptive) const;

 private:
  int window_;
  std::deque<std::vector<double>> operations_;  // the last one is number begun_ − 1
  std::int64_t begun_ = 0;
};

class LagHistories {
 public:
  // Of a rule of the plan, whose grace time is adaptive.
  LagHistory& of(int rule, const Completion& completion) {
    return by_rule_.try_emplace(rule, completion.adaptive->window).first->second;
  }
  // Its grace time now, adaptive or not.
  double grace_s(int rule, const Completion& completion) {
    return completion.adaptive ? of(rule, completion).grace_s(*completion.adaptive) : completion.grace_s;
  }

 private:
  std::map<int, LagHistory> by_rule_;
};

}  // namespace longhaul
