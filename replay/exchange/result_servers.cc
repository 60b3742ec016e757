#include "replay/exchange/result_servers.h"

#include <algorithm>
#include <utility>

namespace longhaul {

ResultServers::ResultServers(const ExchangeContext& context, int step, int rule, std::int64_t bytes,
                             std::int64_t transfers_before, Arrived on_arrived)
    : context_(context),
      step_(step),
      rule_(rule),
      bytes_(std::max<std::int64_t>(1, bytes)),
      on_arrived_(std::move(on_arrived)),
      transfers_before_(transfers_before) {}

void ResultServers::add_source(int replica) {
  if (gone_.count(replica)) return;
  idle_.push_back(replica);
  serve();
}

void ResultServers::add_waiting(int replica) {
  waiting_.push_back(replica);
  serve();
}

void ResultServers::remove(int replica) {
  gone_.insert(replica);
  for (std::deque<int>* replicas : {&idle_, &waiting_})
    replicas->erase(std::remove(replicas->begin(), replicas->end(), replica), replicas->end());
}

void ResultServers::serve() {
  while (!idle_.empty() && !waiting_.empty()) {
    const int source = idle_.front(), target = waiting_.front();
    idle_.pop_front();
    waiting_.pop_front();
    send(source, target);
  }
}

void ResultServers::send(int source, int target) {
  ++transfers_;
  bytes_sent_[source] += bytes_;
  const auto way = std::make_shared<SyncParts>();
  life_.send(
      context_.network,
      {source, target, bytes_, {step_, rule_, source, static_cast<int>(transfers_before_ + transfers_)}},
      [this, source, target, way, watch = life_.watch()] {
        if (gone_.count(target) == 0) on_arrived_(target, *way);
        if (watch.has_ended()) return;
        add_source(source);
        add_source(target);
      },
      way.get());
}

std::int64_t ResultServers::bytes_sent(int replica) const {
  const auto found = bytes_sent_.find(replica);
  return found == bytes_sent_.end() ? 0 : found->second;
}

}  // namespace longhaul
