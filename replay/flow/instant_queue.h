// The heap of InstantQueue: instants by time, those of one time in the order in which they went in.
//
// Which of two children is earlier is a coin toss to the processor, and a wrong guess costs more than the
// comparison: so it is computed, not branched on, and the hole that the first leaves sinks to a leaf before
// the last element is tried in it (Wegener 1993, bottom-up heapsort).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/base/index.h"

namespace longhaul {

class InstantHeap {
 public:
  struct Instant {
    std::int64_t time_ns;
    std::uint64_t order;  // number of the push, then 28 bits for the user
    std::uint32_t entry() const { return static_cast<std::uint32_t>(order & kEntry); }
  };

  bool empty() const { return heap_.empty(); }
  std::vector<Instant> in_order() const {
    std::vector<Instant> sorted = heap_;
    std::sort(sorted.begin(), sorted.end(), is_before);
    return sorted;
  }
  void move(std::int64_t by_ns) {
    for (Instant& instant : heap_) instant.time_ns += by_ns;
  }
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

// Small numbered events by time. Many of a synchronized collective fall on the same nanosecond: those share
// an entry of the heap, so that they cost a hash instead of a sift. Events of one instant come out in the
// order in which they went in, up to whole entries.

class InstantQueue {
 public:
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

  std::int64_t next_ns() const { return heap_.empty() ? kNever : heap_.top().time_ns; }
  // The event of the first entry if it has only one, else -1.
  int only_next() const {
    const Entry& entry = entries_[heap_.top().entry()];
    return entry.first == entry.last ? nodes_[entry.first].event : -1;
  }

  void push(std::int64_t time_ns, int event) {
    const std::uint32_t node = new_node(event);
    Recent& recent = recent_[as_index(time_ns) % recent_.size()];
    if (recent.time_ns == time_ns) {
      Entry& entry = entries_[recent.entry];
      entry.last = nodes_[entry.last].next = node;
      return;
    }
    recent = {time_ns, new_entry()};
    entries_[recent.entry] = {node, node};
    heap_.push(time_ns, recent.entry);
  }

  // Takes the first entry's events, at next_ns().
  void take(std::vector<int>& events) {
    const InstantHeap::Instant first = heap_.top();
    const std::uint32_t number = first.entry();
    heap_.pop();
    Recent& recent = recent_[as_index(first.time_ns) % recent_.size()];
    if (recent.entry == number) recent = {};
    events.clear();
    const Entry entry = entries_[number];
    for (std::uint32_t node = entry.first;; node = nodes_[node].next) {
      events.push_back(nodes_[node].event);
      if (node == entry.last) break;
    }
    nodes_[entry.last].next = free_nodes_;
    free_nodes_ = entry.first;
    free_entries_.push_back(number);
  }

  // The times from `now_ns` on and the events, in the order in which they will be taken.
  void list_state(std::int64_t now_ns, std::vector<double>& state) const {
    for (const InstantHeap::Instant& instant : heap_.in_order()) {
      const Entry& entry = entries_[instant.entry()];
      for (std::uint32_t node = entry.first;; node = nodes_[node].next) {
        state.insert(state.end(), {static_cast<double>(instant.time_ns - now_ns), 1. * nodes_[node].event});
        if (node == entry.last) break;
      }
    }
  }
  // Everything comes `by_ns` later.
  void move(std::int64_t by_ns) {
    heap_.move(by_ns);
    recent_ = {};
  }

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  struct Entry {
    std::uint32_t first, last;  // nodes
  };
  struct Node {
    int event;
    std::uint32_t next;
  };
  struct Recent {
    std::int64_t time_ns = -1;
    std::uint32_t entry = kNone;
  };

  std::uint32_t new_entry() {
    if (free_entries_.empty()) {
      entries_.emplace_back();
      return static_cast<std::uint32_t>(entries_.size() - 1);
    }
    const std::uint32_t entry = free_entries_.back();
    free_entries_.pop_back();
    return entry;
  }
  std::uint32_t new_node(int event) {
    if (free_nodes_ == kNone) {
      nodes_.push_back({event, kNone});
      return static_cast<std::uint32_t>(nodes_.size() - 1);
    }
    const std::uint32_t node = free_nodes_;
    free_nodes_ = nodes_[node].next;
    nodes_[node].event = event;
    return node;
  }

  InstantHeap heap_;
  std::vector<Entry> entries_;
  std::vector<Node> nodes_;
  std::vector<std::uint32_t> free_entries_;
  std::uint32_t free_nodes_ = kNone;
  std::array<Recent, 64> recent_;
};

}  // namespace longhaul
