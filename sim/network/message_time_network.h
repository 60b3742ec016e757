// A mesh whose messages draw their times (network.message_time): a message is there after its time, whatever
// its size, its links and the other messages. What is left of the network are the paths, for the tables.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>

#include "net/message_times.h"
#include "sim/network/network.h"

namespace longhaul {

class MessageTimeNetwork : public Network {
 public:
  // `topology` must outlive it.
  MessageTimeNetwork(const NetworkSpec& spec, const Topology& topology, std::uint64_t seed);

  // Without a key there is no draw: every message has one.
  void send(int source, int target, std::int64_t bytes, Arrival on_arrival,
            SyncParts* parts = nullptr) override;
  void send_message(const MessageKey& key, int source, int target, std::int64_t bytes, Arrival on_arrival,
                    SyncParts* parts = nullptr) override;
  const std::vector<LinkLoad>& loads() const override { return loads_.loads(); }

 private:
  int segment_;
  const Topology& topology_;
  MessageTimes times_;
  LinkLoads loads_;
  // Messages from one to another arrive in order within an exchange (a bucket of it); exchanges that overlap
  // do not wait for each other, as in the analytic walk.
  using Stream = std::tuple<int, int, int, int, int>;  // step, rule, bucket, source, target
  std::map<Stream, std::int64_t> latest_arrival_ns_;   // of what is under way
};

}  // namespace longhaul
