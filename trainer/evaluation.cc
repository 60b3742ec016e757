#include "trainer/evaluation.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/errors.h"
#include "core/base/index.h"
#include "trainer/model/cpu_decoder.h"
#include "trainer/weight_spread.h"

namespace longhaul {
namespace {

void check_finite(const Evaluation& evaluation) {
  for (std::size_t r = 0; r < evaluation.losses.size(); ++r)
    if (!std::isfinite(evaluation.losses[r]))
      throw RunError(
          "step " + std::to_string(evaluation.step) + ": the validation loss of replica " +
          std::to_string(evaluation.replicas[r]) +
          " is not finite: the training diverged (a lower learning rate, more warm-up or clipping may help)");
}

// −log of the mean over replicas of p, from −log p of each.
double ensemble_of(const std::vector<double>& losses) {
  const double least = *std::min_element(losses.begin(), losses.end());
  double sum = 0;
  for (const double loss : losses) sum += std::exp(least - loss);
  return least - std::log(sum / static_cast<double>(losses.size()));
}

}  // namespace

double Evaluation::mean_loss() const {
  return std::accumulate(losses.begin(), losses.end(), 0.) / static_cast<double>(losses.size());
}

Json to_json(const Evaluation& evaluation) {
  return {{"step", evaluation.step},
          {"phase", evaluation.phase},
          {"replicas", evaluation.replicas},
          {"losses", evaluation.losses},
          {"loss_of_mean", evaluation.loss_of_mean},
          {"weight_spread", evaluation.weight_spread},
          {"sampling_error", evaluation.sampling_error ? Json(*evaluation.sampling_error) : Json()}};
}

Evaluation evaluation_from(const Json& json) {
  Evaluation evaluation;
  evaluation.step = json.at("step");
  evaluation.phase = json.at("phase").get<std::string>();
  evaluation.losses = json.at("losses").get<std::vector<double>>();
  evaluation.replicas = json.at("replicas").get<std::vector<int>>();
  evaluation.loss_of_mean = json.at("loss_of_mean");
  evaluation.weight_spread = json.at("weight_spread");
  if (!json.at("sampling_error").is_null()) evaluation.sampling_error = json["sampling_error"].get<double>();
  return evaluation;
}

Evaluator::Evaluator(const Decoder& decoder, std::vector<Batch> validation, bool is_sample,
                     const Arena& arena, Backend& backend, Ranks& ranks, Slot weights)
    : decoder_(decoder),
      validation_(std::move(validation)),
      is_sample_(is_sample),
      arena_(arena),
      backend_(backend),
      ranks_(ranks),
      weights_(weights),
      mean_(as_index(arena.parameters())) {}

Evaluation Evaluator::evaluate(int step, const std::string& phase, const std::vector<int>& replicas,
                               bool is_on_host) {
  RowsOnCard* const card = card_;
  if (is_on_host) card_ = nullptr;
  Evaluation evaluation;
  evaluation.step = step;
  evaluation.phase = phase;
  evaluation.replicas = replicas;
  // The same weights have the same loss, if what passes between their parts has the same format.
  if (!boundaries_of_ && are_equal(replicas)) {
    const std::vector<double> partial = batch_losses_of({{mean_.data(), kEveryone, replicas.front()}});
    evaluation.loss_of_mean = losses_of_rows(partial)[0];
    evaluation.losses.assign(replicas.size(), evaluation.loss_of_mean);
    evaluation.sampling_error = sampling_error(partial, 1);
  } else {
    evaluation.weight_spread = find_mean(replicas);
    std::vector<Row> rows;
    for (const int replica : replicas) rows.push_back(row_of(replica));
    rows.push_back({mean_.data(), kEveryone});
    const std::vector<double> partial = batch_losses_of(rows);
    evaluation.losses = losses_of_rows(partial);
    evaluation.sampling_error = sampling_error(partial, replicas.size());
    evaluation.loss_of_mean = evaluation.losses.back();
    evaluation.losses.pop_back();
  }
  card_ = card;
  check_finite(evaluation);
  return evaluation;
}

bool Evaluator::are_equal(const std::vector<int>& replicas) {
  return card_ && ranks_.size() == 1 ? card_->are_equal(weights_)
                                     : rows_are_equal(ranks_, arena_, weights_, replicas, mean_.data());
}

double Evaluator::find_mean(const std::vector<int>& replicas) {
  if (card_ && ranks_.size() == 1) return card_->spread(weights_);
  const double spread = weight_spread(ranks_, arena_, weights_, replicas, backend_, mean_.data());
  if (card_) card_->set_mean(mean_.data());
  return spread;
}

double Evaluator::ensemble_loss(const ModelShape& shape, const std::vector<int>& replicas,
                                const Boundaries& boundaries) const {
  const CpuDecoder decoder(shape, boundaries);
  const RowBlock held = arena_.held();
  double total = 0;
  std::size_t tokens = 0;
  for (const Batch& batch : validation_) {
    const std::size_t count = as_index(batch.sequences) * as_index(shape.context);
    std::vector<double> mine(as_index(held.size()) * count);  // of who is not asked for zeros
    backend_.for_each(held.size(), [&](int at) {
      const int replica = held.first + at;
      if (!std::binary_search(replicas.begin(), replicas.end(), replica)) return;
      const std::vector<double> losses = decoder.token_losses(
          arena_.row(weights_, replica), batch, boundaries_of_ ? boundaries_of_(replica) : boundaries);
      std::copy(losses.begin(), losses.end(),
                mine.begin() + static_cast<std::ptrdiff_t>(as_index(at) * count));
    });
    const std::vector<double> all = gather(ranks_, mine);  // in the order of the replicas
    std::vector<double> of_token(replicas.size());
    for (std::size_t token = 0; token < count; ++token) {
      for (std::size_t at = 0; at < of_token.size(); ++at)
        of_token[at] = all[as_index(replicas[at]) * count + token];
      total += ensemble_of(of_token);
    }
    tokens += count;
  }
  return total / static_cast<double>(tokens);
}

Evaluator::Row Evaluator::row_of(int replica) const {
  return {arena_.held().contains(replica) ? arena_.row(weights_, replica) : nullptr,
          holder_of(ranks_, arena_.replicas(), replica), replica};
}

double Evaluator::loss_of(const Row& row, const Batch& batch) const {
  if (!boundaries_of_) return decoder_.loss(row.weights, batch);
  return decoder_.loss(row.weights, batch, boundaries_of_(row.replica));
}

int Evaluator::worker(const Row& row, std::size_t batch) const {
  return row.holder == kEveryone ? static_cast<int>(batch % as_index(ranks_.size())) : row.holder;
}

std::vector<double> Evaluator::batch_losses_of(const std::vector<Row>& rows) const {
  const std::size_t batches = validation_.size();
  std::vector<std::vector<std::size_t>> tasks(as_index(ranks_.size()));  // by worker
  for (std::size_t task = 0; task < rows.size() * batches; ++task)
    tasks[as_index(worker(rows[task / batches], task % batches))].push_back(task);
  std::size_t most = 0;
  for (const auto& of_rank : tasks) most = std::max(most, of_rank.size());

  std::vector<double> mine(most);
  const std::vector<std::size_t>& my_tasks = tasks[as_index(ranks_.rank())];
  if (card_)
    losses_on_card(rows, my_tasks, mine);
  else
    backend_.for_each(static_cast<int>(my_tasks.size()), [&](int at) {
      const std::size_t task = my_tasks[as_index(at)];
      mine[as_index(at)] = loss_of(rows[task / batches], validation_[task % batches]);
    });
  const std::vector<double> all = gather(ranks_, mine);
  std::vector<double> partial(rows.size() * batches);
  for (std::size_t rank = 0; rank < tasks.size(); ++rank)
    for (std::size_t i = 0; i < tasks[rank].size(); ++i) partial[tasks[rank][i]] = all[rank * most + i];

  return partial;
}

// Rows that are held here with all batches at once; of the row that every rank has, this rank's batches.
void Evaluator::losses_on_card(const std::vector<Row>& rows, const std::vector<std::size_t>& tasks,
                               std::vector<double>& losses) const {
  const std::size_t batches = validation_.size(), held = as_index(arena_.held().size());
  std::vector<std::size_t> all(batches), shared;
  std::iota(all.begin(), all.end(), std::size_t{0});
  std::vector<double> each;
  for (std::size_t at = 0; at < tasks.size(); ++at) {
    const Row& row = rows[tasks[at] / batches];
    const std::size_t batch = tasks[at] % batches;
    if (row.holder == kEveryone) {
      shared.push_back(batch);
      continue;
    }
    if (each.empty()) each = card_->losses(weights_, RowsOnCard::Of::kEach, all);
    losses[at] = each[batch * held + as_index(row.replica - arena_.held().first)];
  }
  // It is the last of the rows.
  const auto of = rows.back().replica < 0 ? RowsOnCard::Of::kMean : RowsOnCard::Of::kFirst;
  const std::vector<double> of_shared = card_->losses(weights_, of, shared);
  std::copy(of_shared.begin(), of_shared.end(),
            losses.begin() + static_cast<std::ptrdiff_t>(tasks.size() - shared.size()));
}

std::vector<double> Evaluator::losses_of_rows(const std::vector<double>& partial) const {
  const std::size_t batches = validation_.size();
  std::vector<double> losses(partial.size() / batches);
  double sequences = 0;
  for (const Batch& batch : validation_) sequences += batch.sequences;
  for (std::size_t at = 0; at < partial.size(); ++at)
    losses[at / batches] += partial[at] * validation_[at % batches].sequences / sequences;
  return losses;
}

// A last batch that is smaller than the others is left out of the spread, not of the loss.
std::optional<double> Evaluator::sampling_error(const std::vector<double>& partial, std::size_t rows) const {
  const std::size_t batches = validation_.size();
  const std::size_t whole =
      validation_.back().sequences == validation_.front().sequences ? batches : batches - 1;
  if (!is_sample_ || whole < 2) return std::nullopt;
  double sum = 0, squares = 0;
  for (std::size_t batch = 0; batch < whole; ++batch) {
    double mean = 0;
    for (std::size_t row = 0; row < rows; ++row) mean += partial[row * batches + batch];
    mean /= static_cast<double>(rows);
    sum += mean;
    squares += mean * mean;
  }
  const double n = static_cast<double>(whole), variance = (squares - sum * sum / n) / (n - 1);
  return std::sqrt(std::max(0., variance) / n);
}

}  // namespace longhaul
