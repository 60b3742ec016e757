// A list of numbers that is mostly one or two long: those lie in the list itself, more on the heap. The flows
// of a link are such lists; a vector of its own for each costs a cache miss at every look.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace longhaul {

class ShortList {
 public:
  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  int* begin() { return more_ ? more_.get() : inside_; }
  int* end() { return begin() + size_; }
  const int* begin() const { return more_ ? more_.get() : inside_; }
  const int* end() const { return begin() + size_; }
  int front() const { return *begin(); }
  int back() const { return end()[-1]; }
  int& operator[](std::size_t i) { return begin()[i]; }

  void push_back(int value) {
    if (size_ == capacity_) grow();
    begin()[size_++] = value;
  }
  void pop_back() { --size_; }

 private:
  static constexpr std::uint32_t kInside = 2;

  void grow() {
    std::unique_ptr<int[]> larger(new int[2 * capacity_]);
    for (std::uint32_t i = 0; i < size_; ++i) larger[i] = begin()[i];
    more_ = std::move(larger);
    capacity_ *= 2;
  }

  std::uint32_t size_ = 0, capacity_ = kInside;
  std::unique_ptr<int[]> more_;
  int inside_[kInside] = {};
};

}  // namespace longhaul
