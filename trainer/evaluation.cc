#include "trainer/evaluation.h"

#include <cmath>
#include <numeric>

#include "core/errors.h"
#include "trainer/replicas/spread.h"

namespace longhaul {
namespace {

void check_finite(const Evaluation& evaluation) {
  for (std::size_t r = 0; r < evaluation.losses.size(); ++r)
    if (!std::isfinite(evaluation.losses[r]))
      throw RunError(
          "step " + std::to_string(evaluation.step) + ": the validation loss of replica " +
          std::to_string(r) +
          " is not finite: the training diverged (a lower learning rate, more warm-up or clipping may help)");
}

}  // namespace

double Evaluation::mean_loss() const {
  return std::accumulate(losses.begin(), losses.end(), 0.) / static_cast<double>(losses.size());
}

Evaluator::Evaluator(const Decoder& decoder, std::vector<Batch> validation, const Arena& arena,
                     Backend& backend)
    : decoder_(decoder),
      validation_(std::move(validation)),
      arena_(arena),
      backend_(backend),
      mean_(static_cast<std::size_t>(arena.parameters())) {}

Evaluation Evaluator::evaluate(int step, const std::string& phase) {
  Evaluation evaluation;
  evaluation.step = step;
  evaluation.phase = phase;
  const auto replicas = static_cast<std::size_t>(arena_.replicas());
  if (rows_are_equal(arena_, Slot::kWeights)) {  // the same weights have the same loss
    evaluation.loss_of_mean = losses_of({arena_.row(Slot::kWeights, 0)})[0];
    evaluation.losses.assign(replicas, evaluation.loss_of_mean);
  } else {
    evaluation.weight_spread = weight_spread(arena_, Slot::kWeights, backend_, mean_.data());
    std::vector<const float*> rows;
    for (int r = 0; r < arena_.replicas(); ++r) rows.push_back(arena_.row(Slot::kWeights, r));
    rows.push_back(mean_.data());
    evaluation.losses = losses_of(rows);
    evaluation.loss_of_mean = evaluation.losses.back();
    evaluation.losses.pop_back();
  }
  check_finite(evaluation);
  return evaluation;
}

std::vector<double> Evaluator::losses_of(const std::vector<const float*>& rows) const {
  const std::size_t batches = validation_.size();
  std::vector<double> partial(rows.size() * batches);
  backend_.for_each(static_cast<int>(partial.size()), [&](int task) {
    const auto at = static_cast<std::size_t>(task);
    partial[at] = decoder_.loss(rows[at / batches], validation_[at % batches]);
  });
  std::vector<double> losses(rows.size());
  double sequences = 0;
  for (const Batch& batch : validation_) sequences += batch.sequences;
  for (std::size_t at = 0; at < partial.size(); ++at)
    losses[at / batches] += partial[at] * validation_[at % batches].sequences / sequences;
  return losses;
}

}  // namespace longhaul
