// The arena: all replicas live in row-major float32 tables [R, P], one table a slot. A row is one replica's
// model, gradient or state; layers take views into it, and a row is also the message that is exchanged, so
// that the bytes on the wire are exact.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "trainer/ranks/row_block.h"

namespace longhaul {

// What a table holds. A method declares how many it needs, in this order: 4 without slow weights, 6 with.
enum class Slot { kWeights, kGradient, kFirstMoment, kSecondMoment, kSlowWeights, kOuterMomentum };

constexpr int kSlotsOfInnerOptimizer = 4;
constexpr int kSlotsWithOuterOptimizer = 6;

class Arena {
 public:
  // All zero. Throws RunError where the machine has not the memory.
  Arena(int slots, int replicas, std::int64_t parameters);
  // The rows `held` of an arena of `replicas` that is spread over processes.
  Arena(int slots, int replicas, std::int64_t parameters, RowBlock held);

  int replicas() const { return replicas_; }  // R, of all processes together
  RowBlock held() const { return held_; }
  std::int64_t parameters() const { return parameters_; }
  bool has(Slot slot) const { return static_cast<std::size_t>(slot) < tables_.size(); }
  std::int64_t bytes() const;  // 4 · slots · R · P, of all processes together

  // Of a replica that is held here.
  float* row(Slot slot, int replica);
  const float* row(Slot slot, int replica) const;

 private:
  struct Unmap {
    std::size_t bytes;
    void operator()(float* table) const;
  };

  int replicas_;
  RowBlock held_;
  std::int64_t parameters_;
  std::vector<std::unique_ptr<float[], Unmap>> tables_;
};

}  // namespace longhaul
