// The heap of InstantQueue: instants by time, those of one time in the order in which they went in.
//
// Which of two children is earlier is a coin toss to the processor, and a wrong guess costs more than the
// comparison: so it is computed, not branched on, and the hole that the first leaves sinks to a leaf before
// the last element is tried in it (Wegener 1993, bottom-up heapsort).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/index.h"

namespace longhaul {

class InstantHeap {
 public:
  struct Instant {
    std::int64_t time_ns;
    std::uint64_t order;  // number of the push, then 28 bits for the user
    std::uint32_t entry() const { return static_cast<std::uint32_t>(order & kEntry); }
  };

  bool empty() const { return heap_.empty(); }
  const Instant& top() const { return heap_.front(); }

  // `entry` below 2^28.
  void push(std::int64_t time_ns, std::uint32_t entry) {
    heap_.push_back({});
    rise(heap_.size() - 1, {time_ns, pushes_++ << kEntryBits | entry});
  }

  void pop() {
    const Instant last = heap_.back();
    heap_.pop_back();
    if (heap_.empty()) return;
    std::size_t hole = 0;
    for (std::size_t child = 1; child < heap_.size(); child = 2 * hole + 1) {
      const std::size_t other = child + (child + 1 < heap_.size());
      child += as_index(is_before(heap_[other], heap_[child]));
      heap_[hole] = heap_[child];
      hole = child;
    }
    rise(hole, last);
  }

 private:
  static constexpr int kEntryBits = 28;
  static constexpr std::uint64_t kEntry = (1U << kEntryBits) - 1;

  static bool is_before(const Instant& a, const Instant& b) {
    return static_cast<int>(a.time_ns < b.time_ns) |
           (static_cast<int>(a.time_ns == b.time_ns) & static_cast<int>(a.order < b.order));
  }

  void rise(std::size_t hole, const Instant& instant) {
    while (hole > 0) {
      const std::size_t parent = (hole - 1) / 2;
      if (!is_before(instant, heap_[parent])) break;
      heap_[hole] = heap_[parent];
      hole = parent;
    }
    heap_[hole] = instant;
  }

  std::vector<Instant> heap_;
  std::uint64_t pushes_ = 0;
};

}  // namespace longhaul
