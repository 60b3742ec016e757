#include "sim/network/message_time_network.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "net/framing.h"
#include "sim/network/clock.h"

namespace longhaul {

MessageTimeNetwork::MessageTimeNetwork(const NetworkSpec& spec, const Topology& topology, std::uint64_t seed)
    : segment_(spec.tcp.segment),
      topology_(topology),
      times_(*spec.message_time, seed),
      loads_(static_cast<std::size_t>(2 * topology.link_count())) {}

void MessageTimeNetwork::send(int, int, std::int64_t, Arrival, SyncParts*) {
  throw std::logic_error("a message without a key has no time to draw");
}

void MessageTimeNetwork::send_message(const MessageKey& key, int source, int target, std::int64_t bytes,
                                      Arrival on_arrival, SyncParts* parts) {
  const Stream stream{key.step, key.rule, key.bucket, source, target};
  const std::int64_t now = now_ns();
  const std::int64_t drawn_ns = std::llround(times_.seconds(key) * 1e9);
  std::int64_t& latest = latest_arrival_ns_[stream];
  latest = std::max<std::int64_t>(latest, now + drawn_ns);
  const std::int64_t arrival_ns = latest;
  if (parts) {
    parts->bytes_s += static_cast<double>(drawn_ns) / 1e9;
    parts->waiting_s += static_cast<double>(arrival_ns - now - drawn_ns) / 1e9;
  }
  const LinkDirection direction = topology_.path(source, target).directions.front();
  const std::int64_t segments = (bytes + segment_ - 1) / segment_;
  loads_.add_bytes(direction, bytes + segments * kHeaderBytes);
  loads_.begin({direction}, now_s());
  after_ns(arrival_ns - now, [this, stream, arrival_ns, direction, arrived = std::move(on_arrival)] {
    loads_.end({direction}, now_s());
    const auto found = latest_arrival_ns_.find(stream);
    if (found != latest_arrival_ns_.end() && found->second == arrival_ns) latest_arrival_ns_.erase(found);
    arrived();
  });
}

}  // namespace longhaul
