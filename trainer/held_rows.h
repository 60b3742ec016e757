// What replicas begin with that come back from an absence: the rows of another, as they were after a step
// (journal::Hold, journal::Become). All that it has (weights, moments, slow weights, momentum, the count of
// its optimizer's steps) but for the error feedback, which it still owes the others and nobody else does.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "trainer/checkpoint/training_state.h"

namespace longhaul {

class HeldRows {
 public:
  // Both must outlive it. `optimizer_steps` by replica, of all. With several ranks all call the same
  // functions; a copy lies with the rank that holds its source.
  HeldRows(Replicas& replicas, std::vector<int>& optimizer_steps);

  void hold(std::size_t copy, int source);
  // Once for each that is held.
  void become(std::size_t copy, int replica);

  bool is_empty() const { return held_.empty(); }
  // What a checkpoint keeps of what is held, good until the next call; and back.
  std::vector<TensorView> tensors();
  Json state() const;
  void restore(const Json& state, CheckpointTensors& tensors);

 private:
  struct Rows {
    int source = 0, optimizer_steps = 0;
    std::vector<std::vector<float>> values = {};  // by slots_; empty ones elsewhere
  };

  std::string name_of(std::size_t copy, Slot slot) const;

  Replicas& replicas_;
  std::vector<int>& optimizer_steps_;
  std::vector<Slot> slots_;  // that are copied
  std::map<std::size_t, Rows> held_;
};

}  // namespace longhaul
