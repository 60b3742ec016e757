// The inner steps of a training on each back-end: losses, gradients, clip and optimizer of the replicas held
// here.
#include <algorithm>
#include <chrono>
#include <cmath>

#include "core/child_main.h"
#include "core/errors.h"
#include "core/index.h"
#include "trainer/data/dataset.h"
#include "trainer/optimizer/muon.h"
#include "trainer/training.h"

namespace longhaul {
namespace {

// Adds the wall time of its life to `seconds`.
class Stopwatch {
 public:
  explicit Stopwatch(double& seconds) : seconds_(seconds), start_(Clock::now()) {}
  ~Stopwatch() { seconds_ += std::chrono::duration<double>(Clock::now() - start_).count(); }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  double& seconds_;
  Clock::time_point start_;
};

// Losses and times of so many steps wait for the slowest replica.
constexpr int kMostStepsAlone = 64;

}  // namespace

int Training::inner_steps(int first) {
  if (accelerator_ || stacked_) {
    accelerator_ ? compute_on_gpu(first) : compute_stacked(first);
    if (!meet_after(first)) finish_step(first);
    return first;
  }
  int last = first;
  if (ranks_.size() == 1)
    while (!meet_after(last) && last - first + 1 < kMostStepsAlone) ++last;
  struct Results {
    std::vector<double> losses, seconds;
  };
  std::vector<Results> results(as_index(last - first + 1), {losses_, std::vector<double>(seconds_.size())});
  const RowBlock held = arena_.held();
  int done = first;
  backend_->for_each_round(
      held.size(), last - first + 1,
      [&](int round, int at) {
        Results& of_step = results[as_index(round)];
        const auto replica = as_index(held.first + at);
        inner_step(first + round, held.first + at, of_step.losses[replica], of_step.seconds[replica]);
      },
      [&](int round) {
        done = first + round;
        losses_ = results[as_index(round)].losses;
        seconds_ = results[as_index(round)].seconds;
        meet_ranks();
        check_losses(done);
        if (meet_after(done)) return true;
        finish_step(done);
        return !interrupted();
      });
  return done;
}

void Training::inner_step(int step, int replica, double& loss, double& seconds) {
  {
    const Stopwatch watch(seconds);
    const Batch batch = training_batch(data_.training, train_, case_.seed, replica, step);
    loss = decoder_.loss_and_gradient(arena_.row(Slot::kWeights, replica),
                                      arena_.row(Slot::kGradient, replica), batch);
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

// A part of the replicas for each thread; a part's wall time is shared out evenly.
void Training::compute_stacked(int step) {
  std::fill(seconds_.begin(), seconds_.end(), 0);
  const RowBlock held = arena_.held();
  const int parts = std::min(backend_->threads(), held.size());
  backend_->for_each(parts, [&](int part) {
    const int first = held.first + held.size() * part / parts,
              end = held.first + held.size() * (part + 1) / parts;
    double seconds = 0;
    {
      const Stopwatch watch(seconds);
      std::vector<std::int64_t> tokens;
      for (int r = first; r < end; ++r) {
        const Batch batch = training_batch(data_.training, train_, case_.seed, r, step);
        tokens.insert(tokens.end(), batch.tokens.begin(), batch.tokens.end());
      }
      stacked_->run({arena_.row(Slot::kWeights, first), arena_.row(Slot::kGradient, first), tokens.data(),
                     std::int64_t{train_.batch} * (train_.model.context + 1), &losses_[as_index(first)],
                     end - first, train_.batch});
    }
    for (int r = first; r < end; ++r) {
      seconds_[as_index(r)] += seconds / (end - first);
      if (!exchanges_gradients_) optimize(step, r, seconds_[as_index(r)]);
    }
  });
  meet_ranks();
  check_losses(step);
}

void Training::compute_on_gpu(int step) {
  std::fill(seconds_.begin(), seconds_.end(), 0);
  const RowBlock held = arena_.held();
  double seconds = 0;
  {
    const Stopwatch watch(seconds);
    std::vector<Batch> batches(as_index(held.size()));
    backend_->for_each(held.size(), [&](int at) {
      batches[as_index(at)] = training_batch(data_.training, train_, case_.seed, held.first + at, step);
    });
    accelerator_->gradients(batches, losses_);
  }
  for (double& of_replica : seconds_) of_replica += seconds / held.size();
  if (!exchanges_gradients_) optimize_on_gpu(step);
  meet_ranks();
  check_losses(step);
}

void Training::optimize_on_gpu(int step) {
  double seconds = 0;
  {
    const Stopwatch watch(seconds);
    bool is_taken = false;
    if (update_->has_own_optimizer())
      accelerator_->on_host([&] {
        for (int replica = arena_.held().first; replica < arena_.held().end; ++replica)
          is_taken = update_->optimize(inner_step_facts(step), replica, arena_);
      });
    if (!is_taken) accelerator_->optimize(learning_rate(train_.optimizer, step, train_.steps), step);
  }
  for (double& of_replica : seconds_) of_replica += seconds / arena_.held().size();
}

void Training::optimize(int step, int replica, double& seconds) {
  const Stopwatch watch(seconds);
  if (update_->has_own_optimizer() && update_->optimize(inner_step_facts(step), replica, arena_)) return;
  const AdamwRows rows{arena_.row(Slot::kWeights, replica), arena_.row(Slot::kGradient, replica),
                       arena_.row(Slot::kFirstMoment, replica), arena_.row(Slot::kSecondMoment, replica)};
  const double scale = clip_factor(row_norm(rows.gradient, arena_.parameters()), train_.optimizer.clip);
  const double lr = learning_rate(train_.optimizer, step, train_.steps);
  adamw_step(train_.optimizer, lr, step, scale, decay_, rows);
  muon_step(train_.optimizer, lr, scale, muon_, {rows.weights, rows.gradient, rows.first_moment});
}

void Training::check_losses(int step) const {
  for (std::size_t r = 0; r < losses_.size(); ++r)
    if (!std::isfinite(losses_[r]))
      throw RunError(
          "step " + std::to_string(step) + ": the loss of replica " + std::to_string(r) +
          " is not finite: the training diverged (a lower learning rate, more warm-up or clipping may help); "
          "the checkpoint before it is of step " +
          std::to_string(saved_step_));
}

}  // namespace longhaul
