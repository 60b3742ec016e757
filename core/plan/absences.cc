#include "core/plan/absences.h"

#include <algorithm>

#include "core/base/index.h"

namespace longhaul {

RecoverySpec::OnFailure on_failure_of(const RecoverySpec& recovery, const OperationPlan& plan) {
  const bool has_its_own = std::any_of(plan.rules.begin(), plan.rules.end(), [](const OperationRule& rule) {
    return rule.sharded || rule.kind == OperationKind::kAllToAll;
  });
  return has_its_own || plan.takes_whole_batch ? RecoverySpec::OnFailure::kWait : recovery.on_failure;
}

bool may_lack_members(const Case& config, const OperationPlan& plan) {
  return config.has_absences() && on_failure_of(config.recovery, plan) != RecoverySpec::OnFailure::kWait;
}

bool do_times_decide(const Case& config, const OperationPlan& plan) {
  return timing_matters(plan) || may_lack_members(config, plan);
}

bool keeps_replicas_alike(const OperationPlan& plan) {
  if (plan.rules.empty()) return false;
  return std::none_of(plan.rules.begin(), plan.rules.end(), [](const OperationRule& rule) {
    if (rule.kind == OperationKind::kMerge) return true;
    return std::any_of(rule.payload.begin(), rule.payload.end(), [](const PayloadPart& part) {
      return part.tensor == "weights" || part.tensor == "phi";
    });
  });
}

Absences::Absences(const std::vector<Absence>& absences, const PlanContext& context, bool listeners_inherit)
    : of_(as_index(context.replicas)), listeners_inherit_(listeners_inherit) {
  for (Absence absence : absences) {
    std::vector<Absence>& of_replica = of_[as_index(absence.replica)];
    if (!of_replica.empty() && !of_replica.back().comes_back()) continue;
    if (absence.comes_back() && absence.source >= 0) {
      const std::vector<Absence>& of_source = of_[as_index(absence.source)];
      const auto returns = std::count_if(of_source.begin(), of_source.end(),
                                         [](const Absence& other) { return other.comes_back(); });
      absence.copy = copies_.size();
      copies_.push_back({absence.replica, absence.source, absence.copied_step,
                         std::max(absence.copied_step, absence.left_step - 1), as_index(returns)});
    }
    of_replica.push_back(absence);
  }
}

bool Absences::computes(int replica, int step) const {
  if (of_.empty()) return true;
  for (const Absence& absence : of_[as_index(replica)])
    if (step >= absence.left_step && (!absence.comes_back() || step < absence.first_step)) return false;
  return true;
}

const std::vector<Absence>& Absences::of(int replica) const {
  static const std::vector<Absence> none;
  return of_.empty() ? none : of_[as_index(replica)];
}

bool Absences::ends(int replica, int step) const {
  if (!computes(replica, step)) return false;
  if (of_.empty()) return true;
  for (const Absence& absence : of_[as_index(replica)])
    if (step > absence.ended_step && step < absence.left_step) return false;
  return true;
}

int Absences::contributor(int replica, int post_step, int step) const {
  // The last copy that the replica's rows have had since then.
  const Copy* last = nullptr;
  for (const Copy& copy : copies_)
    if (copy.replica == replica && copy.step >= post_step && copy.step < step) last = &copy;
  if (!last) return computes(replica, post_step) ? replica : -1;
  if (!listeners_inherit_ || last->copied_step < post_step) return -1;
  return contributor(last->source, post_step, last->copied_step + 1);
}

}  // namespace longhaul
