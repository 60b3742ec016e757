// With the mean D of delta, t the number of the outer step:
//   m <- beta1 m + (1 - beta1) D;  v <- beta2 v + (1 - beta2) D^2
//   phi <- phi + lr (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + 1e-8);  theta <- phi
#include <cmath>

#include "trainer/operations/update.h"

namespace longhaul {
namespace {

class ToyAdam : public Update {
 public:
  ToyAdam(float lr, float beta1, float beta2) : lr_(lr), beta1_(beta1), beta2_(beta2) {}

  void start(Replicas& replicas) override { start_slow_weights(replicas); }  // the moments are zero
  std::vector<std::string> reads(const Operation&) const override { return {"delta"}; }

  void apply(const Operation& operation, int replica, const Arrived& arrived, Arena& arena) const override {
    const int round = round_at(*operation.rule, operation.post_step);  // 1, 2, ...
    const float bias1 = 1 - std::pow(beta1_, static_cast<float>(round)),
                bias2 = 1 - std::pow(beta2_, static_cast<float>(round));
    const float* mean = arrived.mean("delta");
    float *theta = arena.row(Slot::kWeights, replica) + arrived.begin,
          *phi = arena.row(Slot::kSlowWeights, replica) + arrived.begin,
          *momentum = arena.row(Slot::kOuterMomentum, replica) + arrived.begin,
          *squares = arena.row(kSquares, replica) + arrived.begin;
    for (std::int64_t i = 0; i < arrived.size(); ++i) {
      momentum[i] = beta1_ * momentum[i] + (1 - beta1_) * mean[i];
      squares[i] = beta2_ * squares[i] + (1 - beta2_) * mean[i] * mean[i];
      phi[i] += lr_ * (momentum[i] / bias1) / (std::sqrt(squares[i] / bias2) + 1e-8F);
      theta[i] = phi[i];
    }
  }

 private:
  static constexpr Slot kSquares{"outer_squares"};  // a table of its own: [replicas, parameters]

  float lr_, beta1_, beta2_;
};

}  // namespace

std::unique_ptr<Update> make_toy_adam_update(const Json& options) {
  return std::make_unique<ToyAdam>(options.at("outer_lr"), options.at("beta1"), options.at("beta2"));
}

}  // namespace longhaul
