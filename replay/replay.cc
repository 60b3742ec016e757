#include "replay/replay.h"

#include <fmt/core.h>

#include <memory>

#include "core/base/errors.h"
#include "core/plan/combinations.h"
#include "replay/engine/replay_engine.h"
#include "replay/flow/make_flow_network.h"
#include "replay/network/analytic_network.h"
#include "replay/network/linux_network.h"
#include "replay/output/tables.h"
#include "replay/predict/estimate.h"

namespace longhaul {
namespace {

void check_fit(const Case& config, const Trace& trace) {
  if (trace.context.replicas != config.replicas)
    throw InputError(
        "replicas",
        fmt::format("the trace has {} replicas, the case {}", trace.context.replicas, config.replicas),
        "the trace of this case");
  if (trace.plan.pipeline.stages != config.pipeline.stages)
    throw InputError("pipeline.stages",
                     fmt::format("the trace has {} stages, the case {}", trace.plan.pipeline.stages,
                                 config.pipeline.stages),
                     "the trace of this case");
  check_collectives(config, trace.plan);
  check_combinations(config, trace.plan);
}

Json analytic_to(const Case& config, const Trace& trace, ReplayOutputs& outputs, ProgressReporter& reporter) {
  EventQueue clock;
  const auto network_of = [&](const NetworkSpec& spec, const Topology& topology, const auto&,
                              std::uint64_t seed) {
    return std::make_unique<AnalyticNetwork>(spec, topology, seed, clock);
  };
  return replay(config, trace, outputs, reporter, clock, network_of);
}

Json flow_to(const Case& config, const Trace& trace, ReplayOutputs& outputs, ProgressReporter& reporter) {
  FlowEventQueue clock;
  const auto network_of = [&](const NetworkSpec& spec, const Topology& topology, const auto&,
                              std::uint64_t seed) { return make_flow_network(spec, topology, clock, seed); };
  return replay(config, trace, outputs, reporter, clock, network_of);
}

Json linux_to(const Case& config, const Trace& trace, ReplayOutputs& outputs, ProgressReporter& reporter,
              int threads) {
  LinuxClock clock;
  const auto network_of = [&](const NetworkSpec& spec, const Topology& topology, const auto& used_ends,
                              std::uint64_t seed) {
    return std::make_unique<LinuxNetwork>(spec, topology, used_ends(), seed, clock, threads);
  };
  return replay(config, trace, outputs, reporter, clock, network_of);
}

// Files of an earlier replay stay where case and trace do not fit.
ReplayTables tables_of(const Case& config, const Trace& trace, const std::string& folder) {
  check_fit(config, trace);
  return ReplayTables(folder, trace, named_parts(config.network));
}

}  // namespace

Json replay(const Case& config, const Trace& trace, ReplayOutputs& outputs, ProgressReporter& reporter,
            Clock& clock, const NetworkMaker& network_of) {
  check_fit(config, trace);
  return ReplayEngine(config, trace, outputs, reporter, clock, network_of).run();
}

Json replay(const Case& config, const Trace& trace, const std::string& folder, ProgressReporter& reporter,
            Clock& clock, const NetworkMaker& network_of) {
  ReplayTables tables = tables_of(config, trace, folder);
  return replay(config, trace, tables, reporter, clock, network_of);
}

Json replay_alone(const Case& config, const Trace& trace, ReplayOutputs& outputs,
                  ProgressReporter& reporter) {
  const std::string& fidelity = config.network.fidelity;
  if (fidelity == "analytic") return analytic_to(config, trace, outputs, reporter);
  if (fidelity == "flow") return flow_to(config, trace, outputs, reporter);
  if (fidelity == "linux") return linux_to(config, trace, outputs, reporter, 1);
  throw InputError("network.fidelity", "found \"" + fidelity + "\"", "analytic, flow, linux");
}

Json analytic_replay(const Case& config, const Trace& trace, const std::string& folder,
                     ProgressReporter& reporter) {
  ReplayTables tables = tables_of(config, trace, folder);
  return analytic_to(config, trace, tables, reporter);
}

Json flow_replay(const Case& config, const Trace& trace, const std::string& folder,
                 ProgressReporter& reporter) {
  ReplayTables tables = tables_of(config, trace, folder);
  return flow_to(config, trace, tables, reporter);
}

ReplayFunction linux_replay_by(int threads) {
  return [threads](const Case& config, const Trace& trace, const std::string& folder,
                   ProgressReporter& reporter) {
    ReplayTables tables = tables_of(config, trace, folder);
    return linux_to(config, trace, tables, reporter, threads);
  };
}

Json linux_replay(const Case& config, const Trace& trace, const std::string& folder,
                  ProgressReporter& reporter) {
  return linux_replay_by(1)(config, trace, folder, reporter);
}

bool needs_simulator(const std::string& fidelity) {
  return fidelity != "analytic" && fidelity != "linux";
}

}  // namespace longhaul
