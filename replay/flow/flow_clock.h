// What the network of fidelity flow runs on: a clock that also has an alarm and counts its events.
//
// Two clocks have it: FlowEventQueue, which longhaul itself replays with, and ns-3's simulator under
// longhaul-sim (sim/network/clock.h). A test holds both to the same bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "replay/network/clock.h"

namespace longhaul {

class FlowClock : public Clock {
 public:
  // What each alarm calls from now on: of the one network that is on this clock.
  virtual void carry(std::function<void()> wake) = 0;
  // Rings `delay_ns` (≥ 0) from now, in order with the actions of that instant. To set it makes no action,
  // which counts where there are millions. Set again before it rang, it rings at both times.
  virtual void set_alarm_ns(std::int64_t delay_ns) = 0;

  // Whether an action, not an alarm, is still to run.
  virtual bool has_actions() const = 0;
  // Events that need not be simulated: events() counts them.
  virtual void skip_events(std::uint64_t events) = 0;
};

// A FlowClock without a simulator. Alarms stand in a short list beside the agenda, so that no action is moved
// for them.
class FlowEventQueue : public FlowClock {
 public:
  std::int64_t now_ns() const override { return now_ns_; }
  void after_ns(std::int64_t delay_ns, std::function<void()> action) override;
  void run() override;
  void stop() override { is_stopped_ = true; }
  void close() override;
  std::uint64_t events() const override { return events_; }

  void carry(std::function<void()> wake) override { wake_ = std::move(wake); }
  void set_alarm_ns(std::int64_t delay_ns) override;
  bool has_actions() const override { return agenda_.size() > 0; }
  void skip_events(std::uint64_t events) override { events_ += events; }

 private:
  struct Alarm {
    std::int64_t time_ns;
    std::uint64_t number;  // among those of the agenda
  };
  bool is_alarm_next() const;

  Agenda agenda_;
  std::vector<Alarm> alarms_;  // the next one last
  std::function<void()> wake_;
  std::int64_t now_ns_ = 0;
  std::uint64_t events_ = 0;
  bool is_stopped_ = false;
};

}  // namespace longhaul
