// A queue that mostly holds one element: the first lies in the queue itself, those behind it in a ring on the
// heap that is made when a second one comes. An empty std::deque holds more than half a kilobyte, and a
// network has a million channels with three queues each.
#pragma once

#include <cassert>
#include <cstdint>
#include <memory>
#include <utility>

namespace longhaul {

template <typename T>
class ShortQueue {
 public:
  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  T& front() { return first_; }
  const T& front() const { return first_; }

  void push_back(T value) {
    if (size_ == 0) {
      first_ = std::move(value);
    } else {
      if (size_ - 1 == room_) grow();
      more_[(begin_ + size_ - 1) & (room_ - 1)] = std::move(value);
    }
    ++size_;
  }
  void pop_front() {
    assert(size_ > 0);
    if (--size_ == 0) return;
    first_ = std::move(more_[begin_]);
    begin_ = (begin_ + 1) & (room_ - 1);
  }
  void clear() {
    while (!empty()) pop_front();
  }

 private:
  void grow() {
    const std::uint32_t larger = room_ == 0 ? 2 : 2 * room_;  // a power of two
    std::unique_ptr<T[]> moved(new T[larger]);
    for (std::uint32_t i = 0; i < room_; ++i) moved[i] = std::move(more_[(begin_ + i) & (room_ - 1)]);
    more_ = std::move(moved);
    begin_ = 0;
    room_ = larger;
  }

  std::uint32_t size_ = 0, begin_ = 0, room_ = 0;
  std::unique_ptr<T[]> more_;
  T first_{};
};

}  // namespace longhaul
