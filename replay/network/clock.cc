#include "replay/network/clock.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace longhaul {

void EventQueue::after_ns(std::int64_t delay_ns, std::function<void()> action) {
  if (delay_ns < 0) throw std::logic_error("an action cannot be scheduled before now");
  events_.push_back({now_ns_ + delay_ns, scheduled_++, std::move(action)});
  std::push_heap(events_.begin(), events_.end(), is_later);
}

void EventQueue::run() {
  is_stopped_ = false;
  while (!is_stopped_ && !events_.empty()) {
    std::pop_heap(events_.begin(), events_.end(), is_later);
    const Event next = std::move(events_.back());
    events_.pop_back();
    now_ns_ = next.time_ns;
    next.action();
  }
}

}  // namespace longhaul
