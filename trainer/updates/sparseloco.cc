// SparseLoCo (arXiv 2508.15706, algorithm 1). With the error feedback of its codec, e ← β e + Δ − sent:
//
//   φ ← φ + η · mean of what was sent;   θ_i ← φ
#include "trainer/operations/update.h"

namespace longhaul {
namespace {

class SparselocoUpdate : public Update {
 public:
  explicit SparselocoUpdate(float lr) : lr_(lr) {}

  void start(Replicas& replicas) override { start_slow_weights(replicas); }

  void apply(const Operation&, int replica, const Arrived& arrived, Arena& arena) const override {
    const float* mean = arrived.mean("delta");
    float* theta = arena.row(Slot::kWeights, replica) + arrived.begin;
    float* phi = arena.row(Slot::kSlowWeights, replica) + arrived.begin;
    for (std::int64_t i = 0; i < arrived.size(); ++i) theta[i] = phi[i] += lr_ * mean[i];
  }

 private:
  float lr_;
};

}  // namespace

std::unique_ptr<Update> make_sparseloco_update(const Json& options) {
  return std::make_unique<SparselocoUpdate>(options.at("outer_lr"));
}

}  // namespace longhaul
