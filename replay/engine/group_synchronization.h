// Operations of groups: the exchange runs of the steps' plans (exchange/step_plan.h).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "replay/engine/synchronization.h"
#include "replay/output/outputs.h"
#include "replay/workers/ledger.h"
#include "replay/workers/workers.h"

namespace longhaul {

class GroupSynchronization : public Synchronization {
 public:
  // All must outlive it. `loses_members`: what is known of a chain may end, where an operation began anew;
  // and what was sent is counted once that is over, also of those who have no row (step_plans.cc).
  GroupSynchronization(Workers& workers, Ledger& ledger, ReplayOutputs& outputs, bool loses_members)
      : workers_(workers), ledger_(ledger), outputs_(outputs), loses_members_(loses_members) {}

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
  Ledger& ledger_;
  ReplayOutputs& outputs_;
  bool loses_members_;
  // What the row of a worker says that it sent, of operations whose result it may serve to others after that.
  std::map<const GroupOperation*, std::map<int, std::int64_t>> sent_by_row_;
};

}  // namespace longhaul
