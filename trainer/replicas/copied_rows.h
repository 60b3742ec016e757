// What replicas begin with that come back from an absence: the rows of another, as they were after a step
// (core/plan/absences.h). All that it has (weights, moments, slow weights, momentum, the count of its
// optimizer's steps) but for the error feedback, which it still owes the others and nobody else does.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/json.h"
#include "core/plan/absences.h"
#include "trainer/replicas/arena.h"

namespace longhaul {

class CopiedRows {
 public:
  // All must outlive it. `optimizer_steps` by replica.
  CopiedRows(const Absences& absences, Arena& arena, std::vector<int>& optimizer_steps);

  // When all of `step` is over and nothing of the next one has begun; 0: before the first.
  void after(int step);

  // What was read and does not stand in a replica's rows yet, as a checkpoint keeps it: rows [P] by name,
  // good until after() is called, and counts.
  std::vector<std::pair<std::string, std::vector<float>*>> tables();
  Json optimizer_steps() const;
  // After `step` of a training that is resumed: makes room for these rows.
  void expect(int step, const Json& optimizer_steps);

 private:
  struct Rows {
    std::vector<std::vector<float>> values;  // by slots_
    int optimizer_steps = 0;
  };

  Rows read(int replica) const;
  void make(int replica, const Rows& rows);
  std::string name_of(std::size_t copy, Slot slot) const;

  const Absences& absences_;
  Arena& arena_;
  std::vector<int>& optimizer_steps_;
  std::vector<Slot> slots_;              // that are copied
  std::map<std::size_t, Rows> waiting_;  // by number of the copy
};

}  // namespace longhaul
