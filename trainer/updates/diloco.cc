#include "trainer/updates/diloco.h"

#include <algorithm>

#include "trainer/ranks/chained_sum.h"
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

auto apply_of(const DilocoParameters& parameters) {
  return parameters.nesterov ? apply_nesterov : apply_heavy_ball;
}

class DilocoUpdate : public OuterUpdate {
 public:
  explicit DilocoUpdate(const DilocoParameters& parameters) : parameters_(parameters) {}

 private:
  void step(const std::vector<OuterMember>& group, std::int64_t begin, std::int64_t end) const override {
    diloco_outer_step(parameters_, group, begin, end);
  }

  // The group is everybody, and its rows are too many to come here.
  void exchange_over_ranks(const Exchange&, const std::vector<int>& group, Replicas& replicas) override {
    const std::vector<OuterMember> mine = members_here(group, false, replicas);
    std::vector<Message> deltas;
    for (const OuterMember& member : mine) deltas.push_back(member.delta);
    const auto lr = static_cast<float>(parameters_.outer_lr),
               momentum = static_cast<float>(parameters_.outer_momentum);
    mean_over_ranks(replicas.ranks, replicas.backend, deltas, replicas.arena.replicas(),
                    replicas.arena.parameters(),
                    [&](std::int64_t begin, std::int64_t end, const float* mean) {
                      replicas.backend.for_each(static_cast<int>(mine.size()), [&](int at) {
                        const OuterMember& member = mine[static_cast<std::size_t>(at)];
                        apply_of(parameters_)(lr, momentum, mean, end - begin, member.phi + begin,
                                              member.momentum + begin, member.theta + begin);
                      });
                    });
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
  const auto apply = apply_of(parameters);
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
