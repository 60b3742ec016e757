// Deep Gradient Compression (arXiv 1712.01887, algorithm 1 with momentum correction and factor masking). With
// the error feedback of its codec, v ← v + u − sent:
//
//   u ← m u + g, clipped at 1/sqrt(N) of train.optimizer.clip;   θ ← (1 − lr · decay) θ − lr · mean of what
//   was sent;   u ← 0 in the columns that the replica sent itself
#include <cmath>

#include "trainer/operations/update.h"

namespace longhaul {
namespace {

class DgcUpdate : public Update {
 public:
  DgcUpdate(float momentum, bool masks) : momentum_(momentum), masks_(masks) {}

  bool has_own_optimizer() const override { return true; }

  std::pair<Slot, const Slot*> source(const std::string& tensor) const override {
    if (tensor == "velocity") return {kVelocity, nullptr};
    return Update::source(tensor);
  }

  void prepare(const InnerStep& inner, int replica, Arena& arena) const override {
    const float* gradient = arena.row(Slot::kGradient, replica);
    float* velocity = arena.row(kVelocity, replica);
    // All replicas' gradients together have sqrt(N) times the norm of one, where they are independent.
    OptimizerSpec of_one = inner.optimizer;
    of_one.clip /= std::sqrt(static_cast<double>(arena.replicas()));
    const auto clip = static_cast<float>(clip_factor(row_norm(gradient, arena.parameters()), of_one.clip));
    for (std::int64_t i = 0; i < arena.parameters(); ++i)
      velocity[i] = momentum_ * velocity[i] + clip * gradient[i];
  }

  void apply(const Operation&, int replica, const Arrived& arrived, Arena& arena) const override {
    std::copy_n(arrived.mean("velocity"), arrived.size(),
                arena.row(Slot::kGradient, replica) + arrived.begin);
    if (!masks_) return;
    const float* sent = arrived.own("velocity");
    float* velocity = arena.row(kVelocity, replica) + arrived.begin;
    for (std::int64_t i = 0; i < arrived.size(); ++i)
      if (sent[i] != 0) velocity[i] = 0;
  }

  bool optimize(const InnerStep& inner, int replica, Arena& arena) const override {
    const float* mean = arena.row(Slot::kGradient, replica);
    float* weights = arena.row(Slot::kWeights, replica);
    const auto lr = static_cast<float>(inner.lr);
    for (const DecayRange& range : inner.decay) {
      const float keep = range.decays ? 1 - lr * static_cast<float>(inner.optimizer.weight_decay) : 1;
      for (std::int64_t i = range.begin; i < range.end; ++i) weights[i] = keep * weights[i] - lr * mean[i];
    }
    return true;
  }

 private:
  static constexpr Slot kVelocity{"velocity"};

  float momentum_;
  bool masks_;
};

}  // namespace

std::unique_ptr<Update> make_dgc_update(const Json& options) {
  return std::make_unique<DgcUpdate>(options.at("momentum"), options.at("factor_masking"));
}

}  // namespace longhaul
