// 1-bit Adam (arXiv 2102.02888, algorithm 1). Up to step w it is ddp. Then, with v of step w,
//
//   m_i ← β1 m + (1 − β1) g_i;   m ← mean of what was sent of m_i;   θ ← θ − lr · m̂ / (sqrt(v̂) + ε)
//
// Bias correction and decoupled decay are those of the first stage (optimizer/adamw.h), so that the stages
// meet without a jump: m̂ = m/(1 − β1^t), v̂ = v/(1 − β2^w). The mean is rounded by the servers that add it up
// (Reduction::kServers).
#include <algorithm>
#include <cmath>

#include "trainer/operations/update.h"

namespace longhaul {
namespace {

class OneBitAdam : public Update {
 public:
  explicit OneBitAdam(int freeze_step) : freeze_step_(freeze_step) {}

  bool has_own_optimizer() const override { return true; }

  std::pair<Slot, const Slot*> source(const std::string& tensor) const override {
    if (tensor == "momentum") return {Slot::kFirstMoment, nullptr};
    return Update::source(tensor);
  }

  void prepare(const InnerStep& inner, int replica, Arena& arena) const override {
    if (inner.step <= freeze_step_) return;
    const AdamwConstants constants = adamw_constants(inner.optimizer);
    const float* gradient = arena.row(Slot::kGradient, replica);
    float* momentum = arena.row(Slot::kFirstMoment, replica);
    const auto clip = static_cast<float>(inner.clip);
    for (std::int64_t i = 0; i < arena.parameters(); ++i)
      momentum[i] = constants.beta1 * momentum[i] + constants.rest1 * (clip * gradient[i]);
  }

  void apply(const Operation& operation, int replica, const Arrived& arrived, Arena& arena) const override {
    const bool is_first_stage = operation.rule->tensors().front() == "gradient";
    const float* mean = arrived.mean(is_first_stage ? "gradient" : "momentum");
    std::copy_n(mean, arrived.size(),
                arena.row(is_first_stage ? Slot::kGradient : Slot::kFirstMoment, replica) + arrived.begin);
  }

  bool optimize(const InnerStep& inner, int replica, Arena& arena) const override {
    if (inner.step <= freeze_step_) return false;
    StepScalars scalars = step_scalars(inner.optimizer, inner.lr, inner.updates);
    const int frozen = std::min(freeze_step_, inner.updates);
    scalars.correction2 = step_scalars(inner.optimizer, inner.lr, frozen).correction2;
    const AdamwConstants constants = adamw_constants(inner.optimizer);
    const float *momentum = arena.row(Slot::kFirstMoment, replica),
                *variance = arena.row(Slot::kSecondMoment, replica);
    float* weights = arena.row(Slot::kWeights, replica);
    for (const DecayRange& range : inner.decay) {
      const float keep = range.decays ? scalars.keep : 1;
      for (std::int64_t i = range.begin; i < range.end; ++i)
        weights[i] =
            keep * weights[i] -
            scalars.rate * momentum[i] / (std::sqrt(variance[i] * scalars.correction2) + constants.epsilon);
    }
    return true;
  }

 private:
  int freeze_step_;
};

}  // namespace

std::unique_ptr<Update> make_one_bit_adam_update(const Json& options) {
  return std::make_unique<OneBitAdam>(options.at("freeze_step"));
}

}  // namespace longhaul
