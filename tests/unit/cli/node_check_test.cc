// What `longhaul check` says of nodes of several devices that cannot be; and that a training knows nothing of
// them.
#include <gtest/gtest.h>

#include "cli/validated_scenario.h"
#include "core/base/errors.h"
#include "methods/common/registry.h"
#include "tests/support/files.h"

namespace longhaul {
namespace {

// llama-small has 12 layers, hidden 768 and 16 heads.
Json scenario_of(const Json& node, const std::string& method = "ddp") {
  Json json = {{"name", "nodes"},
               {"replicas", 4},
               {"methods", {{{"name", method}}}},
               {"train", {{"steps", 100}, {"model", {{"layers", 3}}}, {"batch", 4}}},
               {"workload", {{"model", "llama-small"}, {"step_time", {{"constant", "2s"}}}}},
               {"network", {{"topology", {{"star", {{"rate", "1Gbps"}, {"rtt", "50ms"}}}}}}}};
  if (!node.is_null()) json["workload"]["node"] = node;
  return json;
}

Json node_of(int devices, const std::string& parallelism) {
  return {{"devices", devices}, {"parallelism", parallelism}, {"rate", "450 GB/s"}};
}

Scenario validated(const Json& scenario) {
  const TemporaryFolder folder;
  write_text(folder.file("scenario.json"), scenario.dump());
  return validated_scenario(folder.file("scenario.json"), {});
}

InputErrorParts error_of(const Json& scenario) {
  try {
    validated(scenario);
  } catch (const InputError& error) {
    return error.parts();
  }
  ADD_FAILURE() << "let through: " << scenario["workload"].dump();
  return {};
}

TEST(NodeCheck, OneDeviceIsNoNode) {
  const InputErrorParts error = error_of(scenario_of(node_of(1, "tensor")));
  EXPECT_EQ(error.path, "workload.node.devices");
}

TEST(NodeCheck, DevicesThatDoNotDivideTheHeads) {
  const InputErrorParts error = error_of(scenario_of(node_of(5, "tensor")));
  EXPECT_EQ(error.path, "workload.node.devices");
  EXPECT_EQ(error.allowed, "a divisor of the model's heads");
  validated(scenario_of(node_of(5, "sharded")));
}

TEST(NodeCheck, TensorNeedsLayers) {
  Json scenario = scenario_of(node_of(4, "tensor"));
  scenario["workload"].erase("model");
  scenario["workload"]["parameters"] = 1000000;
  EXPECT_EQ(error_of(scenario).path, "workload.node.parallelism");
}

TEST(NodeCheck, MeasuredTimesAreOfThisMachine) {
  Json scenario = scenario_of(node_of(4, "tensor"));
  scenario["workload"]["step_time"] = {{"measured", true}};
  const InputErrorParts error = error_of(scenario);
  EXPECT_EQ(error.path, "workload.node");
  EXPECT_EQ(error.found, "found beside workload.step_time.measured");
}

// Numerics know of no node: one training serves both.
TEST(NodeCheck, ATrainingHasNoNodeInItsName) {
  EXPECT_EQ(training_key(validated(scenario_of(node_of(8, "tensor"))).cases.front()),
            training_key(validated(scenario_of(nullptr)).cases.front()));
}

}  // namespace
}  // namespace longhaul
