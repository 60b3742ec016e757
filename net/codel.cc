#include "net/codel.h"

namespace longhaul {

void CoDel::above(double since_s) {
  if (is_above_) return;
  if (is_signalling_) latest_next_s_ = next_s_;
  is_above_ = true;
  is_signalling_ = false;
  next_s_ = since_s + kInterval_s;
}

// A queue that stands again soon goes on about where it left off.
void CoDel::signal() {
  constexpr double kSoon_s = 16 * kInterval_s;
  const unsigned change = count_ - first_count_;
  if (is_signalling_) {
    ++count_;
    newton_step();
  } else if (change > 1 && next_s_ - latest_next_s_ < kSoon_s) {
    first_count_ = count_ = change;
    newton_step();
  } else {
    first_count_ = count_ = 1;
    inverse_root_ = 1;
  }
  is_signalling_ = true;
  next_s_ += kInterval_s * inverse_root_;
}

double CoDel::next_s(double from_s) {
  if (!is_above_) return kNoSignal;
  while (next_s_ < from_s) signal();
  return next_s_;
}

}  // namespace longhaul
