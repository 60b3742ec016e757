// The network of an emulated replay: every message of the plan travels over the kernel's own TCP, between the
// processes of its two workers (host.h), in a world that stands (world.h).
//
// The replay decides what is sent when, by the operations and the rounds of collectives as in a simulation: a
// message is handed to its host when both ends are ready. That is told without a message, as in the other
// networks.
#pragma once

#include <sys/types.h>

#include <map>

#include "core/base/child_main.h"
#include "core/plan/trace.h"
#include "emulation/real_clock.h"
#include "replay/network/network.h"

namespace longhaul {

class KernelNetwork : public Network {
 public:
  // Starts the hosts, returns when all of `ends` are connected, and begins the clock. `topology` and `clock`
  // must outlive it. Throws RunError.
  KernelNetwork(const TcpSpec& tcp, const Topology& topology, const std::vector<std::pair<int, int>>& ends,
                RealClock& clock);
  ~KernelNetwork() override;

  void send(const Transmission& transfer, Arrival on_arrival, SyncParts* parts = nullptr) override;
  const std::vector<LinkLoad>& loads() override { return loads_.loads(); }

 private:
  struct Host {
    pid_t process = -1;
    int control = -1;
  };
  struct UnderWay {
    Transmission transfer;
    Arrival on_arrival;
    SyncParts* parts = nullptr;
    double begun_s = 0;
    int shares = 0;  // that have not arrived
  };

  void start_host(int number, const std::vector<std::pair<int, int>>& ends);
  void read_reports(int host);
  void arrive(std::int64_t number);

  TcpSpec tcp_;
  const Topology& topology_;
  RealClock& clock_;
  LinkLoads loads_;
  std::vector<Host> hosts_;
  std::map<std::int64_t, UnderWay> under_way_;  // by the number of the message
  std::int64_t messages_ = 0;
};

// replay() of a case in the world that stands around this process. Throws as replay(), and RunError.
Json emulated_replay(const Case& config, const Trace& trace, const std::string& folder,
                     ProgressReporter& reporter);

}  // namespace longhaul
