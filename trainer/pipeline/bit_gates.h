// The gates of learned bits (AMAQ, arXiv 2510.05468): each worker that sends activations on holds one q for
// the hop behind each of its parts.
//
//   b = floor + (ceiling − floor) σ(q),  used rounded to the nearest whole number, ties to even
//   L = the task's loss + β · 1/n · the sum over the n hops of a replica of σ(q)²
//
// Both are the publication's (α, with which it scales q, is 1 here; it has a gate for each channel, and we
// one for each hop). How b meets the task's loss is ours: rounding counts as the identity, and the step size
// of a block, s = max|x| / (2^(b−1) − 1), has LSQ's gradient (arXiv 1902.08153), dx̂/ds = (x̂ − x)/s. With
// ds/db = −κ s, κ = 2^(b−1) ln 2 / (2^(b−1) − 1), the scale of every block drops out:
//
//   dL/db = −κ · the sum over the stream of g · (x̂ − x)                (RoundingEffects, model/boundaries.h)
//   dL/dq = (dL/db · (ceiling − floor) + β/n · 2 σ(q)) · σ(q) (1 − σ(q))
//
// κ is taken at the bits that were used. A step's gradient is the mean over its micro-batches, and q takes a
// step of Adam (β₁ 0.9, β₂ 0.999) with a constant learning rate. Gates are of one worker alone: no method
// averages them, and an outer step leaves them as they are.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/scenario/pipeline.h"
#include "trainer/model/boundaries.h"

namespace longhaul {

// Of a gate. Both from q in double, the same on all machines that have the same exp.
double learned_bits(const LearnedBits& spec, double gate);  // b
int used_bits(const LearnedBits& spec, double gate);
// dL/dq of one gate of `hops`; `rounding` at the bits in use.
double gate_gradient(const LearnedBits& spec, double gate, double rounding, int hops);

class BitGates {
 public:
  // `boundaries`: of the model in parts; what its activations travel in, and their gradients where they have
  // the same bits, follows from the gates.
  BitGates(const LearnedBits& spec, const Boundaries& boundaries, int replicas);

  int hops() const { return hops_; }
  const float* gates(int replica) const { return gates_.data() + row(replica); }  // [hops]
  std::vector<int> bits(int replica) const;
  // With the bits that the replica uses now.
  const Boundaries& boundaries(int replica) const { return boundaries_[static_cast<std::size_t>(replica)]; }
  // Of the mean of all replicas' weights: the mean of their b, rounded.
  Boundaries boundaries_of_mean() const;

  // After the micro-batches of step 1, 2, …: `rounding` is the mean over them, by hop. Of several replicas at
  // once, from several threads. Where it is not finite gates stay: the loss is not either.
  void step(int step, int replica, const RoundingEffects& rounding);

  // Gates and Adam's moments, [replicas, hops] each, for checkpoints.
  std::vector<std::pair<std::string, std::vector<float>*>> tables();
  void restored();  // after their values were replaced

 private:
  std::size_t row(int replica) const { return static_cast<std::size_t>(replica * hops_); }
  Boundaries with_bits(const std::vector<int>& bits) const;

  LearnedBits spec_;
  Boundaries given_;
  int hops_;
  std::vector<float> gates_, first_, second_;
  std::vector<Boundaries> boundaries_;  // by replica
};

}  // namespace longhaul
