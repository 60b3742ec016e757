// Stages over TCP: packets agree with the fluid.
#include <gtest/gtest.h>

#include "tests/unit/sim/replays.h"

namespace longhaul::pipeline_flow_test {

Trace stages_of(PipelineSchedule schedule, int steps) {
  PipelineSpec spec;
  spec.stages = 4;
  spec.microbatches = 8;
  spec.schedule = schedule;
  spec.boundary.bytes_per_token = 1000;
  Trace trace = make_trace({}, {1, 2, steps, 1000});
  trace.plan.pipeline = pipeline_plan(spec, std::nullopt, 1000, 8 * 1000, Wire::kBf16);
  return trace;
}

// Forward and backward of a micro-batch take 1 s on a worker; a message has 1 MB.
Case stages_case(double rate, double rtt_s, int steps, const char* fidelity = "flow") {
  Case config = star_case(2, rate, rtt_s);
  config.network.fidelity = fidelity;
  config.pipeline.stages = 4;
  config.workload.steps = steps;
  config.workload.step_time.seconds = 8 * 4;
  return config;
}

double step_s(const Case& config, const Trace& trace) {
  return run_replay(config, trace).report["simulated_s"].get<double>() / trace.context.steps;
}

// 1 MB over 100 Mb/s with 40 ms round trip: both fidelities wait for windows and links alike, within 5 %.
TEST(PipelineFlow, AgreesWithPackets) {
  for (const auto schedule : {PipelineSchedule::kGpipe, PipelineSchedule::k1f1b}) {
    const Trace trace = stages_of(schedule, 2);
    const double flow_s = step_s(stages_case(1e8, 0.04, 2), trace),
                 packet_s = step_s(stages_case(1e8, 0.04, 2, "packet"), trace);
    EXPECT_GT(flow_s, 11.5);
    EXPECT_NEAR(flow_s, packet_s, 0.05 * packet_s);
  }
}

}  // namespace longhaul::pipeline_flow_test
