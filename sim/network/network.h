// How transfers are carried: the interface that the replay sees. Two implementations, `flow` and `packet`,
// named by the scenario's network.fidelity.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "core/case.h"
#include "net/message_times.h"
#include "net/replay/link_loads.h"
#include "net/replay/sync_parts.h"
#include "net/topology.h"

namespace longhaul {

class Network {
 public:
  using Arrival = std::function<void()>;

  virtual ~Network() = default;

  // Sends `bytes` (> 0) of payload from one replica to another; `on_arrival` runs when the last byte is
  // there. Transfers with the same two ends arrive in the order in which they were sent. Only from within the
  // simulation. Where its time went is added to `parts`, if given, until `on_arrival` runs.
  virtual void send(int source, int target, std::int64_t bytes, Arrival on_arrival,
                    SyncParts* parts = nullptr) = 0;

  // The same for one message of an exchange, by its name: for networks where messages draw their times.
  virtual void send_message(const MessageKey&, int source, int target, std::int64_t bytes, Arrival on_arrival,
                            SyncParts* parts = nullptr) {
    send(source, target, bytes, std::move(on_arrival), parts);
  }

  // Simulated time at which training may begin: connections are established before it.
  virtual double ready_s() const { return 0; }

  // By direction (net/topology.h).
  virtual const std::vector<LinkLoad>& loads() const = 0;

  // `beat` is called now and then while the network works: for progress and interrupts.
  void set_heartbeat(std::function<void()> beat) { heartbeat_ = std::move(beat); }

 protected:
  void beat() const {
    if (heartbeat_) heartbeat_();
  }

 private:
  std::function<void()> heartbeat_;
};

// `used_ends` gives the ordered pairs of replicas that will send; asked only where connections are made
// beforehand. `seed`: for random loss, drawn times and what varies. Throws InputError, RunError.
std::unique_ptr<Network> make_network(const NetworkSpec& spec, const Topology& topology,
                                      const std::function<std::vector<std::pair<int, int>>()>& used_ends,
                                      std::uint64_t seed);

// How a replay gets its network; tests give it one that fails.
using NetworkMaker = std::function<decltype(make_network)>;

}  // namespace longhaul
