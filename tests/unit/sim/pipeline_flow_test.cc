// Stages over TCP: on an idle fast network the step is the textbook's, and packets agree with the fluid.
#include <gtest/gtest.h>

#include "tests/unit/sim/replays.h"

namespace longhaul {
namespace {

Trace stages_of(PipelineSchedule schedule, int chunks, int steps) {
  PipelineSpec spec;
  spec.stages = 4;
  spec.microbatches = 8;
  spec.schedule = schedule;
  spec.chunks = chunks;
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

TEST(PipelineFlow, OnAnIdleFastNetworkTheStepIsTheTextbooks) {
  const Case config = stages_case(1e12, 1e-5, 3);
  EXPECT_NEAR(step_s(config, stages_of(PipelineSchedule::kGpipe, 1, 3)), 8 + 3, 0.01 * 11);
  EXPECT_NEAR(step_s(config, stages_of(PipelineSchedule::k1f1b, 1, 3)), 8 + 3, 0.01 * 11);
  EXPECT_NEAR(step_s(config, stages_of(PipelineSchedule::kInterleaved, 2, 3)), 8 + 3. / 2, 0.01 * 9.5);
}

// 1 MB over 100 Mb/s with 40 ms round trip: both fidelities wait for windows and links alike, within 5 %.
TEST(PipelineFlow, AgreesWithPackets) {
  for (const auto schedule : {PipelineSchedule::kGpipe, PipelineSchedule::k1f1b}) {
    const Trace trace = stages_of(schedule, 1, 2);
    const double flow_s = step_s(stages_case(1e8, 0.04, 2), trace),
                 packet_s = step_s(stages_case(1e8, 0.04, 2, "packet"), trace);
    EXPECT_GT(flow_s, 11.5);
    EXPECT_NEAR(flow_s, packet_s, 0.05 * packet_s);
  }
}

}  // namespace
}  // namespace longhaul
