// How transfers are carried: what a replay knows of a network. `flow` (replay/flow/), `analytic` and `linux`
// (beside this file), and `packet` (sim/network/) implement it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/index.h"
#include "core/scenario/case.h"
#include "net/topology.h"
#include "replay/network/clock.h"
#include "replay/network/message_costs.h"
#include "replay/network/sync_parts.h"

namespace longhaul {

// What each direction of each link carried: bytes on the wire, and the time in which at least one transfer
// was under way over it (also while its sender waited for acknowledgements).
struct LinkLoad {
  std::int64_t bytes = 0;  // with headers, without acknowledgements
  double busy_s = 0;
};

class LinkLoads {
 public:
  explicit LinkLoads(std::size_t directions) : loads_(directions), open_(directions) {}

  // A transfer over this path is under way from `now` on, or no longer. Seconds.
  void begin(const std::vector<LinkDirection>& path, double now) {
    for (const LinkDirection direction : path) {
      Open& open = open_[as_index(direction)];
      if (open.transfers++ == 0) open.since = now;
    }
  }
  void end(const std::vector<LinkDirection>& path, double now) {
    for (const LinkDirection direction : path) {
      Open& open = open_[as_index(direction)];
      if (--open.transfers == 0) loads_[as_index(direction)].busy_s += now - open.since;
    }
  }
  void add_bytes(LinkDirection direction, std::int64_t bytes) { loads_[as_index(direction)].bytes += bytes; }
  // Whether each link became busy as long ago as it had at `before`, `period_s` ago, or has been busy since.
  bool repeats(const LinkLoads& before, double period_s) const {
    for (std::size_t i = 0; i < open_.size(); ++i) {
      const double since = open_[i].since, then = before.open_[i].since;
      if (since != then && seconds_between(then, since) != period_s) return false;
    }
    return true;
  }
  // What has come since `before` comes `times` more, over `passed_s`.
  void repeat(const LinkLoads& before, std::int64_t times, double passed_s) {
    for (std::size_t i = 0; i < loads_.size(); ++i) {
      const LinkLoad &then = before.loads_[i], &now = loads_[i];
      loads_[i] = {now.bytes + times * (now.bytes - then.bytes),
                   now.busy_s + static_cast<double>(times) * seconds_between(then.busy_s, now.busy_s)};
      if (open_[i].since != before.open_[i].since) open_[i].since += passed_s;
    }
  }
  const std::vector<LinkLoad>& loads() const { return loads_; }

 private:
  struct Open {
    int transfers = 0;
    double since = 0;
  };

  std::vector<LinkLoad> loads_;
  std::vector<Open> open_;
};

// One message of a collective, from one replica to another.
struct Transmission {
  int source = 0, target = 0;
  std::int64_t bytes = 0;  // of payload, > 0
  MessageKey key = {};     // its name; networks whose messages draw their times need it
  // Part of a message that was cut, a piece of a collective that sends its vector in pieces, or pushed ahead:
  // in `analytic` it leaves after what its connection was handed before within the same exchange. The other
  // networks have connections that do so anyway.
  bool in_turn = false;
  // Of what its arrival leads to in that instant: only its target sends, and nothing is set for later. Hosts
  // in `linux` are then run by several threads.
  bool is_answered_by_target = false;
};

// A round of an exchange, all of whose transfers were handed over in this instant, when those of the round
// before had arrived.
struct EqualRound {
  std::size_t transfers = 0;
  int left = 0;          // rounds behind it that hand over the same
  bool is_next = false;  // the network has noted the round before
  std::function<void(int rounds)> skip;
};

// Segments with payload: those of the replicas, each counted once; those of them that were sent again; those
// of others, again ones too.
struct SegmentCount {
  std::int64_t own = 0, own_again = 0, of_others = 0;
  std::int64_t together() const { return own + own_again + of_others; }
};

class Network {
 public:
  using Arrival = std::function<void()>;

  virtual ~Network() = default;

  // `on_arrival` runs when the last byte has arrived. Transfers of one exchange with the same two ends arrive
  // in the order in which they were sent. Only from within the simulation. Where its time went is added to
  // `parts`, if given, until `on_arrival` runs.
  virtual void send(const Transmission& transfer, Arrival on_arrival, SyncParts* parts = nullptr) = 0;

  // A network that is in the state of two rounds before, and to which nothing else will happen, may pass over
  // an even number of those that are left: it moves all its times by as many, and calls `skip` in this
  // instant. True: it notes the round, and adds to each number of the `parts` of its transfers once at most.
  virtual bool note_equal_round(EqualRound) { return false; }

  // Simulated time at which training may begin: connections are established before it.
  virtual double ready_s() const { return 0; }

  // Of a network that counts them: with payload, so far.
  virtual std::optional<SegmentCount> segments() const { return std::nullopt; }

  // By direction (net/topology.h). Complete after the last arrival.
  virtual const std::vector<LinkLoad>& loads() = 0;

  // `beat` is called now and then while the network works: for progress and interrupts.
  void set_heartbeat(std::function<void()> beat) { heartbeat_ = std::move(beat); }

 protected:
  void beat() const {
    if (heartbeat_) heartbeat_();
  }

 private:
  std::function<void()> heartbeat_;
};

// How a replay gets its network. `used_ends` gives the ordered pairs of replicas that will send; asked only
// where connections are made beforehand. `seed`: for random loss, drawn times and what varies. Throws
// InputError, RunError.
using NetworkMaker = std::function<std::unique_ptr<Network>(
    const NetworkSpec& spec, const Topology& topology,
    const std::function<std::vector<std::pair<int, int>>()>& used_ends, std::uint64_t seed)>;

}  // namespace longhaul
