// What the methods with an outer step share: slow weights φ, a momentum, and a step on a column of one
// replica that the host's loop and the GPU's kernel both call.
#pragma once

#include "trainer/device/host_device.h"
#include "trainer/operations/update.h"

namespace longhaul {

// φ = θ for all that are held here.
void start_slow_weights(Replicas& replicas);

// Step: the outer step on one column of a member, from
//   mean_delta   Δ̄, over the group, of Δ_j = θ_j − φ_j
//   mean_phi     φ̄, likewise, and
//   sent_phi     its own φ, as the others see it; both 0 where kReadsPhi is false
//
//   static constexpr bool kReadsPhi;
//   void operator()(float& theta, float& phi, float& momentum, float mean_delta, float mean_phi,
//                   float sent_phi) const;
template <typename Step>
class ColumnwiseOuterUpdate : public Update {
 public:
  explicit ColumnwiseOuterUpdate(const Step& step) : step_(step) {}

  std::vector<Slot> rows() const override { return {Slot::kSlowWeights, Slot::kOuterMomentum}; }
  void start(Replicas& replicas) override { start_slow_weights(replicas); }  // no momentum

  std::vector<std::string> reads(const Operation& operation) const override {
    if (!operation.rule->is_blocking()) return {};  // sent ahead for a step to come
    return Step::kReadsPhi ? std::vector<std::string>{"delta", "phi"} : std::vector<std::string>{"delta"};
  }

  void apply(const Operation&, int replica, const Arrived& arrived, Arena& arena) const override {
    take(step_, arrived.size(), arrived.mean("delta"), Step::kReadsPhi ? arrived.mean("phi") : nullptr,
         Step::kReadsPhi ? arrived.own("phi") : nullptr, arena.row(Slot::kWeights, replica) + arrived.begin,
         arena.row(Slot::kSlowWeights, replica) + arrived.begin,
         arena.row(Slot::kOuterMomentum, replica) + arrived.begin);
  }

 protected:
  const Step step_;

 private:
  // A function of its own, since only of parameters compilers believe that they do not overlap.
  static void take(const Step step, std::int64_t count, const float* __restrict mean_delta,
                   const float* __restrict mean_phi, const float* __restrict sent_phi,
                   float* __restrict theta, float* __restrict phi, float* __restrict momentum) {
    for (std::int64_t i = 0; i < count; ++i)
      if constexpr (Step::kReadsPhi)
        step(theta[i], phi[i], momentum[i], mean_delta[i], mean_phi[i], sent_phi[i]);
      else
        step(theta[i], phi[i], momentum[i], mean_delta[i], 0, 0);
  }
};

}  // namespace longhaul
