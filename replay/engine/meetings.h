// What the programs of workers post and await: operations of groups, or merges by a synchronizer.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/plan/program.h"
#include "replay/engine/workers.h"

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

  // Replicas that are gone, as Membership has it. Operations of groups are told by their plans.
  virtual void cut(int) {}         // it is gone; what it has under way is lost
  virtual void lose(int) {}        // that is known
  virtual void begin(int, int) {}  // it is back and begins with this step
  virtual void come_back(int) {}   // it is back where all wait: sends again what was lost

  // An operation of a group is over for all: what each sent is known.
  virtual void note_finished(const GroupOperation&) {}
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
  void note_finished(const GroupOperation& run) override;

 private:
  void write_row(int worker, const GroupOperation& run, double done_s, double awaited_s);
  double done_s(const Worker::Waited& waited, int worker) const {
    return workers_.since_origin(waited.run->times(worker).done_s);
  }

  Workers& workers_;
  ReplayOutputs& outputs_;
  bool loses_members_;
  // What the row of a worker says that it sent, of operations whose result it may serve to others after that.
  std::map<const GroupOperation*, std::map<int, std::int64_t>> sent_by_row_;
};

}  // namespace longhaul
