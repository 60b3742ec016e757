// One version of the trainers' weights on its way to all groups of rollouts.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "core/scenario/rollouts.h"
#include "net/distributions/distribution.h"
#include "replay/network/network.h"

namespace longhaul {

class WeightTransfer {
 public:
  // What a piece is asked for with, and an upload answered: as long as an HTTP request and its headers.
  static constexpr std::int64_t kRequestBytes = 300;

  struct Carriers {
    Clock& clock;
    Network& network;
  };
  // A piece of so many bytes has come to a group's host.
  using Arrived = std::function<void(int host, std::int64_t bytes)>;

  // All must outlive it. `store`: its host, or −1. `rule`: in the names of messages, of no rule of the plan.
  // It calls back until is_done(), and once more in that instant.
  WeightTransfer(Carriers carriers, const WeightsSpec& weights, const std::vector<WeightTree>& trees,
                 int store, int version, int rule, Arrived on_arrival);
  WeightTransfer(const WeightTransfer&) = delete;  // what it starts calls back
  WeightTransfer& operator=(const WeightTransfer&) = delete;

  // What the source has to send of the version is trained.
  void release(int source);
  // All pieces are with all groups.
  bool is_done() const { return left_ == 0; }
  std::int64_t transfers() const { return transfers_; }
  std::int64_t bytes() const { return bytes_; }  // sent so far, of weights
  std::vector<std::string> waiting() const;

 private:
  struct Piece {
    std::size_t tree = 0;
    std::int64_t bytes = 0;
  };
  // What a group still has to ask the store for.
  struct Downloads {
    std::deque<Piece> open;
    int under_way = 0;
  };

  // Down a tree, from a host to one below it, where each piece is asked for, or answered: what has not left
  // yet, how many may leave, and for how many more the receiver asks.
  struct Way {
    std::deque<Piece> open;
    std::int64_t allowed = 0, asks = 0;
  };

  void has(int host, const Piece& piece);
  int allowed_at_once(int below) const;
  void send_allowed(int from, int to, Way& way);
  void send(int from, int to, const Piece& piece, std::function<void()> on_arrival);
  void transmit(int from, int to, std::int64_t bytes, std::function<void()> on_arrival);
  void arrive(int host, const Piece& piece);
  void ask(int group);

  Clock& clock_;
  Network& network_;
  const WeightsSpec& weights_;
  const std::vector<WeightTree>& trees_;
  const std::vector<std::vector<std::int64_t>> pieces_;  // by tree
  const int store_, version_, rule_;
  const Arrived on_arrival_;
  std::map<int, Downloads> downloads_;                     // by group's host
  std::map<std::tuple<std::size_t, int, int>, Way> ways_;  // by tree, sender and receiver
  std::map<int, int> numbers_;                             // of messages, by sender
  std::int64_t left_ = 0, transfers_ = 0, bytes_ = 0;
};

// Of a tree, the pieces of its source's part: equal but for a byte.
std::vector<std::int64_t> pieces_of(const WeightTree& tree, const WeightsSpec& weights);

}  // namespace longhaul
