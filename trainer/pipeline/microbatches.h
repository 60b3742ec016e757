// The micro-batches of a step: the sequences of each, the row of weights that its path comes to, and the rows
// that its gradient goes into. A replica's batch is cut into M equal micro-batches, and its loss is the mean
// of theirs. Along a path (core/plan/pipeline.h) each part of the model is another replica's, so that a
// gradient reaches exactly the columns of the replicas that the path visited:
//
//   g_r[part] = 1/M · the sum over m of dL_m/dθ_r[part], L_m: the micro-batch m that passes replica r there
//
// A part that a path leaves out has all weights 0 in the row: then it adds 0 to the stream of activations,
// and 0 to the gradient of what came in. One that works in its neighbour's place has its weights there.
//
// Numbers are float in a training; the tests check the gradient in double too.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "core/base/index.h"
#include "core/base/pool.h"
#include "core/plan/paths.h"
#include "trainer/device/host_device.h"
#include "trainer/model/decoder.h"

namespace longhaul {

// Sequences [m · B/M, (m + 1) · B/M) of a batch of B; M divides B.
inline Batch microbatch_of(const Batch& batch, int microbatch, int microbatches) {
  const auto size = static_cast<std::ptrdiff_t>(batch.tokens.size()) / microbatches;
  const auto begin = batch.tokens.begin() + microbatch * size;
  return {batch.sequences / microbatches, {begin, begin + size}};
}

// Whether a micro-batch may pass parts of other replicas than its own.
inline bool leaves_home(const PipelinePlan& plan) {
  return plan.routing == MicrobatchRouting::kRandom && plan.part_count() > 1;
}

// Whether what a micro-batch meets may be another row than its replica's.
inline bool is_composed(const PipelinePlan& plan) {
  return leaves_home(plan) || plan.is_partial();
}

// A gradient's element after one more micro-batch, which counts `share`; the first one overwrites it.
template <typename Number>
LONGHAUL_HOST_DEVICE Number with_microbatch(Number sum, Number number, Number share, bool is_first) {
  return is_first ? share * number : sum + share * number;
}

// Rows [columns] of replicas `first`, `first` + 1, …, one behind another.
template <typename Number>
struct ReplicaRows {
  Number* table;
  int first;
  std::int64_t columns;

  Number* row(int replica) const { return table + (replica - first) * columns; }
  ReplicaRows<const Number> read_only() const { return {table, first, columns}; }
};

// Before the first micro-batch of a step, where some leave parts out: each then adds to what is there.
template <typename Number>
void clear_for_partial(const PipelinePlan& plan, std::int64_t columns, Number* gradient) {
  if (plan.is_partial()) std::fill_n(gradient, columns, Number{0});
}

// out [P] ← the weights that a micro-batch on this path meets.
template <typename Number>
void gather_along(const PipelinePlan& plan, const Route& path, const ReplicaRows<const Number>& weights,
                  Number* out) {
  for (std::size_t place = 0; place < path.size(); ++place) {
    const ColumnRange& columns = plan.parts[place].columns;
    if (const Stop& stop = path[place]; stop.is_there())
      std::copy_n(weights.row(stop.replica) + plan.parts[as_index(stop.part)].columns.begin, columns.size(),
                  out + columns.begin);
    else
      std::fill_n(out + columns.begin, columns.size(), Number{0});
  }
}

// The way back: `gradient` [P] of micro-batch `microbatch` into the rows of the replicas on its path.
template <typename Number>
void scatter_along(const PipelinePlan& plan, const Route& path, int microbatch, const Number* gradient,
                   const ReplicaRows<Number>& gradients) {
  const Number share = Number{1} / static_cast<Number>(plan.microbatches);
  const bool is_first = microbatch == 0 && !plan.is_partial();
  for (std::size_t place = 0; place < path.size(); ++place) {
    const Stop& stop = path[place];
    if (!stop.is_there()) continue;
    const ColumnRange& columns = plan.parts[place].columns;
    Number* to = gradients.row(stop.replica) + plan.parts[as_index(stop.part)].columns.begin;
    for (std::int64_t i = 0; i < columns.size(); ++i)
      to[i] = with_microbatch(to[i], gradient[columns.begin + i], share, is_first);
  }
}

// Takes the micro-batches of all replicas through the model, one at a time. Those of one number m share
// nothing that they write and may be taken in any order, by several threads; those of m + 1 come after all of
// m, where paths leave home.
template <typename Number>
class MicrobatchPass {
 public:
  // The mean loss of a batch; overwrites `gradient` [P].
  using Decode = std::function<double(const Number* weights, Number* gradient, const Batch& batch)>;

  // `plan` must outlive it.
  MicrobatchPass(const PipelinePlan& plan, std::int64_t parameters, Decode decode)
      : plan_(plan), parameters_(parameters), decode_(std::move(decode)) {}

  // Micro-batch `microbatch` of `batch`, that of the replica where `path` begins. Returns its loss.
  double run(const Route& path, int microbatch, const Batch& batch, const ReplicaRows<const Number>& weights,
             const ReplicaRows<Number>& gradients) const {
    if (plan_.microbatches == 1) return run_one(path, 0, batch, weights, gradients);
    return run_one(path, microbatch, microbatch_of(batch, microbatch, plan_.microbatches), weights,
                   gradients);
  }

 private:
  using Row = typename Pool<std::vector<Number>>::Lent;

  double run_one(const Route& path, int microbatch, const Batch& batch,
                 const ReplicaRows<const Number>& weights, const ReplicaRows<Number>& gradients) const {
    const int home = path.front().replica;
    const bool stays = !plan_.is_partial() && std::all_of(path.begin(), path.end(), [&](const Stop& stop) {
      return stop.replica == home;
    });
    if (stays && plan_.microbatches == 1) return decode_(weights.row(home), gradients.row(home), batch);
    Row gradient(rows_);
    gradient->resize(as_index(parameters_));
    double loss = 0;
    if (stays) {
      loss = decode_(weights.row(home), gradient->data(), batch);
    } else {
      Row composed(rows_);
      composed->resize(as_index(parameters_));
      gather_along(plan_, path, weights, composed->data());
      loss = decode_(composed->data(), gradient->data(), batch);
    }
    scatter_along(plan_, path, microbatch, gradient->data(), gradients);
    return loss;
  }

  const PipelinePlan& plan_;
  std::int64_t parameters_;
  Decode decode_;
  mutable Pool<std::vector<Number>> rows_;  // [P] each
};

}  // namespace longhaul
