// The merges of a synchronizer (OperationKind::kMerge, core/plan/schedule.h) on the rows of the replicas,
// each of which is at a step of its own: who contributed to which merge, after which step, and when it took
// up the result, is the schedule's.
//
// A contribution weighs tokens²/steps of what its replica has trained since the one before of the same
// fragment that was merged (arXiv 2604.21428; batches are equally long, so that is in proportion to steps):
//
//   w_i = steps_i / Σ steps_j;   Δ̄ = Σ w_i Δ_i, or radial_directional_mean() of each tensor but embeddings
//
// As published (Update::averages_directions) Δ_i is θ_i less the synchronizer's φ; else less the φ that the
// replica took up last, which is another where merges were made without it.
//
// Of one that came back with the state of another, the steps that are in its Δ: its own since then, and those
// of the other since what that one had contributed before.
//
// Where all are equal that is computed as the mean of an all-reduce is, to the bit.
//
// One process holds all replicas.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "core/plan/schedule.h"
#include "trainer/checkpoint/safetensors.h"
#include "trainer/codecs/message.h"
#include "trainer/operations/update.h"

namespace longhaul {

// (Σ w_i ‖v_i‖) · d / ‖d‖ with d = Σ w_i v_i / ‖v_i‖ of rows of equal length and weights that add up to one:
// as long as its rows are, whatever their number, where the plain mean of orthogonal ones shrinks with its
// root. A row of zeros has no direction, and a length of zero. Where the directions cancel it is the plain
// mean.
std::vector<float> radial_directional_mean(const std::vector<std::vector<float>>& rows,
                                           const std::vector<float>& weights);

// The shares of the contributions of each merge, in their order.
std::vector<std::vector<float>> token_shares(const Schedule& schedule);

class Merges {
 public:
  // All must outlive it. The synchronizer's model is that of the first replica; `layout` is of its tensors.
  Merges(const OperationPlan& plan, const PlanContext& context, const std::vector<Parameter>& layout,
         const Schedule& schedule, const Update& update, Replicas& replicas);

  // Whether the replica posts or takes up anything at the end of `step`.
  bool has_work(int replica, int step) const;
  // Makes the merges that can be made, in the order of the schedule. Whether there was one.
  bool make();
  // Whether all that the replica takes up at the end of `step` is made.
  bool is_there(int replica, int step) const;
  // Behind that: the replica takes it up, then posts what the schedule says.
  void take_up(int replica, int step);
  void post(int replica, int step);

  // What a checkpoint keeps besides the tables of the arena.
  std::vector<TensorView> tensors() const;
  std::size_t made() const { return made_; }
  // The reverse, once the tables are there: of a file in which `made` merges were made and replicas had
  // posted and taken up what `is_over(replica, step)` says.
  using IsOver = std::function<bool(int replica, int step)>;
  void restore(SafetensorsFile& file, std::size_t made, const IsOver& is_over);

 private:
  struct Plan {  // of a merge
    const Merge* merge = nullptr;
    std::vector<float> shares;
    bool is_even = false;  // all weigh the same
    Columns columns;
    std::vector<Parameter> tensors;  // in these columns; none where directions are not averaged
  };
  using At = std::pair<int, int>;             // replica, step
  using Place = std::pair<std::size_t, int>;  // merge, replica

  const OperationRule& rule_of(std::size_t merge) const;
  MessageFormat format_of(std::size_t merge, int post_step) const;
  std::int64_t size_of(std::size_t merge) const;
  bool can_make(std::size_t merge) const;
  void make(std::size_t merge);
  void average(const Plan& plan, const std::vector<const Message*>& messages);
  void average_directions(std::size_t merge, const std::vector<const Message*>& messages,
                          const Parameter& tensor);

  const OperationPlan& plan_;
  const PlanContext& context_;
  const Update& update_;
  Replicas& replicas_;
  std::vector<Plan> merges_;                       // in the order of the schedule
  std::map<At, std::vector<std::size_t>> taken_;   // merges, in the order of the rules
  std::map<At, std::vector<std::size_t>> posted_;  // likewise
  std::vector<float> phi_, momentum_;              // the synchronizer's
  std::size_t made_ = 0;
  std::map<Place, Message> messages_;                  // posted, of merges that are not made
  std::map<Place, std::vector<float>> anchors_;        // of those: what Δ is a difference from
  std::map<std::size_t, std::vector<float>> results_;  // of merges that some have still to take up
  std::map<std::size_t, int> takers_;                  // of results_: how many
};

}  // namespace longhaul
