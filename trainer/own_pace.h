// Replicas that each are at a step of their own, because no replica waits for another
// (OperationKind::kMerge): how far each is, and the rows that wait for an evaluation until the last replica
// has come to its step. Who is gone for some steps (core/plan/absences.h) has come to the step before its
// first one when it begins with that; who does not come back, to the last of all.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "core/base/index.h"
#include "trainer/merges.h"

namespace longhaul {

struct OwnPace {
  OwnPace(const OperationPlan& plan, const PlanContext& context, const std::vector<Parameter>& layout,
          const Schedule& schedule, const Update& update, Replicas& replicas)
      : merges(plan, context, layout, schedule, update, replicas),
        computed(as_index(context.replicas)),
        finished(computed.size()),
        absences(computed.size()) {}

  // The last step that all have finished.
  int lowest() const;
  void keep(int step, int phase, int replica, const float* row, std::int64_t parameters);

  // As a checkpoint keeps them: what is no tensor, and the tensors; and back.
  Json state() const;
  std::vector<TensorView> tensors() const;
  void restore(const Json& state, SafetensorsFile& file, std::int64_t parameters);

  Merges merges;
  // By replica: inner steps that are taken, and those whose end, with what is taken up and posted there, is
  // over. One behind the other where a replica waits for a merge that is not computed yet.
  std::vector<int> computed, finished;
  std::vector<std::size_t> absences;  // by replica: that are over
  // By step and phase (0: before merges are taken up, 1: behind that), then by replica: rows [P] of the
  // models.
  std::map<std::pair<int, int>, std::map<int, std::vector<float>>> evaluated;
};

}  // namespace longhaul
