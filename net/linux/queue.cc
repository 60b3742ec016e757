#include "net/linux/queue.h"

#include <algorithm>

#include "core/base/index.h"

namespace longhaul::linux_tcp {
namespace {

constexpr std::int64_t kQuantum = 1538;  // bytes of a connection's turn

}  // namespace

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
  if (has_limit_ && until > now) {
    if (bytes_ + counted > rules_.limit) {
      ++dropped_;
      return kNever;
    }
    bytes_ += counted;
    waiting_.push_back({until, counted});
  }
  if (rules_.slots > 0) {
    if (static_cast<int>(begin_ns_.size()) == rules_.slots) begin_ns_.pop_front();
    begin_ns_.push_back(std::max(now, static_cast<Nanoseconds>(begin)));
  }
  free_ns_ = pace_.finish(begin, bytes);
  return std::max(now, static_cast<Nanoseconds>(free_ns_));
}

FairQueue::Flow& FairQueue::flow(std::int64_t number) {
  if (as_index(number) >= flows_.size()) flows_.resize(as_index(number) + 1);
  return flows_[as_index(number)];
}

void FairQueue::enter(const Packet& packet, std::int64_t number, Nanoseconds now) {
  Flow& one = flow(number);
  one.packets.push_back({packet, now});
  ++size_;
  completing_ += packet.may_complete;
  one.bytes += packet.bytes();
  if (one.is_listed) return;
  one.is_listed = true;
  one.deficit = kQuantum;
  fresh_.push_back(number);
}

// Of one connection: what CoDel drops is not sent.
std::optional<Packet> FairQueue::take(Flow& flow, Nanoseconds now) {
  while (!flow.packets.empty()) {
    Packet packet = flow.packets.front().packet;
    const Nanoseconds waited = now - flow.packets.front().since;
    flow.packets.pop_front();
    --size_;
    completing_ -= packet.may_complete;
    flow.bytes -= packet.bytes();
    if (!has_codel_ || !flow.codel.signals(waited, flow.bytes, now)) return packet;
    if (marks_ && !packet.is_ack) {
      packet.is_marked = true;
      return packet;
    }
    ++dropped_;
  }
  return {};
}

std::optional<Packet> FairQueue::next(Nanoseconds now) {
  while (!fresh_.empty() || !old_.empty()) {
    std::deque<std::int64_t>& list = fresh_.empty() ? old_ : fresh_;
    const std::int64_t number = list.front();
    Flow& one = flow(number);
    if (one.deficit <= 0) {
      one.deficit += kQuantum;
      list.pop_front();
      old_.push_back(number);
      continue;
    }
    if (const std::optional<Packet> packet = take(one, now)) {
      one.deficit -= packet->bytes();
      return packet;
    }
    list.pop_front();
    if (&list == &fresh_ && !old_.empty())
      old_.push_back(number);
    else
      one.is_listed = false;
  }
  return {};
}

}  // namespace longhaul::linux_tcp
