// One exchange of one group as the replay sees it: in one piece, or in the buckets of an all-reduce that
// overlaps with the backward pass.
//
// A replica releases its contribution bucket by bucket. Buckets are exchanged one after another, as on the
// one stream of a communicator: a replica posts a bucket when it has released it and is done with the one
// before.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "replay/exchange_run.h"
#include "replay/group_operation.h"

namespace longhaul {

class BucketedExchange : public GroupOperation {
 public:
  // `context` must outlive it.
  BucketedExchange(const ExchangeContext& context, const Operation& exchange, int rule_index,
                   std::vector<int> group, MemberDone on_member_done);

  void release(int replica) override;
  // Nothing is sent any more, and nobody will be done. It must outlive what is under way (given_up).
  void give_up() {
    for (const auto& run : runs_) run->give_up();
  }
  MemberTimes times(int replica) const override;
  bool is_done(int replica) const override { return runs_.back()->is_done(replica); }
  bool is_finished() const override { return runs_.back()->is_finished(); }
  double start_s() const override;
  double done_s() const override { return runs_.back()->done_s(); }
  std::int64_t transfers() const override;
  std::vector<std::string> waiting()
      const override;  // as ExchangeRun's, of the first bucket that is not done

 private:
  struct Member {
    std::size_t released = 0, posted = 0;  // buckets
    double ready_s = -1;
  };

  void post_next(int replica, const SyncParts& chain);
  void end_bucket(std::size_t bucket, int replica);

  const Clock& clock_;
  std::vector<std::unique_ptr<ExchangeRun>> runs_;  // a bucket each
  std::vector<Member> members_;                     // in the order of the group
  std::size_t ready_ = 0;                           // of them
  MemberDone on_member_done_;
};

}  // namespace longhaul
