// When faults of kind crash strike which replica, and when they end.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/scenario/case.h"
#include "core/scenario/fault.h"
#include "replay/network/clock.h"

namespace longhaul {

class AbsenceFaults {
 public:
  // Whether a fault strikes the replica from now on.
  using Change = std::function<void(int replica, bool is_struck)>;

  // `config` must outlive it.
  explicit AbsenceFaults(const Case& config);

  // Training begins: `on_change` is called at each change from now on. All must outlive the clock's events.
  void start(Clock& clock, Change on_change);

 private:
  bool is_struck(int replica, std::int64_t time_ns) const;
  void follow(int replica, std::int64_t since_ns);

  std::vector<std::vector<FaultWindows>> faults_;  // by replica
  Clock* clock_ = nullptr;                         // once it is started
  Change on_change_;
  std::int64_t origin_ns_ = 0;
};

}  // namespace longhaul
