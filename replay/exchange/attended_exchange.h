// An operation that may go without some of its group: members that come too late (Completion), and where
// replicas crash and come back those that are lost on the way, while others may join (RecoverySpec,
// core/scenario/fault.h).
//
// A quorum. It begins with the members that are ready when the quorum was there for the grace time, or with
// all as soon as all are. It passes the others by: they send nothing and wait for nothing; or, where it says
// so (`fetches`), they wait for its result, which those send who have it. An adaptive grace time is fixed
// when the quorum is there, from the lags of operations of its rule that have begun by then; those that were
// passed by count once they are ready.
//
// A loss. While nobody is done it begins anew, from the first byte, among those who are left. Once somebody
// is done it has its result: who is not done fetches that from one who is, each of whom serves one after
// another, as do those who have fetched it. What was under way when it began anew still arrives, and who has
// the result goes on serving after a crash.
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
#include "replay/exchange/result_servers.h"
#include "replay/work/life.h"

namespace longhaul {

class AttendedExchange : public GroupOperation {
 public:
  // `context` must outlive it. `group`: in the order of the group. Of these `listeners` get the result and
  // contribute nothing. `discards`: it fails for all once a contributor is lost. `on_member_done` is called
  // with -1 where it ends because somebody is lost.
  AttendedExchange(const ExchangeContext& context, const Operation& exchange, int rule_index,
                   std::vector<int> group, const std::vector<int>& listeners, bool discards,
                   MemberDone on_member_done);

  // This replica has crashed, and nobody knows: where it had begun, nothing goes on until lose() or redo().
  void cut(int replica);
  // This replica is gone, as the others know now; nothing where it is no member, or done.
  void lose(int replica);
  // It takes part from now on, as a listener or not. False, and nothing happens, once all have released.
  bool admit(int replica, bool listens);
  // A listener that will contribute: what it released does not count.
  void promote(int replica);
  // It was gone and is back: what it released is lost; where `has_row`, it releases that again at once.
  void redo(int replica, bool has_row);

  std::vector<int> members_that(bool listen) const;  // or contribute
  // What those sent who were members and are lost.
  std::map<int, std::int64_t> bytes_of_lost() const;
  // It failed: nobody has a result.
  bool is_discarded() const { return is_discarded_; }

  void release(int replica) override;
  const std::vector<int>& participants() const override { return participants_; }
  // Of a member that it passed by: done when it was ready, with nothing sent; or when it has the result.
  MemberTimes times(int replica) const override;
  bool is_done(int replica) const override;
  bool is_finished() const override;
  double start_s() const override;
  double done_s() const override;
  std::int64_t transfers() const override;
  std::vector<std::string> waiting() const override;

 private:
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
  bool takes_part(int replica) const;
  std::unique_ptr<BucketedExchange> run_among(const std::vector<int>& members);
  void open();
  void give_up();
  void hand_in(int replica, bool is_last_bucket);
  void come(int replica);
  void begin();
  void go_on(bool fails);
  void begin_anew();
  void fetch_result();
  void end(int replica);
  void tell(int replica);

  const ExchangeContext& context_;
  bool discards_;
  MemberDone on_member_done_;
  std::map<int, Member> members_;
  std::map<int, std::int64_t> wasted_bytes_;  // by who sent them in exchanges that were given up
  std::vector<int> order_;                    // of members, in the order of the group
  std::vector<int> participants_;
  // Whether members meet: not where one is left, nor once it has failed or is fetched. Then the meeting, of
  // those who take part; null while a quorum is waited for, and where one takes part alone.
  bool is_open_ = false;
  std::unique_ptr<BucketedExchange> run_;
  bool is_discarded_ = false, is_fetched_ = false, has_told_end_ = false;
  std::set<int> cut_;  // members that have crashed with what they released, which the others do not know yet
  std::optional<ResultServers> servers_;  // once it is fetched
  double settled_s_ = -1;                 // when it failed, or was fetched, or a member was done
  std::int64_t transfers_given_up_ = 0;

  // Of a quorum, since it was opened.
  std::map<int, double> came_s_;  // who is ready
  double quorum_s_ = 0, begun_s_ = -1;
  std::int64_t number_ = -1;        // in the history, of an adaptive grace
  std::map<int, Fetched> fetched_;  // by members that it passed by
  Life grace_;
};

}  // namespace longhaul
