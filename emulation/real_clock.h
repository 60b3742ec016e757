// The time of this machine as the clock of a replay: actions run when their time has come, and between them
// what arrives on descriptors.
//
// now_ns() stands still within an action, as in a simulation. An action that the machine runs late is late
// for all that follows from it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>

#include "replay/network/clock.h"

namespace longhaul {

class RealClock : public Clock {
 public:
  RealClock() { begin(); }

  void begin();  // its zero is now
  std::int64_t now_ns() const override { return now_ns_; }
  void after_ns(std::int64_t delay_ns, std::function<void()> action) override;
  // Until stop(), or until no action is left and no input is awaited. Throws Interrupted after a signal, and
  // RunError where what is awaited has not come for kStalledAfter_s.
  void run() override;
  void stop() override { is_stopped_ = true; }
  void close() override { events_.clear(); }
  std::uint64_t events() const override { return 0; }

  // `on_input` runs whenever the descriptor can be read, while inputs are awaited or actions are left.
  void watch(int descriptor, std::function<void()> on_input) { inputs_[descriptor] = std::move(on_input); }
  void await_input() { ++awaited_; }
  void got_input() { --awaited_; }

 private:
  static constexpr double kStalledAfter_s = 120;

  void look_at_time();
  bool read_inputs();

  std::multimap<std::int64_t, std::function<void()>> events_;  // by time, in the order of their scheduling
  std::map<int, std::function<void()>> inputs_;
  std::int64_t start_ns_ = 0, now_ns_ = 0;
  int awaited_ = 0;
  bool is_stopped_ = false;
};

// Of this machine, nanoseconds; CLOCK_MONOTONIC, which all its processes share.
std::int64_t monotonic_ns();

// Lets this process run before others, so that a busy machine does not add its own waiting. Allowed to fail.
void be_first(int priority);

}  // namespace longhaul
