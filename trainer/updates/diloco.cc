#include "trainer/updates/diloco.h"

#include <algorithm>

#include "trainer/updates/outer_update.h"

namespace longhaul {
namespace {

// One block of columns; `mean` is Δ̄.
void apply_nesterov(float lr, float momentum, const float* mean, std::int64_t count, float* phi, float* v,
                    float* theta) {
  for (std::int64_t i = 0; i < count; ++i) {
    v[i] = momentum * v[i] + mean[i];
    phi[i] += lr * (mean[i] + momentum * v[i]);
    theta[i] = phi[i];
  }
}

void apply_heavy_ball(float lr, float momentum, const float* mean, std::int64_t count, float* phi,
                      float* delta, float* theta) {
  for (std::int64_t i = 0; i < count; ++i) {
    delta[i] = momentum * delta[i] + lr * mean[i];
    phi[i] += delta[i];
    theta[i] = phi[i];
  }
}

class DilocoUpdate : public OuterUpdate {
 public:
  explicit DilocoUpdate(const DilocoParameters& parameters) : parameters_(parameters) {}

 private:
  void step(const std::vector<OuterMember>& group, std::int64_t begin, std::int64_t end) const override {
    diloco_outer_step(parameters_, group, begin, end);
  }

  DilocoParameters parameters_;
};

}  // namespace

DilocoParameters diloco_parameters(const Json& options) {
  return {options.at("outer_lr"), options.at("outer_momentum"), options.at("nesterov")};
}

void diloco_outer_step(const DilocoParameters& parameters, const std::vector<OuterMember>& group,
                       std::int64_t begin, std::int64_t end) {
  const auto lr = static_cast<float>(parameters.outer_lr),
             momentum = static_cast<float>(parameters.outer_momentum);
  const auto apply = parameters.nesterov ? apply_nesterov : apply_heavy_ball;
  std::vector<const Message*> deltas;
  for (const OuterMember& member : group) deltas.push_back(&member.delta);
  float mean[kBlock];
  for (std::int64_t at = begin; at < end; at += kBlock) {
    const std::int64_t count = std::min(end - at, kBlock);
    mean_of(deltas, at, at + count, mean);
    for (const OuterMember& member : group)
      apply(lr, momentum, mean, count, member.phi + at, member.momentum + at, member.theta + at);
  }
}

std::unique_ptr<Update> make_diloco_update(const DilocoParameters& parameters) {
  return std::make_unique<DilocoUpdate>(parameters);
}

}  // namespace longhaul
