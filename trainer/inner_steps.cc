// The inner steps of a training on each back-end: losses, gradients, clip and optimizer of the replicas held
// here.
#include <algorithm>
#include <cmath>

#include "core/base/child_main.h"
#include "core/base/errors.h"
#include "core/base/index.h"
#include "trainer/data/dataset.h"
#include "trainer/optimizer/muon.h"
#include "trainer/training.h"

namespace longhaul {
namespace {

using Stopwatch = Speed::Stopwatch;

// Losses and times of so many steps wait for the slowest replica.
constexpr int kMostStepsAlone = 64;

}  // namespace

int Training::inner_steps(int first) {
  if (accelerator_) return inner_steps_on_gpu(first);
  if (stacked_ || leaves_home(plan_.pipeline)) {
    stacked_ ? compute_stacked(first) : compute_along_paths(first);
    if (!meet_after(first)) finish_step(first);
    return first;
  }
  int last = first;
  if (ranks_.size() == 1)
    while (!meet_after(last) && last - first + 1 < kMostStepsAlone) ++last;
  struct Results {
    std::vector<double> losses, seconds;
    std::vector<std::vector<float>> gates;
  };
  std::vector<Results> results(as_index(last - first + 1), {losses_, std::vector<double>(seconds_.size()),
                                                            std::vector<std::vector<float>>(losses_.size())});
  const RowBlock held = arena_.held();
  int done = first;
  backend_->for_each_round(
      held.size(), last - first + 1,
      [&](int round, int at) {
        Results& of_step = results[as_index(round)];
        const auto replica = as_index(held.first + at);
        inner_step(first + round, held.first + at, of_step.losses[replica], of_step.seconds[replica],
                   of_step.gates[replica]);
      },
      [&](int round) {
        done = first + round;
        losses_ = results[as_index(round)].losses;
        seconds_ = results[as_index(round)].seconds;
        used_gates_ = results[as_index(round)].gates;
        meet_ranks();
        check_losses(done);
        if (meet_after(done)) return true;
        finish_step(done);
        return !interrupted();
      });
  return done;
}

void Training::inner_step(int step, int replica, double& loss, double& seconds, std::vector<float>& gates) {
  if (!computes(replica, step)) return;
  {
    const Stopwatch watch(seconds);
    const Batch batch = training_batch(data_.training, train_, case_.seed, replica, step);
    const ReplicaRows<const float> weights = rows_of(Slot::kWeights).read_only();
    const ReplicaRows<float> gradients = rows_of(Slot::kGradient);
    const PipelinePlan& plan = plan_.pipeline;
    LearnedPass* learned = gates_ ? &learned_passes_[as_index(replica)] : nullptr;
    if (learned) {
      gates.assign(gates_->gates(replica), gates_->gates(replica) + gates_->hops());
      std::fill(learned->rounding.begin(), learned->rounding.end(), 0);
    }
    const MicrobatchPass<float>& pass = learned ? *learned->pass : microbatches_;
    clear_for_partial(plan, arena_.parameters(), gradients.row(replica));
    loss = 0;
    for (int microbatch = 0; microbatch < plan.microbatches; ++microbatch) {
      const Route path = straight_path(plan, case_.seed, step, microbatch, replica);
      loss += pass.run(path, microbatch, batch, weights, gradients) / plan.microbatches;
    }
    if (learned) gates_->step(step, replica, learned->rounding);
  }
  if (!exchanges_gradients_) optimize(step, replica, seconds);
}

void Training::meet_ranks() {
  if (ranks_.size() == 1) return;
  const RowBlock held = arena_.held();
  std::vector<double> mine = {interrupted() ? 1. : 0.};
  for (const auto* values : {&losses_, &seconds_})
    mine.insert(mine.end(), values->begin() + held.first, values->begin() + held.end);
  const std::vector<double> all = gather(ranks_, mine);
  const auto block = as_index(held.size());
  for (std::size_t rank = 0; rank < as_index(ranks_.size()); ++rank) {
    const auto from = all.begin() + static_cast<std::ptrdiff_t>(rank * mine.size());
    is_asked_to_stop_ |= *from != 0;
    std::copy_n(from + 1, block, losses_.begin() + static_cast<std::ptrdiff_t>(rank * block));
    std::copy_n(from + 1 + static_cast<std::ptrdiff_t>(block), block,
                seconds_.begin() + static_cast<std::ptrdiff_t>(rank * block));
  }
}

ReplicaRows<float> Training::rows_of(Slot slot) {
  const int first = arena_.held().first;
  return {arena_.row(slot, first), first, arena_.parameters()};
}

std::vector<Route> Training::paths_at(int step, int microbatch) const {
  return paths_of(plan_.pipeline, case_.seed, case_.replicas, step, microbatch);
}

void Training::clear_gradients_for_partial() {
  for_each_held([&](int replica) {
    clear_for_partial(plan_.pipeline, arena_.parameters(), arena_.row(Slot::kGradient, replica));
  });
}

void Training::optimize_all_unless_exchanged(int step) {
  if (exchanges_gradients_) return;
  for_each_held([&](int replica) {
    if (computes(replica, step)) optimize(step, replica, seconds_[as_index(replica)]);
  });
}

void Training::compute_along_paths(int step) {
  std::fill(seconds_.begin(), seconds_.end(), 0);
  std::fill(losses_.begin(), losses_.end(), 0);
  std::vector<Batch> batches(losses_.size());
  const ReplicaRows<const float> weights = rows_of(Slot::kWeights).read_only();
  const ReplicaRows<float> gradients = rows_of(Slot::kGradient);
  clear_gradients_for_partial();
  for (int microbatch = 0; microbatch < plan_.pipeline.microbatches; ++microbatch) {
    const std::vector<Route> paths = paths_at(step, microbatch);
    for_each_held([&](int home) {
      const Stopwatch watch(seconds_[as_index(home)]);
      Batch& batch = batches[as_index(home)];
      if (microbatch == 0) batch = training_batch(data_.training, train_, case_.seed, home, step);
      losses_[as_index(home)] +=
          microbatches_.run(paths[as_index(home)], microbatch, batch, weights, gradients) /
          plan_.pipeline.microbatches;
    });
  }
  optimize_all_unless_exchanged(step);
  meet_ranks();
  check_losses(step);
}

// A part of the replicas for each thread; a part's wall time is shared out evenly.
void Training::compute_stacked(int step) {
  std::fill(seconds_.begin(), seconds_.end(), 0);
  std::fill(losses_.begin(), losses_.end(), 0);
  const RowBlock held = arena_.held();
  const int parts = std::min(backend_->threads(), held.size());
  clear_gradients_for_partial();
  for (int microbatch = 0; microbatch < plan_.pipeline.microbatches; ++microbatch) {
    const std::vector<Route> paths = paths_at(step, microbatch);
    backend_->for_each(parts, [&](int part) {
      const RowBlock replicas{held.first + held.size() * part / parts,
                              held.first + held.size() * (part + 1) / parts};
      double seconds = 0;
      {
        const Stopwatch watch(seconds);
        run_stack(step, microbatch, paths, replicas);
      }
      for (int r = replicas.first; r < replicas.end; ++r) seconds_[as_index(r)] += seconds / replicas.size();
    });
  }
  optimize_all_unless_exchanged(step);
  meet_ranks();
  check_losses(step);
}

void Training::run_stack(int step, int microbatch, const std::vector<Route>& paths, RowBlock replicas) {
  const PipelinePlan& plan = plan_.pipeline;
  const std::int64_t columns = arena_.parameters();
  const int held_first = arena_.held().first, sequences = train_.batch / plan.microbatches;
  const ReplicaRows<const float> weights = rows_of(Slot::kWeights).read_only();
  const ReplicaRows<float> gradients = rows_of(Slot::kGradient);
  const ReplicaRows<float> composed{composed_.data(), held_first, columns},
      partial{partial_.data(), held_first, columns};
  std::vector<std::int64_t> tokens;
  for (int home = replicas.first; home < replicas.end; ++home) {
    const Batch batch = microbatch_of(training_batch(data_.training, train_, case_.seed, home, step),
                                      microbatch, plan.microbatches);
    tokens.insert(tokens.end(), batch.tokens.begin(), batch.tokens.end());
    if (is_composed(plan)) gather_along(plan, paths[as_index(home)], weights, composed.row(home));
  }
  const bool is_shared_out = !partial_.empty();
  std::vector<double> losses(as_index(replicas.size()));
  stacked_->run({(is_composed(plan) ? composed.read_only() : weights).row(replicas.first),
                 (is_shared_out ? partial : gradients).row(replicas.first), tokens.data(),
                 std::int64_t{sequences} * (train_.model.context + 1), losses.data(), replicas.size(),
                 sequences});
  for (int home = replicas.first; home < replicas.end; ++home) {
    if (is_shared_out) scatter_along(plan, paths[as_index(home)], microbatch, partial.row(home), gradients);
    losses_[as_index(home)] += losses[as_index(home - replicas.first)] / plan.microbatches;
  }
}

// A step's losses are read when the next one has been begun, where none waits for them.
int Training::inner_steps_on_gpu(int first) {
  const bool follow = !exchanges_gradients_ && !update_->has_own_optimizer() && ranks_.size() == 1;
  begin_on_gpu(first);
  int begun = first;
  for (int step = first;; ++step) {
    if (step == begun && follow && !meet_after(step) && !interrupted()) begin_on_gpu(++begun);
    std::fill(seconds_.begin(), seconds_.end(), 0);
    const double seconds = accelerator_->finish(losses_);
    for (double& of_replica : seconds_) of_replica += seconds / arena_.held().size();
    if (!exchanges_gradients_ && update_->has_own_optimizer()) optimize_on_gpu(step);
    meet_ranks();
    check_losses(step);
    if (meet_after(step)) return step;
    finish_step(step);
    if (step == begun) return step;
  }
}

void Training::begin_on_gpu(int step) {
  const RowBlock held = arena_.held();
  std::vector<Batch> batches(as_index(held.size()));
  backend_->for_each(held.size(), [&](int at) {
    batches[as_index(at)] = training_batch(data_.training, train_, case_.seed, held.first + at, step);
  });
  std::vector<std::vector<Route>> paths;
  if (is_composed(plan_.pipeline))
    for (int microbatch = 0; microbatch < plan_.pipeline.microbatches; ++microbatch)
      paths.push_back(paths_at(step, microbatch));
  std::optional<Accelerator::Optimizing> optimizing;
  if (!exchanges_gradients_ && !update_->has_own_optimizer())
    optimizing = Accelerator::Optimizing{learning_rate(train_.optimizer, step, train_.steps), step};
  accelerator_->begin(batches, paths, optimizing);
}

void Training::optimize_on_gpu(int step) {
  double seconds = 0;
  {
    const Stopwatch watch(seconds);
    bool is_taken = false;
    if (update_->has_own_optimizer())
      accelerator_->on_host([&] {
        for (int replica = arena_.held().first; replica < arena_.held().end; ++replica)
          is_taken = update_->optimize(inner_step_facts(step, step), replica, arena_);
      });
    if (!is_taken) accelerator_->optimize(learning_rate(train_.optimizer, step, train_.steps), step);
  }
  for (double& of_replica : seconds_) of_replica += seconds / arena_.held().size();
}

void Training::optimize(int step, int replica, double& seconds) {
  const Stopwatch watch(seconds);
  take_optimizer_step(step, replica);
  if (subspace_) subspace_->project(arena_.row(Slot::kWeights, replica));
}

void Training::take_optimizer_step(int step, int replica) {
  const int updates = ++optimizer_steps_[as_index(replica)];
  if (update_->has_own_optimizer() && update_->optimize(inner_step_facts(step, updates), replica, arena_))
    return;
  const AdamwRows rows{arena_.row(Slot::kWeights, replica), arena_.row(Slot::kGradient, replica),
                       arena_.row(Slot::kFirstMoment, replica), arena_.row(Slot::kSecondMoment, replica)};
  const double scale = clip_factor(row_norm(rows.gradient, arena_.parameters()), train_.optimizer.clip);
  const double lr = learning_rate(train_.optimizer, step, train_.steps);
  adamw_step(train_.optimizer, lr, updates, scale, decay_, rows);
  muon_step(train_.optimizer, lr, scale, muon_, {rows.weights, rows.gradient, rows.first_moment});
}

void Training::check_losses(int step) const {
  for (const int replica : computing(step)) check_loss(step, replica);
}

void Training::check_loss(int step, int replica) const {
  if (!std::isfinite(losses_[as_index(replica)]))
    throw RunError(
        "step " + std::to_string(step) + ": the loss of replica " + std::to_string(replica) +
        " is not finite: the training diverged (a lower learning rate, more warm-up or clipping may help); "
        "the checkpoint before it is of step " +
        std::to_string(saved_step_));
}

}  // namespace longhaul
