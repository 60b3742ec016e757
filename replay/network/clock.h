// Simulated time: what a replay and the networks under it run on. Nanoseconds, since the clock's own zero.
//
// `packet` has ns-3's simulator (sim/network/clock.h), `flow` that or its own (replay/flow/flow_clock.h),
// `analytic` an EventQueue.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

namespace longhaul {

inline double seconds_of(std::int64_t ns) {
  return static_cast<double>(ns) / 1e9;
}

// now + delay. Throws RunError beyond 63 bits, 292 years.
std::int64_t time_after(std::int64_t now_ns, std::int64_t delay_ns);

class Clock {
 public:
  virtual ~Clock() = default;

  virtual std::int64_t now_ns() const = 0;
  // Runs `action` after `delay_ns` (≥ 0). Actions of the same instant run in the order of their scheduling.
  virtual void after_ns(std::int64_t delay_ns, std::function<void()> action) = 0;

  // Runs what is scheduled, and what that schedules, until nothing is left or stop() was called. What an
  // action throws comes out of it.
  virtual void run() = 0;
  virtual void stop() = 0;
  // After run(): no action runs any more. What is still scheduled is dropped.
  virtual void close() = 0;
  // Events of the simulator so far; 0 for a clock without one.
  virtual std::uint64_t events() const = 0;

  double now_s() const { return seconds_of(now_ns()); }
  void after(double delay_s, std::function<void()> action) {
    after_ns(std::llround(delay_s * 1e9), std::move(action));
  }

  // Keeps what may be what called, and may have set an action for this instant, until a later one.
  void retire(std::shared_ptr<const void> object) {
    retired_.push_back(std::move(object));
    retired_ns_ = now_ns();
  }
  void free_retired() { retired_.clear(); }

 protected:
  // Every clock calls it before each action, once now_ns() is the time of that.
  void begin_action() {
    if (!retired_.empty() && retired_ns_ < now_ns()) free_retired();
  }

 private:
  std::vector<std::shared_ptr<const void>> retired_;
  std::int64_t retired_ns_ = 0;  // the last of them
};

// Closes the clock when it goes out of scope: whatever its last events may call must outlive it.
struct ClockScope {
  Clock& clock;
  ~ClockScope() {
    clock.close();
    clock.free_retired();
  }
};

// later − earlier of two values of now_s(), on whole nanoseconds again.
inline double seconds_between(double earlier_s, double later_s) {
  return std::round((later_s - earlier_s) * 1e9) / 1e9;
}

// What is still to happen, in the order of time, and of its scheduling at the same time.
class Agenda {
 public:
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

  void add(std::int64_t time_ns, std::function<void()> action);
  std::int64_t next_ns() const { return heap_.empty() ? kNever : heap_.front().time_ns; }
  std::function<void()> take_next();
  // The place of the next one among those of its time, and one for what is kept elsewhere and comes between.
  std::uint64_t next_number() const { return heap_.front().number; }
  std::uint64_t take_number() { return scheduled_++; }
  void clear() { heap_.clear(); }
  std::size_t size() const { return heap_.size(); }

 private:
  struct Action {
    std::int64_t time_ns;
    std::uint64_t number;  // of its scheduling
    std::function<void()> action;
  };
  static bool is_later(const Action& a, const Action& b) {
    return a.time_ns != b.time_ns ? a.time_ns > b.time_ns : a.number > b.number;
  }

  std::vector<Action> heap_;  // the next one on top
  std::uint64_t scheduled_ = 0;
};

// A clock without a simulator.
class EventQueue : public Clock {
 public:
  std::int64_t now_ns() const override { return now_ns_; }
  void after_ns(std::int64_t delay_ns, std::function<void()> action) override;
  void run() override;
  void stop() override { is_stopped_ = true; }
  void close() override { agenda_.clear(); }
  std::uint64_t events() const override { return 0; }

 private:
  Agenda agenda_;
  std::int64_t now_ns_ = 0;
  bool is_stopped_ = false;
};

}  // namespace longhaul
