// phi <- phi + lr * mean of what was sent of delta;  theta <- mixing * theta + (1 - mixing) * phi
#include "trainer/operations/update.h"

namespace longhaul {
namespace {

class ToyFragments : public Update {
 public:
  ToyFragments(float lr, float mixing) : lr_(lr), mixing_(mixing) {}

  void start(Replicas& replicas) override { start_slow_weights(replicas); }

  void apply(const Operation&, int replica, const Arrived& arrived, Arena& arena) const override {
    const float* mean = arrived.mean("delta");
    float* theta = arena.row(Slot::kWeights, replica) + arrived.begin;
    float* phi = arena.row(Slot::kSlowWeights, replica) + arrived.begin;
    for (std::int64_t i = 0; i < arrived.size(); ++i) {
      phi[i] += lr_ * mean[i];
      theta[i] = mixing_ * theta[i] + (1 - mixing_) * phi[i];
    }
  }

 private:
  float lr_, mixing_;
};

}  // namespace

std::unique_ptr<Update> make_toy_fragments_update(const Json& options) {
  return std::make_unique<ToyFragments>(options.at("outer_lr"), options.at("mixing"));
}

}  // namespace longhaul
