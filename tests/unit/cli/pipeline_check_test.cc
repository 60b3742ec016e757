// Stages that `longhaul check` lets through, beside those that it refuses (tests/data/bad_scenarios.json).
#include <gtest/gtest.h>

#include "cli/validated_scenario.h"
#include "tests/support/files.h"

namespace longhaul::pipeline_check_test {

std::size_t cases_of(int replicas, const Json& pipeline, const Json& method) {
  const Json scenario = {{"replicas", replicas},
                         {"methods", {method}},
                         {"pipeline", pipeline},
                         {"train", {{"steps", 100}, {"model", {{"layers", 3}}}, {"batch", 4}}},
                         {"workload", {{"model", "llama-small"}}},
                         {"network", {{"topology", {{"star", {{"rate", "1Gbps"}, {"rtt", "50ms"}}}}}}}};
  const TemporaryFolder folder;
  write_text(folder.file("scenario.json"), scenario.dump());
  return validated_scenario(folder.file("scenario.json"), {}).cases.size();
}

TEST(PipelineCheck, AnOddNumberOfColumns) {
  EXPECT_EQ(cases_of(3, {{"stages", 2}}, {{"name", "noloco"}, {"inner_steps", 10}}), 1u) << "one sits out";
}

TEST(PipelineCheck, PathsByThroughputWhereAllHaveTheSameWeights) {
  EXPECT_EQ(cases_of(4, {{"stages", 2}, {"routing", "throughput"}}, {{"name", "ddp"}}), 1u);
}

}  // namespace longhaul::pipeline_check_test
