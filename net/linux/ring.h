// A first-in-first-out queue in one block of memory that only grows: what many packets pass through.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace longhaul::linux_tcp {

template <typename T>
class Ring {
 public:
  bool empty() const { return begin_ == end_; }
  std::size_t size() const { return end_ - begin_; }
  const T& front() const { return slots_[begin_ & (slots_.size() - 1)]; }
  const T& back() const { return slots_[(end_ - 1) & (slots_.size() - 1)]; }

  void push_back(const T& value) {
    if (size() == slots_.size()) grow();
    slots_[end_++ & (slots_.size() - 1)] = value;
  }
  void pop_front() { ++begin_; }

 private:
  void grow() {
    std::vector<T> larger(slots_.empty() ? 8 : 2 * slots_.size());
    const std::size_t count = size();
    for (std::size_t i = 0; i < count; ++i) larger[i] = slots_[(begin_ + i) & (slots_.size() - 1)];
    slots_ = std::move(larger);
    begin_ = 0;
    end_ = count;
  }

  std::vector<T> slots_;             // a power of two of them
  std::size_t begin_ = 0, end_ = 0;  // counted from the first one ever; modulo the slots
};

}  // namespace longhaul::linux_tcp
