// A queue that mostly holds one element: the first lies in the queue itself, those behind it in a ring on the
// heap that is made when a second one comes. An empty std::deque holds more than half a kilobyte, and a
// network has a million channels with three queues each.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace longhaul {

template <typename T>
class ShortQueue {
 public:
  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  T& front() { return first_; }
  const T& front() const { return first_; }
  const T& operator[](std::size_t i) const { return i == 0 ? first_ : more_[(begin_ + i - 1) & (room_ - 1)]; }
  T& operator[](std::size_t i) { return i == 0 ? first_ : more_[(begin_ + i - 1) & (room_ - 1)]; }

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

// A growing array whose elements never move: others refer to them. In pieces of 64 that lie one after
// another, where std::deque allocates every element of more than half a kilobyte on its own.

template <typename T>
class StableArray {
 public:
  StableArray() = default;
  StableArray(const StableArray&) = delete;
  StableArray& operator=(const StableArray&) = delete;
  ~StableArray() {
    while (size_ > 0) (*this)[--size_].~T();
  }

  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  T& operator[](std::size_t i) { return *at(i); }
  const T& operator[](std::size_t i) const { return *at(i); }
  T& back() { return *at(size_ - 1); }

  template <typename... Arguments>
  T& emplace_back(Arguments&&... arguments) {
    if (size_ == pieces_.size() * kPiece) pieces_.emplace_back(new Piece);
    T* made =
        new (pieces_.back()->place + size_ % kPiece * sizeof(T)) T(std::forward<Arguments>(arguments)...);
    ++size_;
    return *made;
  }

  // Asks the caches for the first `lines` of an element that will be looked at soon.
  template <int lines>
  void prefetch(std::size_t i) const {
    const auto* first = reinterpret_cast<const unsigned char*>(at(i));
    for (int line = 0; line < lines; ++line) __builtin_prefetch(first + 64 * line);
  }

 private:
  static constexpr std::size_t kPiece = 64;
  struct alignas(64) Piece {
    alignas(T) unsigned char place[kPiece * sizeof(T)];
  };

  T* at(std::size_t i) const {
    return std::launder(reinterpret_cast<T*>(pieces_[i / kPiece]->place + i % kPiece * sizeof(T)));
  }

  std::vector<std::unique_ptr<Piece>> pieces_;
  std::size_t size_ = 0;
};

}  // namespace longhaul
