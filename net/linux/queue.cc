#include "net/linux/queue.h"

#include <algorithm>

#include "core/base/index.h"

namespace longhaul::linux_tcp {

Nanoseconds FifoQueue::enter(std::int32_t bytes, Nanoseconds now) {
  while (!waiting_.empty() && waiting_.front().until_ns <= now) {
    bytes_ -= waiting_.front().bytes;
    waiting_.pop_front();
  }
  const std::int32_t counted = bytes - rules_.bytes_beside;
  const auto at = static_cast<double>(now);
  // Bytes count only while the packet waits.
  const double begin = std::max(free_ns_, at - 1e9 * rules_.burst_s);
  Nanoseconds until = std::max(now, static_cast<Nanoseconds>(begin));
  if (rules_.slots > 0 && static_cast<int>(begin_ns_.size()) == rules_.slots)
    until = std::min(until, std::max(now, begin_ns_.front()));
  else if (rules_.slots > 0)
    until = now;
  if (until > now) {
    if (bytes_ + counted > rules_.limit) {
      ++dropped_;
      return kNever;
    }
    bytes_ += counted;
    most_waiting_ = std::max(most_waiting_, bytes_);
    waiting_.push_back({until, counted});
  }
  if (rules_.slots > 0) {
    if (static_cast<int>(begin_ns_.size()) == rules_.slots) begin_ns_.pop_front();
    begin_ns_.push_back(std::max(now, static_cast<Nanoseconds>(begin)));
  }
  free_ns_ = begin + ns_per_byte_ * static_cast<double>(bytes);
  return std::max(now, static_cast<Nanoseconds>(free_ns_));
}

FairQueue::Flow& FairQueue::flow(std::int64_t number) {
  if (as_index(number) >= flows_.size()) flows_.resize(as_index(number) + 1);
  return flows_[as_index(number)];
}

void FairQueue::enter(const Packet& packet, std::int64_t number) {
  Flow& one = flow(number);
  one.packets.push_back(packet);
  ++waiting_;
  if (one.is_listed) return;
  constexpr std::int64_t kQuantum = 1538;
  one.is_listed = true;
  one.deficit = kQuantum;
  fresh_.push_back(number);
}

Packet FairQueue::next() {
  constexpr std::int64_t kQuantum = 1538;
  for (;;) {
    std::deque<std::int64_t>& list = fresh_.empty() ? old_ : fresh_;
    const std::int64_t number = list.front();
    Flow& one = flow(number);
    if (one.deficit <= 0) {
      one.deficit += kQuantum;
      list.pop_front();
      old_.push_back(number);
      continue;
    }
    if (one.packets.empty()) {
      list.pop_front();
      if (&list == &fresh_ && !old_.empty())
        old_.push_back(number);
      else
        one.is_listed = false;
      continue;
    }
    const Packet packet = one.packets.front();
    one.packets.pop_front();
    one.deficit -= packet.bytes;
    --waiting_;
    return packet;
  }
}

}  // namespace longhaul::linux_tcp
