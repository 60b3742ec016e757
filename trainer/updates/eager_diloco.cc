// Eager updates (arXiv 2502.12996, algorithm 2): in round t replica i takes DiLoCo's outer step (Nesterov)
// with
//
//   Δ̃_i(t) = Δ̄(t − 1) + (Δ_i(t) − Δ_i(t − 1)) / N,      Δ(0) = 0
//
// so with its own Δ fresh and those of the others one round late. φ_i and its momentum differ from replica to
// replica. Δ_i(t − 1) is the one that was sent, as it is in the mean; Δ_i(t) is the replica's own and was not
// rounded.
#include "trainer/updates/diloco.h"

namespace longhaul {
namespace {

class EagerUpdate : public ColumnwiseOuterUpdate<DilocoStep> {
 public:
  using ColumnwiseOuterUpdate::ColumnwiseOuterUpdate;

  void apply(const Operation& operation, int replica, const Arrived& arrived, Arena& arena) const override {
    if (operation.rule->is_blocking())
      return ColumnwiseOuterUpdate::apply(operation, replica, arrived, arena);
    const float *mean = arrived.mean("delta"), *sent = arrived.own("delta");
    const OuterRows rows(arena, replica, arrived.begin);
    const float share = 1 / static_cast<float>(arrived.members);
    for (std::int64_t i = 0; i < arrived.size(); ++i)
      step(rows, i, mean[i] + share * (rows.theta[i] - rows.phi[i] - sent[i]));
  }

  // The first round: nothing has arrived.
  void take(const LocalStep&, int replica, ColumnRange columns, Arena& arena) const override {
    const OuterRows rows(arena, replica, columns.begin);
    const float share = 1 / static_cast<float>(arena.replicas());
    for (std::int64_t i = 0; i < columns.size(); ++i) step(rows, i, share * (rows.theta[i] - rows.phi[i]));
  }

 private:
  void step(const OuterRows& rows, std::int64_t i, float delta) const {
    step_(rows.theta[i], rows.phi[i], rows.momentum[i], delta, 0, 0);
  }
};

}  // namespace

std::unique_ptr<Update> make_eager_diloco_update(const Json& options) {
  return std::make_unique<EagerUpdate>(
      DilocoStep{options.at("outer_lr"), options.at("outer_momentum"), true});
}

}  // namespace longhaul
