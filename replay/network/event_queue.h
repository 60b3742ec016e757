// A clock without a simulator: actions in the order of time, and of their scheduling at the same time.
#pragma once

#include <vector>

#include "replay/network/clock.h"

namespace longhaul {

class EventQueue : public Clock {
 public:
  std::int64_t now_ns() const override { return now_ns_; }
  void after_ns(std::int64_t delay_ns, std::function<void()> action) override;
  void run() override;
  void stop() override { is_stopped_ = true; }
  void close() override { events_.clear(); }
  std::uint64_t events() const override { return 0; }

 private:
  struct Event {
    std::int64_t time_ns;
    std::uint64_t number;  // of its scheduling
    std::function<void()> action;
  };
  static bool is_later(const Event& a, const Event& b) {
    return a.time_ns != b.time_ns ? a.time_ns > b.time_ns : a.number > b.number;
  }

  std::vector<Event> events_;  // a heap, the next one on top
  std::int64_t now_ns_ = 0;
  std::uint64_t scheduled_ = 0;
  bool is_stopped_ = false;
};

}  // namespace longhaul
