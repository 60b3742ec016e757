#include "replay/network/analytic_network.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "core/base/index.h"

namespace longhaul {
namespace {

constexpr std::int64_t kMostUncounted = 1 << 16;

}  // namespace

void BusyTimes::add(LinkDirection direction, std::int64_t begin_ns, std::int64_t end_ns, std::int64_t bytes) {
  const auto i = as_index(direction);
  loads_[i].bytes += bytes;
  if (open_[i].empty()) used_.push_back(direction);
  open_[i].push_back({begin_ns, end_ns});
}

void BusyTimes::count_until(std::int64_t horizon_ns) {
  std::vector<LinkDirection> still_used;
  for (const LinkDirection direction : used_) {
    const auto i = as_index(direction);
    std::sort(open_[i].begin(), open_[i].end());
    std::vector<Interval> merged;
    for (const Interval& interval : open_[i])
      if (merged.empty() || interval.first > merged.back().second)
        merged.push_back(interval);
      else
        merged.back().second = std::max(merged.back().second, interval.second);
    std::int64_t busy_ns = 0;
    open_[i].clear();
    for (const Interval& interval : merged)
      if (interval.second < horizon_ns)
        busy_ns += interval.second - interval.first;
      else
        open_[i].push_back(interval);
    loads_[i].busy_s += seconds_of(busy_ns);
    if (!open_[i].empty()) still_used.push_back(direction);
  }
  used_ = std::move(still_used);
}

AnalyticNetwork::AnalyticNetwork(const NetworkSpec& spec, const Topology& topology, std::uint64_t seed,
                                 Clock& clock)
    : clock_(clock), costs_(spec, topology, seed), busy_(as_index(2 * topology.link_count())) {}

void AnalyticNetwork::send(const Transmission& transfer, Arrival on_arrival, SyncParts* parts) {
  const MessageKey& key = transfer.key;
  const Stream stream{key.step, key.rule, key.bucket, transfer.source, transfer.target};
  const MessageCosts::Way& way = costs_.way(transfer.source, transfer.target);
  const std::int64_t now_ns = clock_.now_ns();
  const std::int64_t time_ns = transfer.in_turn
                                   ? costs_.sending_ns(way, transfer.bytes) + costs_.latency_ns(way)
                                   : costs_.time_ns(key, way, transfer.bytes);
  const std::int64_t latency_ns = std::min(time_ns, costs_.latency_ns(way));
  Course& course = courses_[stream];
  // Waiting for its turn is time that earlier bytes take; waiting for an earlier arrival is waiting.
  const std::int64_t begin_ns = transfer.in_turn ? std::max(now_ns, course.free_ns) : now_ns;
  const std::int64_t alone_ns = begin_ns + time_ns;
  const std::int64_t arrival_ns = std::max(alone_ns, course.latest_ns);
  course.free_ns = alone_ns - latency_ns;
  course.latest_ns = arrival_ns;
  if (parts) {
    parts->latency_s += seconds_of(latency_ns);
    parts->bytes_s += seconds_of(alone_ns - now_ns - latency_ns);
    parts->waiting_s += seconds_of(arrival_ns - alone_ns);
  }
  for (const LinkDirection direction : way.directions)
    busy_.add(direction, begin_ns, arrival_ns, costs_.wire_bytes(transfer.bytes));
  if (++uncounted_ == kMostUncounted) count_until(now_ns);
  clock_.after_ns(arrival_ns - now_ns, [this, stream, arrival_ns, arrived = std::move(on_arrival)] {
    const auto found = courses_.find(stream);
    if (found != courses_.end() && found->second.latest_ns == arrival_ns) courses_.erase(found);
    arrived();
  });
}

// No message that comes later begins before now.
void AnalyticNetwork::count_until(std::int64_t horizon_ns) {
  beat();
  busy_.count_until(horizon_ns);
  uncounted_ = 0;
}

const std::vector<LinkLoad>& AnalyticNetwork::loads() {
  count_until(INT64_MAX);
  return busy_.loads();
}

}  // namespace longhaul
