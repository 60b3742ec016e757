// What replicas begin with that come back from an absence: the rows of another, as they were after a step
// (core/plan/absences.h). All that it has (weights, moments, slow weights, momentum, the count of its
// optimizer's steps) but for the error feedback, which it still owes the others and nobody else does.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/base/json.h"
#include "core/plan/absences.h"
#include "trainer/replicas/arena.h"

namespace longhaul {

class CopiedRows {
 public:
  // All must outlive it. `optimizer_steps` by replica.
  CopiedRows(const Absences& absences, Arena& arena, std::vector<int>& optimizer_steps);

  // When all of `step` is over and nothing of the next one has begun; 0: before the first.
  void after(int step);

  // The same where each replica is at a step of its own. When `step` of the replica is over: it is read for
  // others; whether it has to be; and what it begins with, where that has been read, which is true then and
  // once for each of its copies.
  void after(int replica, int step);
  bool is_read_after(int replica, int step) const;
  bool make_next(int replica);

  // What was read and does not stand in a replica's rows yet, as a checkpoint keeps it: rows [P] by name,
  // good until one is read or made, and counts.
  std::vector<std::pair<std::string, std::vector<float>*>> tables();
  Json state() const;
  // Of a training that is resumed: makes room for the rows that it had. Throws InputError for numbers of
  // copies that there are not.
  void expect(const Json& state);

 private:
  struct Rows {
    std::vector<std::vector<float>> values;  // by slots_
    int optimizer_steps = 0;
  };

  bool is_read_now(std::size_t copy, int replica, int step) const;
  std::size_t next_of(int replica) const;
  Rows read(int replica) const;
  void make(int replica, const Rows& rows);
  std::string name_of(std::size_t copy, Slot slot) const;

  const Absences& absences_;
  Arena& arena_;
  std::vector<int>& optimizer_steps_;
  std::vector<Slot> slots_;              // that are copied
  std::map<std::size_t, Rows> waiting_;  // by number of the copy
  std::vector<bool> is_made_;            // where each is at a step of its own; by number of the copy
};

}  // namespace longhaul
