// Ravnest (arXiv 2401.01728): AdamW on late gradients, and the mean of all weights every H steps.
//
// With θ_s the columns of stage s and d_s its delay, step t is
//
//   g_t = ∇f(θ_t; batch t);   θ_s,t+1 = AdamW(θ_s,t, g_s,t−d_s)     for t > d_s, else θ_s,t+1 = θ_s,t
//
// Counted in updates of stage s, θ_s,t is version t − d_s: each stage computes batch t, forward and backward,
// with weights that lack the updates of the last d_s batches, as with PipeDream's weight stashing
// (arXiv 1806.03377, section 3.3). Rows of gradients say all of it; no old weights are kept.
//
// A stage clips by the norm of its own columns, since that of all is not known when it steps. Its bias
// corrections count its own updates; the learning rate is that of step t. Gradients under way pass an average
// as they are, and those under way after the last step are lost.
#include <algorithm>
#include <cmath>
#include <string>

#include "core/base/index.h"
#include "trainer/operations/update.h"

namespace longhaul {
namespace {

// Those of the ranges that are in the columns, cut to them.
std::vector<DecayRange> ranges_in(const std::vector<DecayRange>& ranges, const Columns& columns) {
  std::vector<DecayRange> found;
  for (const ColumnRange& column : columns)
    for (const DecayRange& range : ranges) {
      const std::int64_t begin = std::max(range.begin, column.begin), end = std::min(range.end, column.end);
      if (begin < end) found.push_back({begin, end, range.decays});
    }
  return found;
}

double norm_in(const float* row, const Columns& columns) {
  double squares = 0;
  for (const ColumnRange& range : columns) {
    const double norm = row_norm(row + range.begin, range.size());
    squares += norm * norm;
  }
  return std::sqrt(squares);
}

class Ravnest : public RowAverage {
 public:
  explicit Ravnest(int most_delay) : RowAverage("weights", Slot::kWeights) {
    for (int i = 0; i < most_delay; ++i) names_.push_back("late_gradient_" + std::to_string(i));
  }

  void follow(const OperationPlan& plan, const PlanContext&) override { delays_ = plan.delays; }
  bool has_own_optimizer() const override { return !names_.empty(); }

  bool optimize(const InnerStep& inner, int replica, Arena& arena) const override {
    float* gradient = arena.row(Slot::kGradient, replica);
    for (const GradientDelay& delay : delays_) {
      const int computed = inner.step - delay.steps;
      if (computed < 1) continue;
      const float* late = delay.steps == 0 ? gradient : row_of(computed, replica, arena);
      const double scale = clip_factor(norm_in(late, delay.columns), inner.optimizer.clip);
      adamw_step(inner.optimizer, inner.lr, computed, scale, ranges_in(inner.decay, delay.columns),
                 {arena.row(Slot::kWeights, replica), late, arena.row(Slot::kFirstMoment, replica),
                  arena.row(Slot::kSecondMoment, replica)});
    }
    std::copy_n(gradient, arena.parameters(), row_of(inner.step, replica, arena));
    return true;
  }

 private:
  float* row_of(int step, int replica, Arena& arena) const {
    const std::string& name = names_[as_index(step) % names_.size()];
    return arena.row({name.c_str()}, replica);
  }

  std::vector<std::string> names_;
  std::vector<GradientDelay> delays_;
};

}  // namespace

std::unique_ptr<Update> make_ravnest_update(const Json& options) {
  const Json& delay = options.at("delay");
  return std::make_unique<Ravnest>(delay.is_number() ? delay.get<int>()
                                                     : options.at("stages").get<int>() - 1);
}

}  // namespace longhaul
