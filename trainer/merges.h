// The merges of a synchronizer (OperationKind::kMerge) on the rows of the replicas, each of which is at a
// step of its own: who contributed to which merge, after which step, and when it took up the result, is the
// journal's (core/plan/journal.h), as are the shares.
//
// A contribution weighs tokens²/steps of what its replica has trained since the one before of the same
// fragment that was merged (arXiv 2604.21428; batches are equally long, so that is in proportion to steps):
//
//   w_i = steps_i / Σ steps_j;   Δ̄ = Σ w_i Δ_i, or radial_directional_mean() of each tensor but embeddings
//
// As published (Update::averages_directions) Δ_i is θ_i less the synchronizer's φ; else less the φ that the
// replica took up last, which is another where merges were made without it. A replica that came back with
// the state of another has in its Δ its own steps since then, and those of the other since what that one had
// contributed before.
//
// Where all shares are equal that is computed as the mean of an all-reduce is, to the bit.
//
// Each process has the synchronizer's model, and makes every merge; contributions travel to all of them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/index.h"
#include "core/plan/journal.h"
#include "trainer/checkpoint/training_state.h"
#include "trainer/codecs/message.h"
#include "trainer/operations/update.h"

namespace longhaul {

// (Σ w_i ‖v_i‖) · d / ‖d‖ with d = Σ w_i v_i / ‖v_i‖ of rows of equal length and weights that add up to one:
// as long as its rows are, whatever their number, where the plain mean of orthogonal ones shrinks with its
// root. A row of zeros has no direction, and a length of zero. Where the directions cancel it is the plain
// mean.
std::vector<float> radial_directional_mean(const std::vector<std::vector<float>>& rows,
                                           const std::vector<float>& weights);

class Merges {
 public:
  // All must outlive it. The synchronizer's model is that which all replicas begin with; `layout` is of its
  // tensors.
  Merges(const OperationPlan& plan, const PlanContext& context, const std::vector<Parameter>& layout,
         const Update& update, Replicas& replicas);

  // The synchronizer's model and momentum [parameters] are these, instead of what the replicas begin with.
  void begin_with(const float* phi, const float* momentum);
  const std::vector<float>& momentum() const { return momentum_; }

  // All of them on all ranks.
  void contribute(const journal::Contribute& entry);
  void make(const journal::MakeMerge& entry);
  void take_up(const journal::TakeUp& entry);

  // What a checkpoint keeps besides the tables of the arena, and back.
  Json state() const;
  std::vector<TensorView> tensors() const;
  void restore(const Json& state, CheckpointTensors& tensors);

 private:
  struct Posted {  // of a merge that is not made
    int rule = 0, step = 0;
    // Elsewhere than where the replica is held both are empty until the merge is made.
    Message message = {};
    std::vector<float> anchor = {};  // what Δ is a difference from, where directions are averaged
  };
  struct Result {  // of a merge that some have still to take up
    int rule = 0, takers = 0;
    std::vector<float> phi;
  };
  using Place = std::pair<std::size_t, int>;  // merge, replica

  const OperationRule& rule_of(int rule) const { return plan_.rules[as_index(rule)]; }
  Columns columns_of(int rule) const;
  std::vector<Parameter> tensors_of(int rule) const;  // none where directions are not averaged
  MessageFormat format_of(int rule, int post_step) const;
  bool is_here(int replica) const { return replicas_.arena.held().contains(replica); }
  void fetch(Posted& posted, int replica);  // of another rank, or to the others
  std::int64_t size_of(int rule) const { return column_count(columns_of(rule), context_.parameters); }
  void average(const journal::MakeMerge& entry, const std::vector<const Message*>& messages);
  void average_directions(const journal::MakeMerge& entry, const Parameter& tensor);

  const OperationPlan& plan_;
  const PlanContext& context_;
  const std::vector<Parameter> layout_;
  const Update& update_;
  Replicas& replicas_;
  std::vector<float> phi_, momentum_;  // the synchronizer's
  std::map<Place, Posted> posted_;
  std::map<std::size_t, Result> results_;  // by merge
};

}  // namespace longhaul
