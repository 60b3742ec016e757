#include "trainer/updates/noloco.h"

#include <algorithm>

#include "trainer/updates/outer_update.h"

namespace longhaul {
namespace {

struct Factors {
  float alpha, beta, gamma;
};

struct GroupMeans {
  float delta[kBlock], phi[kBlock];
};

void apply(const Factors& f, const GroupMeans& mean, const OuterMember& member, std::int64_t at,
           std::int64_t count) {
  float sent[kBlock];
  member.anchor.read(at, at + count, sent);
  float *momentum = member.momentum + at, *phi = member.phi + at, *theta = member.theta + at;
  for (std::int64_t i = 0; i < count; ++i) {
    momentum[i] = f.alpha * momentum[i] + f.beta * mean.delta[i] - f.gamma * (sent[i] - mean.phi[i]);
    phi[i] += momentum[i];
    theta[i] = phi[i];
  }
}

class NolocoUpdate : public OuterUpdate {
 public:
  explicit NolocoUpdate(const NolocoParameters& parameters) : parameters_(parameters) {}

 private:
  bool needs_anchors() const override { return true; }
  void step(const std::vector<OuterMember>& group, std::int64_t begin, std::int64_t end) const override {
    noloco_outer_step(parameters_, group, begin, end);
  }

  NolocoParameters parameters_;
};

}  // namespace

NolocoParameters noloco_parameters(const Json& options) {
  return {options.at("alpha"), options.at("beta"), options.at("gamma")};
}

void noloco_outer_step(const NolocoParameters& parameters, const std::vector<OuterMember>& group,
                       std::int64_t begin, std::int64_t end) {
  const Factors factors{static_cast<float>(parameters.alpha), static_cast<float>(parameters.beta),
                        static_cast<float>(parameters.gamma)};
  std::vector<const Message*> deltas, anchors;
  for (const OuterMember& member : group) {
    deltas.push_back(&member.delta);
    anchors.push_back(&member.anchor);
  }
  GroupMeans mean;
  for (std::int64_t at = begin; at < end; at += kBlock) {
    const std::int64_t count = std::min(end - at, kBlock);
    mean_of(deltas, at, at + count, mean.delta);
    mean_of(anchors, at, at + count, mean.phi);
    for (const OuterMember& member : group)
      if (member.is_held()) apply(factors, mean, member, at, count);
  }
}

std::unique_ptr<Update> make_noloco_update(const NolocoParameters& parameters) {
  return std::make_unique<NolocoUpdate>(parameters);
}

}  // namespace longhaul
