// GASLoC (arXiv 2606.11081, second hand: docs/reference/methods/gasloc.md): after H inner steps from θ(t) to
// θ', with g = θ' − θ(t),
//
//   u_i(t) = θ_i(t) + η g_i
//   θ_i(t + 1) = u_i(t) − α Σ_j λ_ij (u_i(t) − u_j(t)) + γ (u_i(t) − u_i(t − 1)),      u(−1) = θ(0)
//
// over the neighbours j of i, with the weight λ = 1/(d + 1) of a graph of d neighbours each. So the sum is
// d + 1 times λ times what u_i is off the mean of its own and those that it hears. λ stays where some are
// absent, so that the mean over replicas is kept there too; on the complete graph d is those who are there.
//
// u_i and u_j of the sum are as they were sent. In the momentum, and before the sum, u_i was not rounded.
#include "trainer/operations/update.h"

namespace longhaul {
namespace {

constexpr Slot kProposal{"proposal"};  // u(t − 1)

// How many of full number a replica hears, itself included.
int heard_in_full(const OperationRule& rule, int heard) {
  if (has_targets(rule.grouping)) return rule.group_size + 1;
  return rule.group_size > 0 ? rule.group_size : heard;
}

class GaslocUpdate : public Update {
 public:
  explicit GaslocUpdate(const Json& options)
      : alpha_(options.at("alpha")), gamma_(options.at("gamma")), eta_(options.at("eta")) {}

  void start(Replicas& replicas) override {
    start_slow_weights(replicas);
    Arena& arena = replicas.arena;
    for (int replica = arena.held().first; replica < arena.held().end; ++replica)
      std::copy_n(arena.row(Slot::kWeights, replica), arena.parameters(), arena.row(kProposal, replica));
  }

  // u, in place of what the inner steps left.
  void take(const LocalStep&, int replica, ColumnRange columns, Arena& arena) const override {
    float* theta = arena.row(Slot::kWeights, replica) + columns.begin;
    const float* phi = arena.row(Slot::kSlowWeights, replica) + columns.begin;
    for (std::int64_t i = 0; i < columns.size(); ++i) theta[i] = phi[i] + eta_ * (theta[i] - phi[i]);
  }

  void apply(const Operation& operation, int replica, const Arrived& arrived, Arena& arena) const override {
    const double pull = alpha_ * arrived.members / heard_in_full(*operation.rule, arrived.members);
    const auto keep = static_cast<float>(1 - pull);
    const float *mean = arrived.mean("weights"), *sent = arrived.own("weights");
    float* theta = arena.row(Slot::kWeights, replica) + arrived.begin;
    float* phi = arena.row(Slot::kSlowWeights, replica) + arrived.begin;
    float* before = arena.row(kProposal, replica) + arrived.begin;
    for (std::int64_t i = 0; i < arrived.size(); ++i) {
      const float own = theta[i];
      theta[i] = mean[i] + (own - sent[i]) + keep * (sent[i] - mean[i]) + gamma_ * (own - before[i]);
      before[i] = own;
      phi[i] = theta[i];
    }
  }

 private:
  const double alpha_;
  const float gamma_, eta_;
};

}  // namespace

std::unique_ptr<Update> make_gasloc_update(const Json& options) {
  return std::make_unique<GaslocUpdate>(options);
}

}  // namespace longhaul
