#include "fitting/exchange_time.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/base/errors.h"
#include "core/base/index.h"
#include "core/plan/trace.h"
#include "net/library.h"
#include "replay/replay.h"

namespace longhaul {
namespace {

constexpr int kSteps = 2;  // the first one is the exchange before

// The second exchange: when its last member was ready, and its last one done.
class SecondExchange : public ReplayOutputs {
 public:
  int next_recorded(int) const override { return kSteps; }
  void add_exchange(int step, int /*rule*/, const ExchangeRow& row) override {
    if (step != kSteps) return;
    ready_s_ = std::max(ready_s_, row.ready_s);
    done_s_ = std::max(done_s_, row.done_s);
  }
  Json finish(const ReplayEnd& end) override { return {{"simulated_s", end.simulated_s()}}; }

  double took_s() const { return done_s_ - ready_s_; }

 private:
  double ready_s_ = 0, done_s_ = 0;
};

// Of the case's method the word for its all-reduce, where it has one: else the library's choice.
std::string collective_of(const Case& config, const ObservedExchange& exchange) {
  if (exchange.kind == OperationKind::kAllGather) return "all-gather";
  if (exchange.kind == OperationKind::kReduceScatter) return "reduce-scatter";
  const Json asked = member(config.method.options, "all_reduce");
  return asked.is_string() ? asked.get<std::string>() : kLibraryChoice;
}

Trace trace_of_exchange(const Case& config, const ObservedExchange& exchange) {
  OperationRule rule;
  rule.name = "observed";
  rule.kind = exchange.kind;
  rule.collective = collective_of(config, exchange);
  rule.payload = whole({"vector"}, Wire::kInt8);  // a byte a column
  if (exchange.operations > 1) {
    rule.sizes = exchange.parts;
    if (rule.sizes.empty()) rule.sizes.assign(as_index(exchange.operations), 1);
    rule.together = true;
  }
  const PlanContext context{config.seed, config.replicas, kSteps, exchange.bytes, config.site_of};
  OperationPlan plan;
  plan.rules.push_back(rule);
  Trace trace = make_trace(plan, context);
  std::vector<double> begins_s = exchange.begins_s;
  begins_s.resize(as_index(config.replicas));
  for (double& begin_s : begins_s) begin_s += exchange.gap_s;
  trace.measured_s = {std::vector<double>(as_index(config.replicas)), begins_s};
  return trace;
}

}  // namespace

void check_replayable(const Case& config, const ObservedExchange& exchange) {
  if (config.network.fidelity == "packet")
    throw InputError("network.fidelity", "found \"packet\"", "flow, linux or analytic",
                     "ns-3 is another program");
  if (config.pipeline.has_stages())
    throw InputError("pipeline.stages", fmt::format("found {}", config.pipeline.stages),
                     "no stages, or observations as rows", "an exchange is replayed among replicas");
  if (config.has_absences())
    throw InputError("faults", "found replicas that may be gone", "none",
                     "an exchange is replayed among all");
  if (config.replicas != exchange.members)
    throw InputError("replicas", fmt::format("found {} for an {}", config.replicas, exchange.name()),
                     std::to_string(exchange.members));
}

double exchange_time_s(Case config, const ObservedExchange& exchange) {
  config.workload.parameters = exchange.bytes;
  config.workload.wire = Wire::kInt8;
  config.workload.steps = kSteps;
  config.workload.step_time.kind = StepTime::Kind::kMeasured;
  config.workload.step_time_factors.clear();
  config.parallelism = {};
  config.train.reset();
  SecondExchange times;
  ProgressReporter silent("fit", -1, /*quiet=*/true);
  replay_alone(config, trace_of_exchange(config, exchange), times, silent);
  return times.took_s();
}

}  // namespace longhaul
