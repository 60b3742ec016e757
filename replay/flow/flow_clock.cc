#include "replay/flow/flow_clock.h"

namespace longhaul {

void FlowEventQueue::after_ns(std::int64_t delay_ns, std::function<void()> action) {
  agenda_.add(time_after(now_ns_, delay_ns), std::move(action));
}

void FlowEventQueue::set_alarm_ns(std::int64_t delay_ns) {
  const Alarm alarm{time_after(now_ns_, delay_ns), agenda_.take_number()};
  auto place = alarms_.end();
  while (place != alarms_.begin() && (place - 1)->time_ns <= alarm.time_ns) --place;
  alarms_.insert(place, alarm);
}

bool FlowEventQueue::is_alarm_next() const {
  if (alarms_.empty()) return false;
  const Alarm& alarm = alarms_.back();
  const std::int64_t action_ns = agenda_.next_ns();
  return alarm.time_ns != action_ns ? alarm.time_ns < action_ns : alarm.number < agenda_.next_number();
}

void FlowEventQueue::run() {
  is_stopped_ = false;
  while (!is_stopped_ && (!alarms_.empty() || agenda_.size() > 0)) {
    ++events_;
    if (is_alarm_next()) {
      now_ns_ = alarms_.back().time_ns;
      alarms_.pop_back();
      wake_();
    } else {
      now_ns_ = agenda_.next_ns();
      const std::function<void()> action = agenda_.take_next();
      begin_action();
      action();
    }
  }
}

void FlowEventQueue::close() {
  agenda_.clear();
  alarms_.clear();
}

}  // namespace longhaul
