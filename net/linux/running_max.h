// The largest of the values of the last `window` rounds, from three of them (Nichols' filter,
// lib/win_minmax.c of Linux, in our words): the largest, the largest since, and the largest since that one.
// When the first is too old the second takes its place.
#pragma once

#include <array>
#include <cstdint>

namespace longhaul::linux_tcp {

class RunningMax {
 public:
  explicit RunningMax(std::uint32_t window) : window_(window) {}

  std::uint64_t get() const { return best_[0].value; }

  void add(std::uint32_t round, std::uint64_t value) {
    const Value one{round, value};
    if (value >= best_[0].value || round - best_[2].round > window_) {
      best_ = {one, one, one};
      return;
    }
    if (value >= best_[1].value)
      best_[1] = best_[2] = one;
    else if (value >= best_[2].value)
      best_[2] = one;
    const std::uint32_t age = round - best_[0].round;
    if (age > window_) {
      for (int i = 0; i < 2 && round - best_[0].round > window_; ++i) best_ = {best_[1], best_[2], one};
    } else if (best_[1].round == best_[0].round && age > window_ / 4) {
      best_[1] = best_[2] = one;  // none in the first quarter: the best of the second
    } else if (best_[2].round == best_[1].round && age > window_ / 2) {
      best_[2] = one;
    }
  }

 private:
  struct Value {
    std::uint32_t round = 0;
    std::uint64_t value = 0;
  };
  std::uint32_t window_;
  std::array<Value, 3> best_;
};

}  // namespace longhaul::linux_tcp
