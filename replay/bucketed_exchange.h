// One exchange of one group as the replay sees it: in one piece, or in the buckets of an all-reduce that
// overlaps with the backward pass.
//
// A replica releases its contribution bucket by bucket. Buckets are exchanged one after another, as on the
// one stream of a communicator: a replica posts a bucket when it has released it and is done with the one
// before.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/plan/operations.h"
#include "replay/exchange_run.h"

namespace longhaul {

class BucketedExchange {
 public:
  struct MemberTimes {
    double ready_s = -1, done_s = -1;  // released the last bucket, done with it; -1: not yet
    std::int64_t bytes_sent = 0;
    SyncParts parts;  // of the time from start_s() to done_s
  };
  using MemberDone = std::function<void(int replica)>;

  // `context` and the exchange's rule must outlive it. `group`: replicas, in the order of the group.
  BucketedExchange(const ExchangeContext& context, const Operation& exchange, int rule_index,
                   std::vector<int> group, MemberDone on_member_done);
  BucketedExchange(const BucketedExchange&) = delete;  // its runs call back
  BucketedExchange& operator=(const BucketedExchange&) = delete;

  // The next bucket of this replica's contribution may go; with the last one the replica is ready.
  void release(int replica);

  int rule_index() const { return runs_.front()->rule_index(); }
  int step() const { return runs_.front()->step(); }
  const OperationRule& rule() const { return runs_.front()->rule(); }
  const std::vector<int>& group() const { return runs_.front()->group(); }
  MemberTimes times(int replica) const;
  bool is_done(int replica) const { return runs_.back()->is_done(replica); }
  bool is_finished() const { return runs_.back()->is_finished(); }
  double start_s() const;  // the last member was ready; only once all are
  double done_s() const { return runs_.back()->done_s(); }
  std::int64_t transfers() const;
  std::vector<std::string> waiting() const;  // as ExchangeRun's, of the first bucket that is not done

 private:
  struct Member {
    std::size_t released = 0, posted = 0;  // buckets
    double ready_s = -1;
  };

  std::size_t member_of(int replica) const;
  void post_next(int replica, const SyncParts& chain);
  void end_bucket(std::size_t bucket, int replica);

  const Clock& clock_;
  std::vector<std::unique_ptr<ExchangeRun>> runs_;  // a bucket each
  std::vector<Member> members_;                     // in the order of the group
  std::size_t ready_ = 0;                           // of them
  MemberDone on_member_done_;
};

}  // namespace longhaul
