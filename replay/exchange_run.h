// One exchange of one group under way.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/plan/operations.h"
#include "core/scenario/case.h"
#include "net/collectives/collective.h"
#include "replay/equal_rounds.h"
#include "replay/lag_history.h"
#include "replay/network/network.h"
#include "replay/network/peer_map.h"

namespace longhaul {

// How the members of every exchange send.
struct SendingRules {
  bool barrier = false;  // no member starts before all have posted
  SliceSpec slice;
  double eager_bytes = 0;    // from one member to another that has not posted
  bool draws_times = false;  // each message has a drawn time of its own (network.message_time)

  static SendingRules of(const NetworkSpec& network) {
    return {network.barrier, network.slice, network.eager, network.message_time.has_value()};
  }
};

// What all exchanges of a replay have in common.
struct ExchangeContext {
  Clock& clock;
  Network& network;
  std::vector<int> site_of = {};  // of each replica of the topology, or empty
  SendingRules sending = {};
  // What operations with an adaptive grace have seen.
  std::unique_ptr<LagHistories> lags = std::make_unique<LagHistories>();
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

// One exchange, or one bucket of it: every member walks through the rounds of the collective.
//
// A message travels once both its ends are ready: a payload of megabytes does not fit into the buffers of a
// receiver that has not posted its receive (rendezvous, as Gloo and MPI do with large messages). An eager
// sender pushes so many bytes before that; the rest travels as above. A member whose peers are ready does not
// wait for the rest of the group.
//
// Where messages are cut (net/collectives/slices.h) a member has a walk for each slice. A member is done when
// all its walks are.
class ExchangeRun {
 public:
  using MemberDone = std::function<void(int replica)>;

  // `context` and `rule` must outlive it. `group`: replicas, in the order of the group; `bucket`: which one
  // of its exchange; `targets` and `parts`: those of its operation.
  ExchangeRun(const ExchangeContext& context, const OperationRule& rule, int rule_index, int step,
              std::vector<int> group, std::int64_t bytes, MemberDone on_member_done, int bucket = 0,
              const std::vector<std::vector<int>>& targets = {}, const std::vector<std::int64_t>& parts = {});

  // Nothing is sent any more, and nobody will be done.
  void give_up() { is_given_up_ = true; }
  // The member of this replica is ready and starts; `chain` leads to that.
  void post(int replica, const SyncParts& chain = {});
  // Chains count from now on: all members are ready. In an exchange of one bucket that is when the
  // last one posts it.
  void count() { is_counting_ = true, start_s_ = context_.clock.now_s(); }

  std::size_t member_of(int replica) const;  // its place in the group
  const MemberTimes& times(int replica) const { return members_[member_of(replica)].times; }
  bool is_done(int replica) const { return times(replica).done_s >= 0; }
  bool is_finished() const { return left_ == 0; }
  double start_s() const;  // the last member posted; only once all have
  double done_s() const;   // the last member was done; only once finished
  std::int64_t transfers() const { return transfers_; }

  // "replica 3 in round 2 waits for replica 1", one line a member that waits.
  std::vector<std::string> waiting() const;

 private:
  struct Held {
    std::size_t from, to;  // walks
    int number;
    std::int64_t bytes;
    int round;  // of the receiver in which it may travel
  };
  struct alignas(64) UnderWay {
    SyncParts chain;                 // that led to it, and what the network adds
    std::uint32_t from = 0, to = 0;  // walks
    bool is_counted = false;         // it began when chains counted already
  };
  // Walk s of member m has the number s · n + m, so that without slices walks are members.
  struct Walk {
    SyncParts chain;      // that led to the round it is in
    int round = -1;       // -1: not started
    PeerMap surplus;      // messages of a peer that arrived, less those that rounds so far have awaited
    int missing = 0;      // of this round
    int undelivered = 0;  // of its own messages of this round
    bool is_over = false;
  };
  struct Member {
    MemberTimes times;
    std::vector<Held> held;  // for it, until it is ready
    int sent = 0;            // messages, held ones included
    int walks_left = 0;
  };

  double now_s() const { return context_.clock.now_s(); }
  std::size_t owner_of(std::size_t walk) const { return slices_ == 1 ? walk : walk % members_.size(); }
  Round round_of(std::size_t walk, int index) const;
  void start(std::size_t index, const SyncParts& chain);
  void enter_next_round(std::size_t index);
  void hand_over(std::size_t from, const Message& message);
  std::int64_t push(std::size_t from, std::size_t to, int number, std::int64_t bytes);
  void send_held(std::size_t index);
  void advance(std::size_t index, const SyncParts& chain);
  void send(std::size_t from, std::size_t to, int number, std::int64_t bytes, const SyncParts& chain);
  Transmission transfer(std::size_t from, std::size_t to, int number, std::int64_t bytes) const;
  UnderWay* new_message();
  void arrive(UnderWay* message);
  void note_equal_round(int round);
  void skip(int rounds);

  const ExchangeContext& context_;
  const OperationRule& rule_;
  int rule_index_, step_, bucket_;
  std::vector<int> group_;
  const Collective& collective_;
  GroupExchange exchange_;
  int rounds_, slices_;
  bool awaits_delivery_, awaits_receiver_, is_in_turn_;
  MemberDone on_member_done_;
  std::vector<Member> members_;
  std::vector<Walk> walks_;
  std::size_t left_;
  std::map<std::pair<std::size_t, std::size_t>, double> pushed_;  // bytes, from one member to another
  bool is_counting_ = false, is_given_up_ = false;
  double start_s_ = 0;
  std::optional<EqualRounds> equal_;  // none where they are not, or somebody has to see each
  std::deque<UnderWay> messages_;     // under way, or free
  std::vector<UnderWay*> free_;
  std::size_t posted_ = 0;
  std::int64_t transfers_ = 0;
};

// One operation of one group, as its members and the replay's program see it.
class GroupOperation {
 public:
  using MemberDone = std::function<void(int replica)>;

  // The exchange's rule must outlive it. `group`: replicas, in the order of the group.
  GroupOperation(const Operation& exchange, int rule_index, std::vector<int> group)
      : exchange_(exchange), rule_index_(rule_index), group_(std::move(group)) {}
  virtual ~GroupOperation() = default;
  GroupOperation(const GroupOperation&) = delete;  // what they start calls back
  GroupOperation& operator=(const GroupOperation&) = delete;

  int rule_index() const { return rule_index_; }
  int step() const { return exchange_.post_step; }
  const OperationRule& rule() const { return *exchange_.rule; }
  const std::vector<int>& group() const { return group_; }

  // The next bucket of this replica's contribution may go; with the last one the replica is ready.
  virtual void release(int replica) = 0;
  // Those of the group that take part, once that is settled.
  virtual const std::vector<int>& participants() const { return group_; }
  virtual MemberTimes times(int replica) const = 0;
  virtual bool is_done(int replica) const = 0;
  virtual bool is_finished() const = 0;
  // When the last one that takes part was ready, and all were done. Once it is finished.
  virtual double start_s() const = 0;
  virtual double done_s() const = 0;
  virtual std::int64_t transfers() const = 0;
  virtual std::vector<std::string> waiting() const = 0;  // who waits for whom, a line each

 protected:
  const Operation exchange_;

 private:
  int rule_index_;
  std::vector<int> group_;
};

// One exchange of one group as the replay sees it: in one piece, or in the buckets of an all-reduce that
// overlaps with the backward pass.
//
// A replica releases its contribution bucket by bucket. Buckets are exchanged one after another, as on the
// one stream of a communicator: a replica posts a bucket when it has released it and is done with the one
// before.
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
