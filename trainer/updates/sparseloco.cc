// SparseLoCo (arXiv 2508.15706, algorithm 1). With the error feedback of its codec, e ← β e + Δ − sent:
//
//   φ ← φ + η · mean of what was sent;   θ_i ← φ
//
// The mean of a column is over those who sent it, as in the authors' code, or over all, as the paper prints.
#include "trainer/operations/update.h"

namespace longhaul {
namespace {

class SparselocoUpdate : public OuterUpdate {
 public:
  SparselocoUpdate(float lr, bool of_senders) : lr_(lr), of_senders_(of_senders) {}

  bool counts_senders_alone() const override { return of_senders_; }

  void apply(const Operation&, int replica, const Arrived& arrived, Arena& arena) const override {
    const float* mean = arrived.mean("delta");
    float* theta = arena.row(Slot::kWeights, replica) + arrived.begin;
    float* phi = arena.row(Slot::kSlowWeights, replica) + arrived.begin;
    for (std::int64_t i = 0; i < arrived.size(); ++i) theta[i] = phi[i] += lr_ * mean[i];
  }

 private:
  float lr_;
  bool of_senders_;
};

}  // namespace

std::unique_ptr<Update> make_sparseloco_update(const Json& options) {
  return std::make_unique<SparselocoUpdate>(options.at("outer_lr"), options.at("mean_of") == "senders");
}

}  // namespace longhaul
