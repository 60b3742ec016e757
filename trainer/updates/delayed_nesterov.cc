// Delayed Nesterov (arXiv 2401.09135, algorithm 3, without its term c), with N = K rounds of all replicas.
// B is what has been applied since the last step of the momentum:
//
//   B ← B + Δ̄/K
//   at every K-th outer step   m ← μ m + B;  φ ← φ + η (Δ̄/K + μ m);  B ← 0
//   at the others              φ ← φ + η Δ̄/K
//   θ_i ← φ
//
// Over K outer steps that moves φ by what Nesterov does in one with the mean of their Δ̄. With K = 1 it is
// DiLoCo.
#include "trainer/operations/update.h"

namespace longhaul {
namespace {

class DelayedNesterov : public OuterUpdate {
 public:
  DelayedNesterov(float lr, float momentum, int momentum_every)
      : lr_(lr), momentum_(momentum), momentum_every_(momentum_every) {}

  std::vector<std::string> reads(const Operation&) const override { return {"delta"}; }
  bool counts_rounds() const override { return momentum_every_ > 1; }

  void apply(const Operation& operation, int replica, const Arrived& arrived, Arena& arena) const override {
    const bool has_momentum = round_at(*operation.rule, operation.post_step) % momentum_every_ == 0;
    const float* mean = arrived.mean("delta");
    const auto [theta, phi, momentum] = OuterRows(arena, replica, arrived.begin);
    float* buffer = arena.row(kBuffer, replica) + arrived.begin;
    const float share = 1 / static_cast<float>(momentum_every_);
    for (std::int64_t i = 0; i < arrived.size(); ++i) {
      const float delta = share * mean[i];
      buffer[i] += delta;
      if (has_momentum) {
        momentum[i] = momentum_ * momentum[i] + buffer[i];
        phi[i] += lr_ * (delta + momentum_ * momentum[i]);
        buffer[i] = 0;
      } else {
        phi[i] += lr_ * delta;
      }
      theta[i] = phi[i];
    }
  }

 private:
  static constexpr Slot kBuffer{"outer_buffer"};

  float lr_, momentum_;
  int momentum_every_;
};

}  // namespace

std::unique_ptr<Update> make_delayed_nesterov_update(const Json& options) {
  return std::make_unique<DelayedNesterov>(options.at("outer_lr"), options.at("outer_momentum"),
                                           options.at("momentum_every"));
}

}  // namespace longhaul
