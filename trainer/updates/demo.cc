// DeMo (arXiv 2411.19870, algorithm 1). With the error feedback of its codec, d ← β d + lr · g − sent:
//
//   θ ← (1 − lr · decay) θ − lr · sign(mean of what was sent)
//
// sign(0) = 0. The mean of a coefficient is over those who sent it, as in the authors' code, or over all.
#include "trainer/operations/update.h"
#include "trainer/replicas/vectorized.h"

namespace longhaul {
namespace {

LONGHAUL_VECTORIZED void step_by_signs(const float* mean, std::int64_t count, float keep, float lr,
                                       float* weights) {
  for (std::int64_t i = 0; i < count; ++i) {
    const float sign = mean[i] > 0 ? 1.f : mean[i] < 0 ? -1.f : mean[i];  // a NaN stays one
    weights[i] = keep * weights[i] - lr * sign;
  }
}

class DemoUpdate : public RowAverage {
 public:
  explicit DemoUpdate(bool of_senders) : RowAverage("gradient", Slot::kGradient), of_senders_(of_senders) {}

  bool counts_senders_alone() const override { return of_senders_; }
  bool has_own_optimizer() const override { return true; }
  bool apply_on_device(const Operation&, DeviceSteps&) const override { return false; }

  void prepare(const InnerStep& inner, int replica, Arena& arena) const override {
    float* gradient = arena.row(Slot::kGradient, replica);
    const auto scale = static_cast<float>(inner.lr * inner.clip);
    for (std::int64_t i = 0; i < arena.parameters(); ++i) gradient[i] *= scale;
  }

  bool optimize(const InnerStep& inner, int replica, Arena& arena) const override {
    const float* mean = arena.row(Slot::kGradient, replica);
    float* weights = arena.row(Slot::kWeights, replica);
    const auto lr = static_cast<float>(inner.lr);
    for (const DecayRange& range : inner.decay) {
      const float keep = range.decays ? 1 - lr * static_cast<float>(inner.optimizer.weight_decay) : 1;
      step_by_signs(mean + range.begin, range.end - range.begin, keep, lr, weights + range.begin);
    }
    return true;
  }

 private:
  bool of_senders_;
};

}  // namespace

std::unique_ptr<Update> make_demo_update(const Json& options) {
  return std::make_unique<DemoUpdate>(options.at("mean_of") == "senders");
}

}  // namespace longhaul
