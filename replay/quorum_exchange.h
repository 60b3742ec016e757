// An operation that does not wait for all of its group (Completion): it begins with the members that are
// ready when the quorum was there for the grace time, or with all as soon as all are. It passes the others
// by: they send nothing and wait for nothing; or, where it says so (`fetches`), they wait for its result,
// which those send who have it. An adaptive grace time is fixed when the quorum is there, from the lags of
// operations of its rule that have begun by then; those that were passed by count once they are ready.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "replay/exchange_run.h"
#include "replay/result_servers.h"

namespace longhaul {

class QuorumExchange : public GroupOperation {
 public:
  // `context` must outlive it.
  QuorumExchange(const ExchangeContext& context, const Operation& exchange, int rule_index,
                 std::vector<int> group, MemberDone on_member_done);

  void release(int replica) override;
  void give_up() override;
  bool has_begun() const override { return begun_s_ >= 0; }
  const std::vector<int>& participants() const override { return participants_; }
  // Of a member that it passed by: done when it was ready, with nothing sent; or when it has the result.
  MemberTimes times(int replica) const override;
  bool is_done(int replica) const override;
  bool is_finished() const override;
  double start_s() const override { return begun_s_; }
  double done_s() const override { return run_ ? run_->done_s() : begun_s_; }
  std::int64_t transfers() const override {
    return (run_ ? run_->transfers() : 0) + (servers_ ? servers_->transfers() : 0);
  }
  std::vector<std::string> waiting() const override;

 private:
  bool takes_part(int replica) const;
  void begin();
  void end(int replica);
  LagHistory& history();
  std::vector<double> lags_s() const;  // behind the quorum

  const ExchangeContext& context_;
  MemberDone on_member_done_;
  std::map<int, double> ready_s_;  // by replica
  double quorum_s_ = 0, begun_s_ = -1;
  std::int64_t number_ = -1;  // in the history, of an adaptive grace
  std::vector<int> participants_;
  std::unique_ptr<BucketedExchange> run_;  // of the participants; null where one takes part alone
  std::optional<ResultServers> servers_;   // where those who are late fetch the result
  struct Fetched {
    double at_s = 0;
    SyncParts way;
  };
  std::map<int, Fetched> fetched_;                              // by replica
  std::shared_ptr<bool> lives_ = std::make_shared<bool>(true);  // for the end of the grace time
};

}  // namespace longhaul
