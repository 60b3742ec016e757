// One exchange of one group under way, or one bucket of it, as those see it who wait for its members.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/plan/operations.h"
#include "core/scenario/case.h"
#include "net/collectives/collective.h"
#include "net/library.h"
#include "replay/exchange/lag_history.h"
#include "replay/network/network.h"

namespace longhaul {

// The rounds of collectives as they are.
inline const NetworkSpec& plain_network() {
  static const NetworkSpec plain;
  return plain;
}

// The connection of two replicas where a library makes it late; [0]: of the lower one of them.
struct Opening {
  bool has_begun[2] = {}, is_open[2] = {};
  std::vector<std::function<void()>> waiting[2];  // sends
};

// What all exchanges of a replay have in common.
struct ExchangeContext {
  Clock& clock;
  Network& network;
  std::vector<int> site_of = {};  // of each replica of the topology, or empty
  // Library, slice, eager and barrier: how members send. It must outlive the exchanges.
  const NetworkSpec& spec = plain_network();
  // What operations with an adaptive grace have seen.
  std::unique_ptr<LagHistories> lags = std::make_unique<LagHistories>();
  // By (lower, higher) replica.
  std::unique_ptr<std::map<std::pair<int, int>, Opening>> openings =
      std::make_unique<std::map<std::pair<int, int>, Opening>>();
  // Exchanges that were given up: what they had under way still arrives.
  std::unique_ptr<std::vector<std::shared_ptr<void>>> given_up =
      std::make_unique<std::vector<std::shared_ptr<void>>>();
  // For who records what members wait for: one enters this round, or behind the last an empty one.
  std::function<void(int member, const Round& round)> on_round = {};
};

struct MemberTimes {
  double ready_s = -1, done_s = -1;  // released all of its contribution, done with it; -1: not yet
  std::int64_t bytes_sent = 0;
  SyncParts parts;  // of the critical chain to done_s
};

// What is to be exchanged: `rule` must outlive the run. `group`: replicas, in the order of the group;
// `bucket`: which one of its exchange; `targets` and `parts`: those of its operation.
struct ExchangeOrder {
  const OperationRule& rule;
  int rule_index = 0, step = 0;
  std::vector<int> group;
  std::int64_t bytes = 0;
  int bucket = 0;
  std::vector<std::vector<int>> targets = {};
  std::vector<std::int64_t> parts = {};
};

class ExchangeRun {
 public:
  using MemberDone = std::function<void(int replica)>;

  // `context` must outlive it.
  ExchangeRun(const ExchangeContext& context, ExchangeOrder order, MemberDone on_member_done);
  virtual ~ExchangeRun() = default;
  ExchangeRun(const ExchangeRun&) = delete;  // what is under way calls back
  ExchangeRun& operator=(const ExchangeRun&) = delete;

  // Nothing is sent any more, and nobody will be done. What has not left is none of what was sent.
  void give_up() {
    is_given_up_ = true;
    take_back_unsent();
  }
  // The member of this replica is ready and starts; `chain` leads to that.
  void post(int replica, const SyncParts& chain = {});
  // Chains count from now on: all members are ready. In an exchange of one bucket that is when the
  // last one posts it; where replicas send to targets they count from the first on, since each member has a
  // start of its own.
  void count() { is_counting_ = true, start_s_ = context_.clock.now_s(); }

  std::size_t member_of(int replica) const;  // its place in the group
  const MemberTimes& times(int replica) const { return times_[member_of(replica)]; }
  bool is_done(int replica) const { return times(replica).done_s >= 0; }
  bool is_finished() const { return left_ == 0; }
  double start_s() const;  // the last member posted; only once all have
  // Of those that it must hear from, and itself: of all, or of those of whom it is a target. Once it is done.
  double start_s(int replica) const;
  // The replicas of whom it is a target, in an operation that has targets; else null.
  const std::vector<int>* senders_to(int replica) const;
  double done_s() const;   // the last member was done; only once finished
  std::int64_t transfers() const { return transfers_; }

  // "replica 3 in round 2 waits for replica 1", one line a member that waits.
  std::vector<std::string> waiting() const;

 protected:
  virtual void start(std::size_t member, const SyncParts& chain) = 0;
  // The round that a member is in, 0, 1, …; -1: not started. And what it lacks in it.
  struct Waiting {
    int round = -1;
    std::vector<int> peers = {};  // members
  };
  virtual Waiting waiting(std::size_t member) const = 0;
  // From the bytes_sent of members, what has not left them.
  virtual void take_back_unsent() = 0;

  double now_s() const { return context_.clock.now_s(); }
  std::size_t members() const { return order_.group.size(); }
  Transmission transmission(std::size_t from, std::size_t to, int number, std::int64_t bytes,
                            bool is_in_turn) const;
  // What a message that began before chains counted adds to them.
  SyncParts counted(const SyncParts& chain, bool was_counted) const;
  // The last call of a member; it may be the end of this run.
  void finish(std::size_t member, const SyncParts& chain);

  const ExchangeContext& context_;
  const ExchangeOrder order_;
  const GroupExchange exchange_;
  std::vector<MemberTimes> times_;  // by member
  std::int64_t transfers_ = 0;
  bool is_counting_ = false, is_given_up_ = false;
  double start_s_ = 0;

 private:
  // The operation's fixed time, then start().
  void call(std::size_t member, const SyncParts& chain);

  MemberDone on_member_done_;
  std::size_t left_, posted_ = 0;
};

// By the library of the case: RoundsRun, or LibraryRun.
std::unique_ptr<ExchangeRun> make_exchange_run(const ExchangeContext& context, ExchangeOrder order,
                                               ExchangeRun::MemberDone on_member_done);

}  // namespace longhaul
