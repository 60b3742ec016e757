// Who has the result of an operation sends it to those who need it: each of them to one after another, and so
// do those who have got it.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>

#include "replay/exchange/exchange_run.h"
#include "replay/work/life.h"

namespace longhaul {

class ResultServers {
 public:
  // `way`: what the seconds of its transfer are. It may end the object.
  using Arrived = std::function<void(int replica, const SyncParts& way)>;

  // `context` must outlive it. Of an operation of `rule` of a step, whose result has so many bytes, and which
  // has had so many transfers so far.
  ResultServers(const ExchangeContext& context, int step, int rule, std::int64_t bytes,
                std::int64_t transfers_before, Arrived on_arrived);

  void add_source(int replica);   // it has the result
  void add_waiting(int replica);  // it needs it
  void remove(int replica);       // it is gone: it needs nothing, and begins to send nothing

  std::int64_t transfers() const { return transfers_; }
  const std::map<int, std::int64_t>& bytes_sent() const { return bytes_sent_; }  // by who sent
  std::int64_t bytes_sent(int replica) const;

 private:
  void serve();
  void send(int source, int target);

  const ExchangeContext& context_;
  int step_, rule_;
  std::int64_t bytes_;
  Arrived on_arrived_;
  std::deque<int> idle_, waiting_;
  std::set<int> gone_;
  std::map<int, std::int64_t> bytes_sent_;
  std::int64_t transfers_before_, transfers_ = 0;
  Life life_;
};

}  // namespace longhaul
