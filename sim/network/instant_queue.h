// Small numbered events by time. Many of a synchronized collective fall on the same nanosecond: those share
// an entry of the heap, so that they cost a hash instead of a sift. Events of one instant come out in the
// order in which they went in, up to whole entries.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/index.h"
#include "sim/network/instant_heap.h"

namespace longhaul {

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
