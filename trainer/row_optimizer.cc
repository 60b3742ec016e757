#include "trainer/row_optimizer.h"

#include "core/base/index.h"

namespace longhaul {

InnerStep RowOptimizer::facts(int step, int updates) const {
  return {step, updates, learning_rate(train.optimizer, step, train.steps), 1, train.optimizer, decay};
}

void RowOptimizer::step(int step, int replica) {
  const int updates = ++taken[as_index(replica)];
  const AdamwRows rows{arena.row(Slot::kWeights, replica), arena.row(Slot::kGradient, replica),
                       arena.row(Slot::kFirstMoment, replica), arena.row(Slot::kSecondMoment, replica)};
  if (!update.has_own_optimizer() || !update.optimize(facts(step, updates), replica, arena)) {
    const double scale = clip_factor(row_norm(rows.gradient, arena.parameters()), train.optimizer.clip);
    const double lr = learning_rate(train.optimizer, step, train.steps);
    adamw_step(train.optimizer, lr, updates, scale, decay, rows);
    muon_step(train.optimizer, lr, scale, muon, {rows.weights, rows.gradient, rows.first_moment});
  }
  if (subspace) subspace->project(rows.weights);
}

void RowOptimizer::prepare(int step, int replica) const {
  InnerStep here = facts(step, taken[as_index(replica)] + 1);
  here.clip =
      clip_factor(row_norm(arena.row(Slot::kGradient, replica), arena.parameters()), train.optimizer.clip);
  update.prepare(here, replica, arena);
}

void RowOptimizer::count_elsewhere(const std::vector<int>& replicas, int steps) {
  for (const int replica : replicas)
    if (!arena.held().contains(replica)) taken[as_index(replica)] += steps;
}

}  // namespace longhaul
