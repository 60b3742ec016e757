// An operation whose members may be lost on the way, and which others may join: where replicas crash and
// come back (RecoverySpec, core/scenario/recovery.h).
//
// While nobody is done it begins anew, from the first byte, among those who are left. Once somebody is done
// it has its result: who is not done fetches that from one who is, each of whom serves one after another, as
// do those who have fetched it. What was under way when it began anew still arrives, and who has the result
// goes on serving after a crash.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "replay/exchange_run.h"
#include "replay/result_servers.h"

namespace longhaul {

class RestartableExchange : public GroupOperation {
 public:
  // `context` must outlive it. `group`: in the order of the group. Of these `listeners` get the result and
  // contribute nothing. `discards`: it fails for all once a contributor is lost. `on_member_done` is called
  // with -1 where it ends because somebody is lost.
  RestartableExchange(const ExchangeContext& context, const Operation& exchange, int rule_index,
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

  bool is_member(int replica) const { return members_.count(replica) > 0; }
  // It failed: nobody has a result.
  bool is_discarded() const { return is_discarded_; }

  void release(int replica) override;
  void give_up() override;
  const std::vector<int>& participants() const override;
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
    std::int64_t wasted_bytes = 0;  // that it sent in exchanges that were given up
  };

  bool all_released() const;
  void make_run();
  void go_on(bool fails);
  void begin_anew();
  void fetch_result();
  void end(int replica);
  void tell(int replica);

  const ExchangeContext& context_;
  bool discards_;
  MemberDone on_member_done_;
  std::map<int, Member> members_;
  std::vector<int> order_;  // of members, in the order of the group
  std::vector<int> participants_;
  std::unique_ptr<GroupOperation>
      run_;  // null where one member is left, and once it has failed or is fetched
  bool is_discarded_ = false, is_fetched_ = false, has_told_end_ = false;
  std::set<int> cut_;  // members that have crashed with what they released, which the others do not know yet
  std::optional<ResultServers> servers_;  // once it is fetched
  double settled_s_ = -1;                 // when it failed, or was fetched, or its only member was ready
  std::int64_t transfers_given_up_ = 0;
};

}  // namespace longhaul
