// The network of fidelity `linux`: every message over the TCP connections of its two ends, segment by segment
// (net/linux/engine.h), on a clock that the replay and the segments share. Needs no ns-3.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "net/linux/engine.h"
#include "net/tcp/connection.h"
#include "net/variation/variation.h"
#include "replay/network/network.h"

namespace longhaul {

// Actions of the replay and segments in one order of time; an action before a segment of the same instant.
class LinuxClock : public Clock {
 public:
  std::int64_t now_ns() const override { return now_ns_; }
  // Throws std::logic_error if hosts were run beyond that time (Transmission::is_answered_by_target).
  void after_ns(std::int64_t delay_ns, std::function<void()> action) override;
  void run() override;
  void stop() override { is_stopped_ = true; }
  void close() override { agenda_.clear(); }
  std::uint64_t events() const override { return engine_ ? engine_->events() : 0; }

  // The segments that run on it, and what is called now and then while they do. Both outlive run().
  void carry(linux_tcp::Engine& engine, std::function<void()> beat);
  void drop() { engine_ = nullptr; }
  // What others do, and go on to do for ever: run() does not wait for it.
  void after_beside(std::int64_t delay_ns, std::function<void()> action);

 private:
  void run_window(std::int64_t begin_ns);
  void act();
  void beat();

  Agenda agenda_;
  linux_tcp::Engine* engine_ = nullptr;
  std::function<void()> beat_;
  std::int64_t now_ns_ = 0;
  std::uint64_t beaten_ = 0;
  std::size_t beside_ = 0;  // actions of others
  bool has_others_ = false;
  bool is_stopped_ = false;
};

class LinuxNetwork : public Network {
 public:
  // `topology` and `clock` must outlive it. `ends`: who will send to whom. `threads` of the processor change
  // no result. Throws InputError of what varies with time.
  LinuxNetwork(const NetworkSpec& spec, const Topology& topology,
               const std::vector<std::pair<int, int>>& ends, std::uint64_t seed, LinuxClock& clock,
               int threads = 1);
  ~LinuxNetwork() override { clock_.drop(); }

  void send(const Transmission& transfer, Arrival on_arrival, SyncParts* parts = nullptr) override;
  const std::vector<LinkLoad>& loads() override;
  std::optional<SegmentCount> segments() const override;

 private:
  struct Peers {
    ConnectionFacts facts;
    std::vector<int> connections;
  };

  linux_tcp::QueueRules queue_of(LinkDirection direction) const;
  Peers& peers(int source, int target);
  void connect_others(const VariationSpec& spec);
  void follow_others();
  std::optional<double> window_of_others(const Variation::CrossFlow& flow) const;

  TcpSpec tcp_;
  const Topology& topology_;
  LinuxClock& clock_;
  std::map<LinkDirection, double> longest_rtt_s_;  // of the connections over it
  // Of a network that changes with time: what its links will have, and who else sends now.
  std::unique_ptr<linux_tcp::LinkSchedule> schedule_;
  std::unique_ptr<Variation> present_;
  linux_tcp::Engine engine_;
  std::set<LinkDirection> ways_of_others_;
  struct Others {
    std::size_t flow;  // of the variation's
    std::vector<int> connections;
    bool are_on = false;
  };
  std::vector<Others> others_;
  std::map<std::pair<int, int>, Peers> peers_;
  LinkLoads open_;
  std::vector<LinkLoad> loads_;
};

}  // namespace longhaul
