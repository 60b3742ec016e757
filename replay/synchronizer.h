// The synchronizer of a plan with merges (OperationKind::kMerge, core/plan/operations.h): it takes what
// replicas contribute as it comes, makes a merge of it when the quorum has been there for the grace time, and
// sends the merged model to those that contributed.
//
// It is at the place of replica 0, whose network it shares; what replica 0 contributes and gets needs no
// message. A replica that has posted for the last time is not waited for any more. An adaptive grace time
// follows the lags of earlier merges of its rule: how long after the quorum a later contribution arrived,
// be it in the next merge.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/plan/schedule.h"
#include "core/plan/trace.h"
#include "replay/exchange_run.h"
#include "replay/outputs.h"

namespace longhaul {

class Synchronizer {
 public:
  static constexpr int kPlace = 0;  // the replica that it is beside

  // The row of what a replica posted after a step, once it is known; times of the clock. Every replica has
  // one for each step at which the rule is posted. One that posted nothing, because what it posted before is
  // not back, has one of no bytes and no time; what did not come back before a replica ended has no time.
  // Rows of replica 0 have the bytes of the answers too that have been sent since the row before.
  using AddRow = std::function<void(int step, int rule, const ExchangeRow& row)>;
  using Answered = std::function<void(int replica)>;

  // `context` and `trace` must outlive it.
  Synchronizer(const ExchangeContext& context, const Trace& trace, AddRow add_row, Answered on_answered);

  // The replica is at the place of its program at which the rule is posted after `step`.
  void post(int replica, int rule, int step);
  // It is where it takes up what has come back of the rule, and does. False: it has to wait for that first,
  // and asks again when it is called.
  bool take_up(int replica, int rule, int step);
  // It has taken its last step.
  void end(int replica);

  // Once all have ended: the last rows, and all merges, in the order in which they were made. Times of the
  // clock.
  std::vector<MergeRow> finish();
  std::int64_t transfers() const { return transfers_; }
  // Who waits for what, a line each.
  std::vector<std::string> waiting() const;

 private:
  struct Contributor {
    bool may_post = true;       // there is a step to come at which it could
    bool is_under_way = false;  // it has posted, and not taken up what comes back
    bool has_arrived = false;
    int post_step = 0;
    double posted_s = 0, arrived_s = 0, start_s = 0, answered_s = -1, awaited_s = -1;
    std::size_t merge = 0;  // in merges_, once it is made
    SyncParts chain;
    // The last merge that was made without it.
    std::int64_t missed = -1;
    double missed_quorum_s = 0;
  };
  struct Rule {
    std::int64_t bytes = 0, answer_bytes = 0;
    int last_post_step = 0;
    std::vector<Contributor> of;  // by replica
    std::vector<int> arrived;     // in the merge that is open
    int number = 0;               // of that
    double quorum_s = -1;         // since when it has its quorum
  };

  double now_s() const { return context_.clock.now_s(); }
  const OperationRule& plan_of(int rule) const { return trace_.plan.rules[as_index(rule)]; }
  Contributor& at(int rule, int replica) { return rules_[as_index(rule)].of[as_index(replica)]; }
  static bool may_come(const Contributor& one);  // to the merge that is open
  void arrive(int replica, int rule);
  void look(int rule);  // whether the open merge can be made, or its grace time begins
  double grace_s(int rule);
  LagHistory& history(int rule);
  void make(int rule);
  void answer(int replica, int rule);
  void add(int step, int rule, ExchangeRow row);

  const ExchangeContext& context_;
  const Trace& trace_;
  AddRow add_row_;
  Answered on_answered_;
  std::vector<Rule> rules_;
  std::vector<MergeRow> merges_;
  std::int64_t transfers_ = 0, answered_bytes_ = 0;  // the latter since the last row of replica 0
  struct Held {
    int step = 0, rule = 0;
    ExchangeRow row;
  };
  std::optional<Held> held_;  // the last row of replica 0: more may have to be added
};

}  // namespace longhaul
