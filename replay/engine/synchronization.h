// What the programs of workers post and await: operations of groups, or merges by a synchronizer.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/plan/program.h"
#include "replay/exchange/group_operation.h"
#include "replay/exchange/step_plan.h"
#include "replay/workers/presence.h"

namespace longhaul {

class Synchronization : public PresenceListener {
 public:
  // The worker has come to a kPost of its program. That may end the operation at once.
  virtual void post(int worker, const std::shared_ptr<StepPlan>& plan, const Instruction& instruction) = 0;
  // It has come to a kAwait. Who takes no part has nothing to wait for.
  virtual bool is_done(int worker, const Instruction& await) = 0;
  // Nothing of its step is waited for any more.
  virtual void end_waits(int) {}
  // It has taken its last step.
  virtual void end(int) {}

  // An operation of a group is over for all: what each sent is known.
  virtual void note_finished(const GroupOperation&) {}
  // The lowest step whose rows are not known, at most this one.
  virtual int lowest_open_step(int otherwise) const { return otherwise; }
  // All have ended.
  virtual void finish() {}
  // Besides those of its operations.
  virtual std::int64_t transfers() const { return 0; }
  virtual std::vector<std::string> waiting() const { return {}; }
};

}  // namespace longhaul
