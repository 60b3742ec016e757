// An operation that may go without some of its group: members that are too late for a quorum (quorum.h), and
// where replicas crash and come back those that are lost on the way, while others may join (RecoverySpec,
// core/scenario/fault.h).
//
// A quorum. The operation begins with the members that are ready then. It passes the others by: they send
// nothing and wait for nothing; or, where it says so (`fetches`), they wait for its result, which members
// that have it send.
//
// A loss. Until a member is done, the operation restarts without the lost member, from the first byte.
// Afterwards members that are not done fetch the result from those that are; each serves one at a time, and
// so does who has fetched it. What was under way at a restart still arrives, and a member that has the result
// goes on serving after a crash.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "replay/exchange/bucketed_exchange.h"
#include "replay/exchange/exchange_run.h"
#include "replay/exchange/group_operation.h"
#include "replay/exchange/quorum.h"
#include "replay/exchange/result_servers.h"

namespace longhaul {

class ElasticExchange : public GroupOperation {
 public:
  // `context` must outlive it. `group`: in the order of the group. Of these `listeners` get the result and
  // contribute nothing. `discards`: it fails for all once a contributor is lost. `on_member_done` is called
  // with -1 where it ends because a member is lost.
  ElasticExchange(const ExchangeContext& context, const Operation& exchange, int rule_index,
                  std::vector<int> group, const std::vector<int>& listeners, bool discards,
                  MemberDone on_member_done);

  // These do nothing for a replica that is no member, or done.

  // The replica has crashed, and the others do not know: if it had released something, nothing continues
  // until on_failure_detected() or on_resume().
  void on_crash(int replica);
  // The others know.
  void on_failure_detected(int replica);
  // It was gone and is back: what it released is lost; where `has_row`, it releases that again at once.
  void on_resume(int replica, bool has_row);
  // Whether it could take part from now on: not once all have released.
  bool can_add(int replica) const;
  // It does, as a listener or not. False, and nothing happens, where it cannot.
  bool add_member(int replica, bool listens);
  // A listener will contribute: what it released does not count.
  void begin_contributing(int replica);

  // What was sent until now: by members, those who are lost, and in exchanges that were given up.
  std::map<int, std::int64_t> bytes_by_sender() const;
  bool is_discarded() const override { return phase_ == Phase::kFailed; }

  void release(int replica) override;
  const std::vector<int>& participants() const override { return participants_; }
  // Of a member that it passed by: done when it was ready, with nothing sent; or when it has the result.
  MemberTimes times(int replica) const override;
  bool is_done(int replica) const override;
  bool is_finished() const override;
  double start_s() const override;
  double start_s(int replica) const override;
  double done_s() const override;
  std::int64_t transfers() const override;
  std::vector<std::string> waiting() const override;

 private:
  enum class Phase {
    kAlone,        // no two members are left to meet: each is done when it has released
    kGathering,    // a quorum is waited for
    kRunning,      // those that take part exchange, or will once they have released
    kInterrupted,  // a member has crashed with what it released, and the others do not know
    kFetching,     // members without the result get it from those that have it
    kFailed,       // no member has a result: each is done when it has released
  };
  struct Member {
    bool listens = false;
    int released = 0;  // buckets
    double ready_s = -1, done_s = -1;
  };
  struct Fetched {
    double at_s = 0;
    SyncParts way;
  };

  bool waits_for_all() const { return rule().completion.is_all(); }
  bool is_open() const { return phase_ == Phase::kGathering || phase_ == Phase::kRunning; }
  std::vector<int> members_that(bool listen) const;  // or that contribute
  bool takes_part(int replica) const;
  std::unique_ptr<BucketedExchange> run_among(const std::vector<int>& members);
  void open();
  void abort();
  void restart();
  void begin();
  void release_to_run(int replica, bool is_last_bucket);
  void continue_without_lost(bool fails);
  void fail();
  void fetch_result();
  void end(int replica);
  void notify(int replica);

  const ExchangeContext& context_;
  bool discards_;
  MemberDone on_member_done_;
  Phase phase_ = Phase::kAlone;
  std::map<int, Member> members_;
  std::vector<int> order_;  // of members, in the order of the group
  std::vector<int> participants_;
  std::set<int> crashed_;  // members, while the others do not know
  Quorum quorum_;
  std::unique_ptr<BucketedExchange> run_;     // of those that take part, if they are two or more
  std::map<int, std::int64_t> wasted_bytes_;  // by who sent them in exchanges that were given up
  std::int64_t transfers_given_up_ = 0;
  std::optional<ResultServers> servers_;  // once a result is fetched
  std::map<int, Fetched> fetched_;        // by members that a quorum passed by
  double settled_s_ = -1;                 // when it failed, or was fetched, or a member was done
  bool has_told_end_ = false;
};

}  // namespace longhaul
