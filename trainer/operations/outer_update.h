// What the methods with an outer step share: slow weights φ, a momentum, and a step on a column of one
// replica that the host's loop and the GPU's kernel both call.
#pragma once

#include "trainer/codecs/host_device.h"
#include "trainer/operations/update.h"

namespace longhaul {

// What an outer step reads of one column.
struct OuterArrivals {
  float mean_delta;  // Δ̄, over the group, of Δ_j = θ_j − φ_j
  float mean_phi;    // φ̄, likewise; only where the step reads φ
  float sent_phi;    // the member's own φ, as the others see it; only where the step reads φ
};

// φ = θ for all that are held here.
void start_slow_weights(Replicas& replicas);

// Step: with
//   static constexpr bool kReadsPhi;
//   void operator()(float& theta, float& phi, float& momentum, const OuterArrivals& arrived) const;
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
    const float* mean_delta = arrived.mean("delta");
    const float* mean_phi = Step::kReadsPhi ? arrived.mean("phi") : nullptr;
    const float* sent_phi = Step::kReadsPhi ? arrived.own("phi") : nullptr;
    float* theta = arena.row(Slot::kWeights, replica) + arrived.begin;
    float* phi = arena.row(Slot::kSlowWeights, replica) + arrived.begin;
    float* momentum = arena.row(Slot::kOuterMomentum, replica) + arrived.begin;
    for (std::int64_t i = 0; i < arrived.size(); ++i) {
      OuterArrivals column{mean_delta[i], 0, 0};
      if constexpr (Step::kReadsPhi) column = {mean_delta[i], mean_phi[i], sent_phi[i]};
      step_(theta[i], phi[i], momentum[i], column);
    }
  }

 protected:
  const Step step_;
};

}  // namespace longhaul
