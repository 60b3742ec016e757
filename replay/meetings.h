// What the programs of workers post and await: operations of groups, or merges by a synchronizer.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "replay/synchronizer.h"
#include "replay/workers.h"

namespace longhaul {

class Meetings {
 public:
  virtual ~Meetings() = default;

  // The worker has come to a kPost of its program. That may end the operation at once.
  virtual void post(int worker, const std::shared_ptr<StepPlan>& plan, const Instruction& instruction) = 0;
  // It has come to a kAwait. Who takes no part has nothing to wait for.
  virtual bool is_done(int worker, const Instruction& await) = 0;
  // Nothing of its step is waited for any more.
  virtual void end_waits(int) {}
  virtual void end(int) {}  // it has taken its last step

  // Replicas that are gone, as Membership has it (synchronizer.h). Operations of groups are told by their
  // plans.
  virtual void cut(int) {}
  virtual void lose(int) {}
  virtual void begin(int, int) {}
  virtual void come_back(int) {}

  virtual int lowest_open_step(int otherwise) const { return otherwise; }  // whose rows are not known
  virtual void finish() {}                                                 // once all have ended
  virtual std::int64_t transfers() const { return 0; }                     // besides those of its operations
  virtual std::vector<std::string> waiting() const { return {}; }
};

// Runs of the steps' plans (step_plan.h).
class GroupMeetings : public Meetings {
 public:
  // All must outlive it. `loses_members`: what is known of a chain may end, where an operation began anew.
  GroupMeetings(Workers& workers, ReplayOutputs& outputs, bool loses_members)
      : workers_(workers), outputs_(outputs), loses_members_(loses_members) {}

  void post(int worker, const std::shared_ptr<StepPlan>& plan, const Instruction& instruction) override;
  bool is_done(int worker, const Instruction& await) override;
  void end_waits(int worker) override;

 private:
  void write_row(int worker, const GroupOperation& run, double done_s, double awaited_s);
  double done_s(const Worker::Waited& waited, int worker) const {
    return workers_.since_origin(waited.run->times(worker).done_s);
  }

  Workers& workers_;
  ReplayOutputs& outputs_;
  bool loses_members_;
};

// Of a plan with merges. Without stages, so that a worker is a replica.
class MergeMeetings : public Meetings {
 public:
  // All must outlive it. `on_answered`: a merged model is back at a replica.
  MergeMeetings(const ExchangeContext& context, const Trace& trace, Workers& workers, ReplayOutputs& outputs,
                std::function<void(int replica)> on_answered);

  void post(int replica, const std::shared_ptr<StepPlan>& plan, const Instruction& instruction) override;
  bool is_done(int replica, const Instruction& await) override;
  void end(int replica) override { synchronizer_.end(replica); }

  void cut(int replica) override { synchronizer_.cut(replica); }
  void lose(int replica) override { synchronizer_.lose(replica); }
  void begin(int replica, int step) override { synchronizer_.begin(replica, step); }
  void come_back(int replica) override { synchronizer_.come_back(replica); }

  int lowest_open_step(int otherwise) const override { return synchronizer_.lowest_open_step(otherwise); }
  void finish() override;
  std::int64_t transfers() const override { return synchronizer_.transfers(); }
  std::vector<std::string> waiting() const override { return synchronizer_.waiting(); }

  // What the synchronizer tells it. The row of what a replica posted after a step, once it is known; times of
  // the clock. Every replica has one for each step at which it came to post the rule. One that posted
  // nothing, because what it posted before is not back, has one of no bytes and no time; what did not come
  // back before a replica ended or went has no time. Rows of replica 0 have the bytes of the answers too that
  // have been sent since the row before.
  void add_merge_row(int step, int rule, const ExchangeRow& of_clock);
  void answered(int replica) { on_answered_(replica); }       // the merged model is back
  void merged(int replica, const Synchronizer::Work& work);   // it is in the synchronizer's model
  void dropped(int replica, const Synchronizer::Work& work);  // it never will be

 private:
  Workers& workers_;
  ReplayOutputs& outputs_;
  std::function<void(int)> on_answered_;
  Synchronizer synchronizer_;
};

}  // namespace longhaul
