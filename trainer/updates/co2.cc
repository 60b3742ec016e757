// CO2 (arXiv 2401.16265): SlowMo's outer step (arXiv 1910.00643) with the mean of the round before, divided
// by the staleness gap Λ, and a momentum that is clipped column by column,
//
//   Λ(t) = 1 + λ ‖φ(t) − φ(t − 1)‖ / ‖Δ̄(t − 1)‖
//   m ← clip(μ m + Δ̄(t − 1)/Λ(t), ±c);   φ ← φ + η m;   θ_i ← φ,      Δ̄(0) = 0
//
// φ(t − 1) is where the replicas began the round that Δ̄(t − 1) is of, φ(t) where they began the one that ends
// now. The last outer step moved φ by η m, so the gap needs no row of its own. Without a delay Λ is 1.
#include <algorithm>

#include "trainer/operations/update.h"

namespace longhaul {
namespace {

class Co2Update : public OuterUpdate {
 public:
  explicit Co2Update(const Json& options)
      : lr_(options.at("outer_lr")),
        momentum_(options.at("outer_momentum")),
        penalty_(options.at("gap_penalty")),
        clip_(options.at("outer_clip")) {}

  void follow(const OperationPlan& plan, const PlanContext&) override {
    for (const OperationRule& rule : plan.rules) last_stage_ = std::max(last_stage_, rule.stage);
  }

  // What θ was has been sent, so that its row can hold Δ̄ until all of it has arrived.
  void apply(const Operation&, int replica, const Arrived& arrived, Arena& arena) const override {
    std::copy_n(arrived.mean("delta"), arrived.size(), arena.row(Slot::kWeights, replica) + arrived.begin);
  }

  // Both norms of Λ are of the whole model: of a model in stages the last one that arrives takes the step of
  // all.
  void finish(const Operation& operation, int replica, Arena& arena) const override {
    if (operation.rule->stage != last_stage_) return;
    const auto [theta, phi, momentum] = OuterRows(arena, replica, 0);
    const float share = operation.rule->is_blocking() ? 1 : share_of(theta, momentum, arena.parameters());
    for (std::int64_t i = 0; i < arena.parameters(); ++i) {
      momentum[i] = clipped(momentum_ * momentum[i] + share * theta[i]);
      phi[i] += lr_ * momentum[i];
      theta[i] = phi[i];
    }
  }

 private:
  // 1/Λ
  float share_of(const float* delta, const float* momentum, std::int64_t columns) const {
    const double gap = double{penalty_} * lr_ * row_norm(momentum, columns);
    if (gap == 0) return 1;
    const double moved = row_norm(delta, columns);
    return static_cast<float>(moved / (moved + gap));
  }

  float clipped(float value) const {
    if (clip_ == 0) return value;
    return value > clip_ ? clip_ : value < -clip_ ? -clip_ : value;
  }

  float lr_, momentum_, penalty_, clip_;
  int last_stage_ = -1;
};

}  // namespace

std::unique_ptr<Update> make_co2_update(const Json& options) {
  return std::make_unique<Co2Update>(options);
}

}  // namespace longhaul
