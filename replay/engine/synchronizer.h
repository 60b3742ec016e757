// The synchronizer of a plan with merges (OperationKind::kMerge, core/plan/operations.h): it takes what
// replicas contribute as it comes, makes a merge of it when the quorum has been there for the grace time, and
// sends the merged model to those that contributed.
//
// It is at the place of replica 0, whose network it shares; what replica 0 contributes and gets needs no
// message. A replica that has posted for the last time is not waited for any more. An adaptive grace time
// follows the lags of earlier merges of its rule: how long after the quorum a later contribution arrived,
// be it in the next merge.
//
// Replicas may be gone (absence/churn.h); the synchronizer itself is always there, also while replica 0 is
// gone. What a replica has under way when it crashes is lost, either way; what had arrived is merged. Who is
// known to be gone is not waited for. One that is back has nothing under way; a merge to which others posted
// at a step before its first one does not wait for it. If what it posted in its last life is still in the
// open merge when it contributes again, the newer takes its place. Where all wait (RecoverySpec), what was
// under way is sent again when it is back.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/plan/schedule.h"
#include "core/plan/trace.h"
#include "replay/engine/synchronization.h"
#include "replay/exchange/exchange_run.h"
#include "replay/output/outputs.h"
#include "replay/work/life.h"
#include "replay/workers/ledger.h"
#include "replay/workers/workers.h"

namespace longhaul {

// Of a plan without stages, so that a worker is a replica.
//
// Every replica has a row for each step at which it came to post a rule. One that posted nothing, because
// what it posted before is not back, has one of no bytes and no time; what did not come back before a replica
// ended or went has no time. Rows of replica 0 have the bytes of the answers too that have been sent since
// the row before.
class Synchronizer : public Synchronization {
 public:
  static constexpr int kServerReplica = 0;  // the replica that it is beside

  // All must outlive it. `on_answered`: a merged model is back at a replica.
  Synchronizer(const ExchangeContext& context, const Trace& trace, Workers& workers, Ledger& ledger,
               ReplayOutputs& outputs, std::function<void(int replica)> on_answered);

  void post(int replica, const std::shared_ptr<StepPlan>& plan, const Instruction& instruction) override;
  // It is where it takes up what has come back of the rule, and does. False: it has to wait for that first.
  bool is_done(int replica, const Instruction& await) override;
  void end(int replica) override;

  void on_crash(int replica) override;
  void on_failure_detected(int replica) override;
  void on_return(int replica, int step, Return as, bool has_own_state) override;
  void on_resume(int replica, int step) override;

  int lowest_open_step(int otherwise) const override;
  void finish() override;  // the last rows, and all merges, in the order in which they were made
  std::int64_t transfers() const override { return transfers_; }
  std::vector<std::string> waiting() const override;

 private:
  // Where what a replica posted is.
  enum class Stage : char {
    kNone,       // it has posted nothing, or taken up what came back
    kSending,    // on the way to the synchronizer
    kArrived,    // in the merge that is open
    kAnswering,  // merged, and the model is on its way to the replica
    kAnswered,   // back
  };
  struct Contributor {
    bool may_post = true;  // there is a step to come at which it could
    int first_merge = 0;   // that waits for it
    Stage stage = Stage::kNone;
    bool has_row = false;  // of what it posted last
    bool is_lost = false;  // what should be under way
    Life life;             // what it posted before its end gets no answer
    Life transfer;         // what is under way, either way
    int post_step = 0;
    std::int64_t bytes = 0;  // sent for it
    double posted_s = 0, start_s = 0, answered_s = 0, awaited_s = -1;
    std::size_t merge = 0;  // in merges_, once it is made
    SyncParts chain;
    Work work;
    // The last merge that was made without it.
    std::int64_t missed = -1;
    double missed_quorum_s = 0;

    bool is_under_way() const { return (stage == Stage::kSending || stage == Stage::kAnswering) && !is_lost; }
  };
  struct Arrived {
    int replica = 0, post_step = 0;
    Life::Watch life;  // of the contributor
    double posted_s = 0, arrived_s = 0;
    SyncParts chain;
    Work work;
  };
  struct HeldRow {
    int step = 0, rule = 0;
    ExchangeRow row;
  };
  struct Rule {
    std::int64_t bytes = 0, answer_bytes = 0;
    std::int64_t answered = 0;              // bytes, since the last contribution of replica 0 has its row
    std::vector<Contributor> contributors;  // by replica
    std::vector<Arrived> arrived;  // in the merge that is open
    int number = 0;                // of that
    double quorum_s = -1;          // since when it has its quorum
    Life grace;                    // of that
    // Of replica 0's last contribution: what else is sent from there is not known yet.
    std::optional<HeldRow> held;

    bool has(int replica) const {  // in the merge that is open
      return std::any_of(arrived.begin(), arrived.end(),
                         [replica](const Arrived& one) { return one.replica == replica; });
    }
  };
  struct Presence {
    bool is_there = true, is_missed = false;
  };

  double now_s() const { return context_.clock.now_s(); }
  const OperationRule& plan_of(int rule) const { return trace_.plan.rules[as_index(rule)]; }
  Contributor& at(int rule, int replica) { return rules_[as_index(rule)].contributors[as_index(replica)]; }
  int rule_count() const { return static_cast<int>(rules_.size()); }
  bool is_expected(const Rule& rule, int replica) const;  // to the merge that is open
  bool posts_behind(int rule, int step) const;
  void send(int replica, int rule);
  void arrive(int replica, int rule);
  void try_merge(int rule);  // whether the open merge can be made, or its grace time begins
  void note_lags(int rule, const std::vector<Arrived>& members, double quorum_s);
  void make_merge(int rule);
  void answer(int replica, int rule);
  void interrupt(int replica, int rule);
  void repeat(int replica, int rule);
  void close_out(int replica, int rule);  // nothing comes back any more
  void add_row_without_times(int replica, int rule);
  void add_row(int step, int rule, ExchangeRow row);  // of a contribution; times of the clock
  void write(HeldRow held);

  const ExchangeContext& context_;
  const Trace& trace_;
  Workers& workers_;
  Ledger& ledger_;
  ReplayOutputs& outputs_;
  std::function<void(int)> on_answered_;
  std::vector<Rule> rules_;
  std::vector<Presence> presence_;  // by replica
  std::vector<MergeRow> merges_;
  std::int64_t transfers_ = 0;
};

}  // namespace longhaul
