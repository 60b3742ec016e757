// One evaluation: every replica's loss on the validation sequences, the loss of the averaged weights, and how
// far the replicas are apart.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "trainer/cuda/accelerator.h"
#include "trainer/model/boundaries.h"
#include "trainer/model/decoder.h"
#include "trainer/ranks/ranks.h"
#include "trainer/replicas/arena.h"
#include "trainer/replicas/backend.h"

namespace longhaul {

struct Evaluation {
  int step = 0;
  std::string phase;           // plain; before or after an outer step
  std::vector<int> replicas;   // that were evaluated, ascending
  std::vector<double> losses;  // of these; nats per token
  double loss_of_mean = 0;     // of mean θ
  // Standard error of mean_loss() as an estimate of the loss on the whole held-out part: from the spread of
  // the means of its batches of kValidationBatch windows; none with fewer than two whole batches, and none
  // where the whole part is evaluated. It is of a single loss: methods, replicas and seeds are judged on the
  // same windows, so that most of it cancels between them.
  std::optional<double> sampling_error;
  double weight_spread = 0;  // weight_spread.h

  double mean_loss() const;
};

// As a checkpoint keeps it, and back.
Json to_json(const Evaluation& evaluation);
Evaluation evaluation_from(const Json& json);

class Evaluator {
 public:
  // `validation` is evaluated batch by batch; the mean over all its tokens counts. `is_sample`: it is a part
  // of what could be evaluated. `weights`: the table whose rows are evaluated.
  Evaluator(const Decoder& decoder, std::vector<Batch> validation, bool is_sample, const Arena& arena,
            Backend& backend, Ranks& ranks = one_rank(), Slot weights = Slot::kWeights);

  // Of the mean of the replicas' predicted probabilities, a token at a time (Branch-Train-Merge, arXiv
  // 2208.03306); `replicas` as in evaluate(). In float32 on the host, wherever they train. The same on all
  // ranks.
  double ensemble_loss(const ModelShape& shape, const std::vector<int>& replicas,
                       const Boundaries& boundaries = {}) const;

  // What passes between parts depends on the replica; less than 0: of the mean of all. One rank alone.
  using BoundariesOf = std::function<Boundaries(int replica)>;
  void use_boundaries(BoundariesOf boundaries_of) { boundaries_of_ = std::move(boundaries_of); }

  const std::vector<Batch>& validation() const { return validation_; }
  // Rows that are at work on a card are evaluated there: all replicas. Where there are several ranks the mean
  // and the spread are still made of the rows in host memory, which have to be brought there before.
  void use_card(RowsOnCard& rows) { card_ = &rows; }

  // Of the replicas, ascending. The same on all ranks. `is_on_host`: of the arena's rows, although others may
  // be at work on a card. Throws RunError that names step and replica for a loss that is not finite.
  Evaluation evaluate(int step, const std::string& phase, const std::vector<int>& replicas,
                      bool is_on_host = false);

 private:
  // Weights [P] of which a loss is wanted.
  struct Row {
    const float* weights;  // null where the row is elsewhere
    int holder;            // the rank that has it; kEveryone: each has it, and they share its batches
    int replica = -1;      // less than 0: the mean of all
  };
  static constexpr int kEveryone = -1;

  // The mean loss of each batch for each row [rows, batches]; the pairs are spread over the ranks and their
  // back-ends.
  std::vector<double> batch_losses_of(const std::vector<Row>& rows) const;
  // Of those, the loss of each row.
  std::vector<double> losses_of_rows(const std::vector<double>& partial) const;
  std::optional<double> sampling_error(const std::vector<double>& partial, std::size_t rows) const;
  bool are_equal(const std::vector<int>& replicas);    // then mean_ is their row
  double find_mean(const std::vector<int>& replicas);  // returns the spread
  void losses_on_card(const std::vector<Row>& rows, const std::vector<std::size_t>& tasks,
                      std::vector<double>& losses) const;
  Row row_of(int replica) const;
  int worker(const Row& row, std::size_t batch) const;
  double loss_of(const Row& row, const Batch& batch) const;

  const Decoder& decoder_;
  std::vector<Batch> validation_;
  bool is_sample_;
  const Arena& arena_;
  Backend& backend_;
  Ranks& ranks_;
  Slot weights_;
  std::vector<float> mean_;
  BoundariesOf boundaries_of_;  // empty: the decoder's own
  RowsOnCard* card_ = nullptr;  // null: all is done on the host
};

}  // namespace longhaul
