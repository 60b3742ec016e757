// One exchange of one group as the replay sees it: in one operation, or in several, which together carry the
// payload.
//
// A replica releases its contribution bucket by bucket, with each bucket one operation, or with the only
// bucket all of them. It posts them in their order, as soon as fewer are under way than may be at a time:
// one, as on the one stream of a communicator, or as many as a library has workers.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "replay/exchange/exchange_run.h"
#include "replay/exchange/group_operation.h"

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
  bool is_done(int replica) const override { return at(replica).done == runs_.size(); }
  bool is_finished() const override { return finished_ == members_.size(); }
  double start_s() const override;
  double start_s(int replica) const override;
  double done_s() const override;
  std::int64_t transfers() const override;
  std::vector<std::string> waiting()
      const override;  // as ExchangeRun's, of the first operation that is not done

 private:
  struct Member {
    std::size_t released = 0, posted = 0, done = 0;  // operations
    std::size_t last = 0;                            // the one that was done last
    double ready_s = -1;
    SyncParts chain;  // that led to where the next one may be posted
    bool is_posting = false;
  };

  const Member& at(int replica) const { return members_[runs_.front()->member_of(replica)]; }
  Member& at(int replica) { return members_[runs_.front()->member_of(replica)]; }
  void post_next(int replica);
  void end_operation(std::size_t operation, int replica);

  const Clock& clock_;
  std::vector<std::unique_ptr<ExchangeRun>> runs_;  // an operation each
  std::vector<Member> members_;                     // in the order of the group
  std::size_t at_a_time_ = 1;
  std::size_t ready_ = 0, finished_ = 0;  // of them
  MemberDone on_member_done_;
};

}  // namespace longhaul
