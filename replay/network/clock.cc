#include "replay/network/clock.h"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

#include "core/base/errors.h"

namespace longhaul {

std::int64_t time_after(std::int64_t now_ns, std::int64_t delay_ns) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  // Of a delay that is too long llround makes the least number there is.
  if (delay_ns == std::numeric_limits<std::int64_t>::min() || delay_ns > kMost - now_ns)
    throw RunError("the simulated time would be beyond 292 years, which nanoseconds in 63 bits cannot say");
  if (delay_ns < 0) throw std::logic_error("an action cannot be scheduled before now");
  return now_ns + delay_ns;
}

void Agenda::add(std::int64_t time_ns, std::function<void()> action) {
  heap_.push_back({time_ns, scheduled_++, std::move(action)});
  std::push_heap(heap_.begin(), heap_.end(), is_later);
}

std::function<void()> Agenda::take_next() {
  std::pop_heap(heap_.begin(), heap_.end(), is_later);
  std::function<void()> action = std::move(heap_.back().action);
  heap_.pop_back();
  return action;
}

void EventQueue::after_ns(std::int64_t delay_ns, std::function<void()> action) {
  agenda_.add(time_after(now_ns_, delay_ns), std::move(action));
}

void EventQueue::run() {
  is_stopped_ = false;
  while (!is_stopped_ && agenda_.next_ns() != Agenda::kNever) {
    now_ns_ = agenda_.next_ns();
    begin_action();
    agenda_.take_next()();
  }
}

}  // namespace longhaul
