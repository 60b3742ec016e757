// Small numbered events by time. Many of a synchronized collective fall on the same nanosecond: those share
// an entry of the heap, so that they cost a hash instead of a sift. Events of one instant come out in the
// order in which they went in, up to whole entries.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <queue>
#include <utility>
#include <vector>

namespace longhaul {

class InstantQueue {
 public:
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

  std::int64_t next_ns() const { return heap_.empty() ? kNever : heap_.top().time_ns; }

  void push(std::int64_t time_ns, int event) {
    Recent& recent = recent_[static_cast<std::size_t>(time_ns) % recent_.size()];
    if (recent.time_ns != time_ns) {
      recent = {time_ns, new_entry()};
      heap_.push({time_ns, entries_made_++, recent.entry});
    }
    entries_[recent.entry].push_back(event);
  }

  // Takes the first entry's events, at next_ns().
  void take(std::vector<int>& events) {
    const Instant first = heap_.top();
    heap_.pop();
    Recent& recent = recent_[static_cast<std::size_t>(first.time_ns) % recent_.size()];
    if (recent.entry == first.entry) recent = {};
    events.clear();
    events.swap(entries_[first.entry]);
    free_.push_back(first.entry);
  }

 private:
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  struct Instant {
    std::int64_t time_ns;
    std::uint64_t number;
    std::size_t entry;
    bool operator<(const Instant& other) const {  // the queue's top is the largest
      return time_ns != other.time_ns ? time_ns > other.time_ns : number > other.number;
    }
  };
  struct Recent {
    std::int64_t time_ns = -1;
    std::size_t entry = kNone;
  };

  std::size_t new_entry() {
    if (free_.empty()) {
      entries_.emplace_back();
      return entries_.size() - 1;
    }
    const std::size_t entry = free_.back();
    free_.pop_back();
    return entry;
  }

  std::priority_queue<Instant> heap_;
  std::vector<std::vector<int>> entries_;
  std::vector<std::size_t> free_;
  std::array<Recent, 64> recent_;
  std::uint64_t entries_made_ = 0;
};

}  // namespace longhaul
