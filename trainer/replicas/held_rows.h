// What replicas begin with that come back from an absence: the rows of another, as they were after a step
// (journal::Hold, journal::Become). All that it has (weights, moments, slow weights, momentum, the count of
// its optimizer's steps) but for the error feedback, which it still owes the others and nobody else does.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/base/json.h"
#include "trainer/replicas/arena.h"

namespace longhaul {

class HeldRows {
 public:
  // Both must outlive it. `optimizer_steps` by replica.
  HeldRows(Arena& arena, std::vector<int>& optimizer_steps);

  void hold(std::size_t copy, int source);
  // Once for each that is held.
  void become(std::size_t copy, int replica);

  // What is held, as a checkpoint keeps it: rows [P] by name, good until the next call, and counts.
  std::vector<std::pair<std::string, std::vector<float>*>> tables();
  Json state() const;
  // Of a training that is resumed: makes room for the rows that it had.
  void expect(const Json& state);

 private:
  struct Rows {
    std::vector<std::vector<float>> values;  // by slots_
    int optimizer_steps = 0;
  };

  Arena& arena_;
  std::vector<int>& optimizer_steps_;
  std::vector<Slot> slots_;  // that are copied
  std::map<std::size_t, Rows> held_;
};

}  // namespace longhaul
