#include "trainer/inner_steps.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/base/child_main.h"
#include "core/base/errors.h"
#include "core/base/index.h"
#include "trainer/speed.h"

namespace longhaul {
namespace {

using Stopwatch = Speed::Stopwatch;

bool is_in(const std::vector<int>& replicas, int replica) {
  return std::binary_search(replicas.begin(), replicas.end(), replica);
}

}  // namespace

bool Round::is_apart_from(const journal::Compute& other) const {
  return std::none_of(computes.begin(), computes.end(), [&](const journal::Compute& entry) {
    return std::any_of(other.replicas.begin(), other.replicas.end(),
                       [&](int replica) { return is_in(entry.replicas, replica); });
  });
}

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

InnerSteps::InnerSteps(const World& world)
    : world_(world),
      train_(*world.config.train),
      exchanges_gradients_(exchanges_gradients(world.plan)),
      microbatches_(world.plan.pipeline, world.replicas.arena.parameters(),
                    [this](const float* weights, float* gradient, const Batch& batch) {
                      return world_.decoder.loss_and_gradient(weights, gradient, batch);
                    }),
      optimizer_{train_,       world.decay,          world.muon,
                 world.update, world.replicas.arena, std::vector<int>(as_index(world.config.replicas)),
                 std::nullopt},
      results_(as_index(world.config.replicas)) {
  make_gates();
}

void InnerSteps::keep_in_subspace(std::vector<float>& weights) {
  const int rank = world_.config.pipeline.boundary.subspace;
  if (rank == 0 || !world_.plan.pipeline.has_stages()) return;
  optimizer_.subspace.emplace(train_.model, world_.plan.pipeline, rank, world_.config.seed, weights);
  optimizer_.subspace->project(weights.data());
}

void InnerSteps::make_gates() {
  const PipelinePlan& plan = world_.plan.pipeline;
  const Case& config = world_.config;
  if (!config.pipeline.boundary.learned || plan.hop_count() == 0) return;
  gates_.emplace(*config.pipeline.boundary.learned, world_.boundaries, config.replicas);
  learned_passes_.resize(as_index(config.replicas));
  for (int replica = 0; replica < config.replicas; ++replica) {
    LearnedPass& learned = learned_passes_[as_index(replica)];
    learned.rounding.resize(as_index(gates_->hops()));
    learned.pass = std::make_unique<MicrobatchPass<float>>(
        plan, world_.replicas.arena.parameters(),
        [this, replica, &sum = learned.rounding](const float* weights, float* gradient, const Batch& batch) {
          RoundingEffects rounding;
          const double loss = world_.decoder.loss_and_gradient(weights, gradient, batch,
                                                               gates_->boundaries(replica), &rounding);
          for (std::size_t hop = 0; hop < sum.size(); ++hop)
            sum[hop] += rounding[hop] / world_.plan.pipeline.microbatches;
          return loss;
        });
  }
}

std::size_t InnerSteps::run(const std::vector<Round>& rounds, const AfterRound& after_round) {
  const AfterRound after = [&](const Round& round) {
    for (const journal::Compute& entry : round.computes)
      if (!exchanges_gradients_) optimizer_.count_elsewhere(entry.replicas, entry.last - entry.first + 1);
    return after_round(round);
  };
  std::size_t done = 0;
  const bool is_together = leaves_home(world_.plan.pipeline);
  if (accelerator_) {
    done = run_on_card(rounds, after);
  } else if (!is_together && world_.replicas.ranks.size() == 1) {
    done = run_apart(rounds, after);
  } else {
    for (bool goes_on = true; goes_on && done < rounds.size(); ++done) {
      if (!is_together)  // ranks meet after each round, all after the same ones
        run_apart({rounds[done]}, [](const Round&) { return true; });
      else
        for (const journal::Compute& entry : rounds[done].computes)
          for (int step = entry.first; step <= entry.last; ++step) step_together(entry.replicas, step);
      goes_on = after(rounds[done]);
    }
  }
  if (done == rounds.size() && world_.update.has_own_optimizer()) prepare(rounds.back());
  return done;
}

std::size_t InnerSteps::run_apart(const std::vector<Round>& rounds, const AfterRound& after) {
  StepResults before = results_;
  std::fill(before.seconds.begin(), before.seconds.end(), 0);
  std::vector<StepResults> results(rounds.size(), before);
  const RowBlock held = world_.replicas.arena.held();
  std::size_t done = 0;
  world_.replicas.backend.for_each_round(
      held.size(), static_cast<int>(rounds.size()),
      [&](int round, int at) {
        const int replica = held.first + at;
        StepResults& of_round = results[as_index(round)];
        for (const journal::Compute& entry : rounds[as_index(round)].computes) {
          if (!is_in(entry.replicas, replica)) continue;
          for (int step_here = entry.first; step_here <= entry.last; ++step_here) {
            step(step_here, replica, of_round);
            if (world_.replicas.ranks.size() == 1)
              check_loss(step_here, replica, of_round.losses[as_index(replica)]);
          }
        }
      },
      [&](int round) {
        results_ = std::move(results[as_index(round)]);
        done = as_index(round) + 1;
        return after(rounds[as_index(round)]);
      });
  return done;
}

void InnerSteps::step(int step, int replica, StepResults& results) {
  double &loss = results.losses[as_index(replica)], &seconds = results.seconds[as_index(replica)];
  {
    const Stopwatch watch(seconds);
    const Batch batch = training_batch(world_.data.training, train_, world_.config.seed, replica, step);
    const ReplicaRows<const float> weights = rows_of(Slot::kWeights).read_only();
    const ReplicaRows<float> gradients = rows_of(Slot::kGradient);
    const PipelinePlan& plan = world_.plan.pipeline;
    LearnedPass* learned = gates_ ? &learned_passes_[as_index(replica)] : nullptr;
    if (learned) {
      results.gates[as_index(replica)].assign(gates_->gates(replica),
                                              gates_->gates(replica) + gates_->hops());
      std::fill(learned->rounding.begin(), learned->rounding.end(), 0);
    }
    const MicrobatchPass<float>& pass = learned ? *learned->pass : microbatches_;
    clear_for_partial(plan, weights.columns, gradients.row(replica));
    loss = 0;
    for (int microbatch = 0; microbatch < plan.microbatches; ++microbatch) {
      const Route path = straight_path(plan, world_.config.seed, step, microbatch, replica);
      loss += pass.run(path, microbatch, batch, weights, gradients) / plan.microbatches;
    }
    if (learned) gates_->step(step, replica, learned->rounding);
  }
  if (!exchanges_gradients_) optimize(step, replica, seconds);
}

ReplicaRows<float> InnerSteps::rows_of(Slot slot) const {
  Arena& arena = world_.replicas.arena;
  const int first = arena.held().first;
  return {arena.row(slot, first), first, arena.parameters()};
}

std::vector<Route> InnerSteps::paths_at(int step, int microbatch) const {
  return paths_of(world_.plan.pipeline, world_.config.seed, world_.config.replicas, step, microbatch);
}

void InnerSteps::step_together(const std::vector<int>& replicas, int step) {
  std::fill(results_.seconds.begin(), results_.seconds.end(), 0);
  std::fill(results_.losses.begin(), results_.losses.end(), 0);
  const ReplicaRows<float> gradients = rows_of(Slot::kGradient);
  for_each_held([&](int replica) {
    clear_for_partial(world_.plan.pipeline, gradients.columns, gradients.row(replica));
  });
  run_along_paths(step);
  if (!exchanges_gradients_) optimize(replicas, step);
}

void InnerSteps::run_along_paths(int step) {
  std::vector<Batch> batches(results_.losses.size());
  const ReplicaRows<const float> weights = rows_of(Slot::kWeights).read_only();
  const ReplicaRows<float> gradients = rows_of(Slot::kGradient);
  const int microbatches = world_.plan.pipeline.microbatches;
  for (int microbatch = 0; microbatch < microbatches; ++microbatch) {
    const std::vector<Route> paths = paths_at(step, microbatch);
    for_each_held([&](int home) {
      const Stopwatch watch(results_.seconds[as_index(home)]);
      Batch& batch = batches[as_index(home)];
      if (microbatch == 0)
        batch = training_batch(world_.data.training, train_, world_.config.seed, home, step);
      results_.losses[as_index(home)] +=
          microbatches_.run(paths[as_index(home)], microbatch, batch, weights, gradients) / microbatches;
    });
  }
}

InnerSteps::StepOf InnerSteps::step_of(const std::vector<int>& replicas, int step) const {
  StepOf steps(results_.losses.size());
  for (const int replica : replicas) steps[as_index(replica)] = step;
  return steps;
}

void InnerSteps::use_card(Accelerator& accelerator) {
  accelerator_ = &accelerator;
  accelerator.upload(Accelerator::State::kAtStart);
  const StepOf first = step_of(world_.replicas.arena.held().replicas(), 1);
  const std::vector<int> taken = optimizer_.taken;
  std::vector<double> losses(results_.losses.size());
  for (int time = 0; time < 2; ++time) {
    begin_on_card(first, may_optimize());
    accelerator.finish(losses);
    optimizer_.taken = taken;
  }
  accelerator.upload(Accelerator::State::kAtStart);
}

// A step's losses are read when the next one has been begun, where none waits for them.
std::size_t InnerSteps::run_on_card(const std::vector<Round>& rounds, const AfterRound& after) {
  std::vector<StepOf> steps;
  std::vector<std::size_t> end_of;  // by round: behind its last step
  for (const Round& round : rounds) {
    std::size_t length = 0;
    for (const journal::Compute& entry : round.computes)
      length = std::max(length, as_index(entry.last - entry.first + 1));
    end_of.push_back(steps.size() + length);
    for (std::size_t at = 0; at < length; ++at) {
      StepOf& here = steps.emplace_back(results_.losses.size());
      for (const journal::Compute& entry : round.computes)
        for (const int replica : entry.replicas)
          if (const int step = entry.first + static_cast<int>(at); step <= entry.last)
            here[as_index(replica)] = step;
    }
  }
  std::vector<bool> optimizes(steps.size());  // the card by itself, behind the gradients
  std::size_t begun = 0, done = 0;
  const auto begin_next = [&] {
    optimizes[begun] = may_optimize() && is_of_whole_card(steps[begun]);
    begin_on_card(steps[begun], optimizes[begun]);
    ++begun;
  };
  begin_next();
  bool goes_on = true;
  for (std::size_t at = 0; at < begun; ++at) {
    const bool is_last = at + 1 == steps.size();
    if (!is_last && at + 1 == begun && optimizes[at] && world_.replicas.ranks.size() == 1 && !interrupted() &&
        is_of_whole_card(steps[begun]))
      begin_next();
    finish_on_card(steps[at]);
    if (!exchanges_gradients_ && !optimizes[at]) optimize_on_card(steps[at]);
    if (at + 1 == end_of[done]) goes_on = after(rounds[done++]) && goes_on;
    if (goes_on && !is_last && at + 1 == begun) begin_next();
  }
  return done;
}

bool InnerSteps::is_of_whole_card(const StepOf& step_of) const {
  const std::vector<int> held = world_.replicas.arena.held().replicas();
  const int step = step_of[as_index(held.front())];
  return std::all_of(held.begin(), held.end(), [&](int replica) {
    return step > 0 && step_of[as_index(replica)] == step && optimizer_.taken[as_index(replica)] == step - 1;
  });
}

void InnerSteps::begin_on_card(const StepOf& step_of, bool optimizes) {
  const RowBlock held = world_.replicas.arena.held();
  const auto step_or_first = [&](int replica) { return std::max(1, step_of[as_index(replica)]); };
  std::vector<Batch> batches(as_index(held.size()));
  world_.replicas.backend.for_each(held.size(), [&](int at) {
    const int replica = held.first + at;
    batches[as_index(at)] =
        training_batch(world_.data.training, train_, world_.config.seed, replica, step_or_first(replica));
  });
  std::vector<std::vector<Route>> paths;
  for (int m = 0; is_composed(world_.plan.pipeline) && m < world_.plan.pipeline.microbatches; ++m) {
    std::map<int, std::vector<Route>> at_step;
    paths.emplace_back();
    for (int replica = 0; replica < world_.config.replicas; ++replica) {
      const int step = step_or_first(replica);
      if (at_step.count(step) == 0) at_step[step] = paths_at(step, m);
      paths.back().push_back(at_step[step][as_index(replica)]);
    }
  }
  std::optional<Accelerator::Optimizing> optimizing;
  if (optimizes) {
    const int step = step_of[as_index(held.first)];
    optimizing = Accelerator::Optimizing{learning_rate(train_.optimizer, step, train_.steps), step};
    for (const int replica : held.replicas()) ++optimizer_.taken[as_index(replica)];
  }
  accelerator_->begin(batches, paths, optimizing);
}

void InnerSteps::finish_on_card(const StepOf& step_of) {
  const RowBlock held = world_.replicas.arena.held();
  std::vector<double> losses = results_.losses;
  std::fill(results_.seconds.begin(), results_.seconds.end(), 0);
  const double seconds = accelerator_->finish(losses);
  for (double& of_replica : results_.seconds) of_replica += seconds / held.size();
  for (const int replica : held.replicas())
    if (const int step = step_of[as_index(replica)]; step > 0) {
      results_.losses[as_index(replica)] = losses[as_index(replica)];
      if (world_.replicas.ranks.size() == 1) check_loss(step, replica, results_.losses[as_index(replica)]);
    }
}

// Rows that are not alike go through host memory.
void InnerSteps::optimize_on_card(const StepOf& step_of) {
  const std::vector<int> held = world_.replicas.arena.held().replicas();
  double seconds = 0;
  {
    const Stopwatch watch(seconds);
    const bool is_whole = is_of_whole_card(step_of);
    const int step = step_of[as_index(held.front())];
    bool is_taken = false;
    if (world_.update.has_own_optimizer() || !is_whole)
      accelerator_->on_host([&] {
        for (const int replica : held) {
          const int own = step_of[as_index(replica)];
          if (!is_whole && own > 0) optimizer_.step(own, replica);
          if (is_whole)
            is_taken = world_.update.optimize(optimizer_.facts(step, step), replica, world_.replicas.arena);
        }
      });
    if (is_whole && !is_taken)
      accelerator_->optimize(learning_rate(train_.optimizer, step, train_.steps), step);
    for (const int replica : held) optimizer_.taken[as_index(replica)] += is_whole;
  }
  for (double& of_replica : results_.seconds) of_replica += seconds / static_cast<double>(held.size());
}

void InnerSteps::prepare(const Round& round) {
  const auto prepare = [&] {
    for_each_held([&](int replica) {
      for (const journal::Compute& entry : round.computes)
        if (is_in(entry.replicas, replica)) optimizer_.prepare(entry.last, replica);
    });
  };
  accelerator_ ? accelerator_->on_host(prepare) : prepare();
}

void InnerSteps::optimize(const journal::Optimize& entry) {
  optimizer_.count_elsewhere(entry.replicas, 1);
  if (accelerator_) return optimize_on_card(step_of(entry.replicas, entry.step));
  optimize(entry.replicas, entry.step);
}

void InnerSteps::optimize(const std::vector<int>& replicas, int step) {
  for_each_held([&](int replica) {
    if (is_in(replicas, replica)) optimize(step, replica, results_.seconds[as_index(replica)]);
  });
}

void InnerSteps::optimize(int step, int replica, double& seconds) {
  const Stopwatch watch(seconds);
  optimizer_.step(step, replica);
}

void InnerSteps::check_loss(int step, int replica, double loss) const {
  if (!std::isfinite(loss))
    throw RunError(
        "step " + std::to_string(step) + ": the loss of replica " + std::to_string(replica) +
        " is not finite: the training diverged (a lower learning rate, more warm-up or clipping may help); "
        "the checkpoint before it is of step " +
        std::to_string(world_.saved_step));
}

}  // namespace longhaul
