#include "replay/output/training_journal.h"

#include <fstream>

#include "core/base/errors.h"
#include "core/base/files.h"
#include "core/base/index.h"
#include "core/plan/journal.h"
#include "core/plan/journal_file.h"

namespace longhaul {

TrainingJournal::TrainingJournal(const Case& config, const Trace& trace) : case_(config), trace_(trace) {
  schedule_.has_all = may_lack_members(config, trace.plan);
}

// Workers of one stage.
void TrainingJournal::add_group(int rule, int step, const std::vector<int>& group) {
  if (!schedule_.decides(trace_.plan.rules[as_index(rule)])) return;
  std::vector<int>& replicas = schedule_.groups[{rule, step}].emplace_back(group);
  for (int& member : replicas) member /= trace_.plan.pipeline.stages;
}

void TrainingJournal::write(const std::string& file) {
  const OperationPlan& plan = trace_.plan;
  if (schedule_.has_all)
    schedule_.absences = Absences(std::move(absences_), trace_.context, keeps_replicas_alike(plan));
  const bool discards = on_failure_of(case_.recovery, plan) == RecoverySpec::OnFailure::kDiscard;
  const auto journal = make_journal(
      {plan, trace_.context, case_.train->evaluate_every, case_.train->checkpoint_every, discards},
      schedule_);
  std::ofstream out(file);
  write_journal(*journal, plan, trace_.context, out);
  out.flush();
  if (!out) throw unwritable(file);
}

}  // namespace longhaul
