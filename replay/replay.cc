#include "replay/replay.h"

#include <fmt/core.h>

#include <memory>

#include "core/base/errors.h"
#include "core/plan/combinations.h"
#include "replay/engine/replay_engine.h"
#include "replay/network/analytic_network.h"
#include "replay/network/linux_network.h"
#include "replay/predict/estimate.h"

namespace longhaul {

Json replay(const Case& config, const Trace& trace, const std::string& folder, ProgressReporter& reporter,
            Clock& clock, const NetworkMaker& network_of) {
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
  return ReplayEngine(config, trace, folder, reporter, clock, network_of).run();
}

Json analytic_replay(const Case& config, const Trace& trace, const std::string& folder,
                     ProgressReporter& reporter) {
  EventQueue clock;
  const auto network_of = [&](const NetworkSpec& spec, const Topology& topology, const auto&,
                              std::uint64_t seed) {
    return std::make_unique<AnalyticNetwork>(spec, topology, seed, clock);
  };
  return replay(config, trace, folder, reporter, clock, network_of);
}

ReplayFunction linux_replay_by(int threads) {
  return [threads](const Case& config, const Trace& trace, const std::string& folder,
                   ProgressReporter& reporter) {
    LinuxClock clock;
    const auto network_of = [&](const NetworkSpec& spec, const Topology& topology, const auto& used_ends,
                                std::uint64_t seed) {
      return std::make_unique<LinuxNetwork>(spec, topology, used_ends(), seed, clock, threads);
    };
    return replay(config, trace, folder, reporter, clock, network_of);
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
