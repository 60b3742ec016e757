// Decoupled DiLoCo (arXiv 2604.21428): the synchronizer takes DiLoCo's outer step with Nesterov momentum on
// the mean Δ̄ of what was contributed to a merge, weighted by tokens (trainer/merges.h), from its own φ;
// replica i mixes the φ that comes back with what its weights have become, and takes its next Δ from it:
//
//   v ← μ v + Δ̄;   φ ← φ + η (Δ̄ + μ v)           at the synchronizer
//   θ_i ← α θ_i + (1 − α) φ;   φ_i ← φ;   Δ_i = θ_i − φ_i
//
// What each contributes is Δ_i and not θ_i: it may be compressed as that of Streaming DiLoCo is.
#include "trainer/updates/streaming_diloco.h"

namespace longhaul {
namespace {

class DecoupledUpdate : public ColumnwiseOuterUpdate<StreamingStep> {
 public:
  DecoupledUpdate(const StreamingStep& step, bool averages_directions)
      : ColumnwiseOuterUpdate(step), averages_directions_(averages_directions) {}

  bool averages_directions() const override { return averages_directions_; }

  void merge(std::int64_t count, const float* mean, float* phi, float* momentum) const override {
    for (std::int64_t i = 0; i < count; ++i) {
      float unused;
      step_.outer(unused, phi[i], momentum[i], mean[i], 0, 0);
    }
  }

  void take_up(std::int64_t count, const float* merged, float* theta, float* anchor) const override {
    for (std::int64_t i = 0; i < count; ++i) {
      theta[i] = step_.mixed(theta[i], merged[i]);
      anchor[i] = merged[i];
    }
  }

 private:
  bool averages_directions_;
};

}  // namespace

std::unique_ptr<Update> make_decoupled_diloco_update(const Json& options) {
  return std::make_unique<DecoupledUpdate>(streaming_step(options),
                                           options.at("merge") == "radial-directional");
}

}  // namespace longhaul
