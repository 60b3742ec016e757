#include "cli/starter_scenario.h"

#include <algorithm>

namespace longhaul {
namespace {

// Outer steps as often as in the quickstart where a short training needs several of them, else the published
// ones.
Json method_of(const std::string& name, bool train) {
  Json method = {{"name", name}};
  if (name == "diloco") method["inner_steps"] = train ? 20 : 100;
  if (name == "noloco") method["inner_steps"] = train ? 10 : 50;
  return method;
}

Json topology_of(const std::string& network) {
  if (network == "regions")
    return {{"regions", {{"matrix", "aws-2022"}, {"replicas", "even"}, {"rate", "10Gbps"}}}};
  if (network == "homes")
    return {
        {"homes", {{"up", {{"median", "22.6Mbps"}}}, {"down", {{"median", "193.7Mbps"}}}, {"rtt", "14ms"}}}};
  if (network == "mesh") return {{"mesh", {{"rate", "1Gbps"}, {"rtt", "100ms"}}}};
  if (network == "hierarchical")
    return {{"hierarchical",
             {{"sites", 2},
              {"inside", {{"rate", "10Gbps"}, {"rtt", "1ms"}}},
              {"trunk", {{"rate", "1Gbps"}, {"rtt", "100ms"}}}}}};
  return {{"star", {{"rate", "1Gbps"}, {"rtt", "100ms"}}}};
}

Json training() {
  return {{"steps", 200},
          {"model", {{"hidden", 96}, {"layers", 3}, {"heads", 4}, {"ffn", 256}, {"context", 128}}},
          {"data", {{"corpus", "system-headers"}}},
          {"batch", 4},
          {"optimizer", {{"lr", 1e-3}}}};
}

Json workload(bool train) {
  Json workload = {{"model", "llama-small"}, {"wire", "bf16"}};
  if (!train) workload["steps"] = 200;
  workload["step_time"] = {{"lognormal", {{"mean", "1s"}, {"sigma", 0.3}}}};
  return workload;
}

bool has(const std::vector<std::string>& methods, const std::string& name) {
  return std::find(methods.begin(), methods.end(), name) != methods.end();
}

}  // namespace

const std::vector<std::string>& starter_networks() {
  static const std::vector<std::string> names = {"star", "regions", "homes", "hierarchical", "mesh"};
  return names;
}

Json starter_scenario(const StarterChoices& choices) {
  Json scenario = {{"name", choices.name}};
  Json seeds = Json::array(), methods = Json::array();
  for (int seed = 1; seed <= choices.seeds; ++seed) seeds.push_back(seed);
  for (const std::string& name : choices.methods) methods.push_back(method_of(name, choices.train));
  scenario["seeds"] = seeds;
  scenario["replicas"] = choices.replicas;
  scenario["methods"] = methods;
  if (choices.train) scenario["train"] = training();
  scenario["workload"] = workload(choices.train);
  scenario["network"] = {{"fidelity", "flow"},
                         {"topology", topology_of(choices.network)},
                         {"tcp", {{"connections", 1}, {"congestion_control", "cubic"}, {"queue", "host"}}}};
  if (has(choices.methods, "diloco") && has(choices.methods, "noloco"))
    scenario["claims"] = {{{"id", "order-of-magnitude"},
                           {"statement", "NoLoCo synchronizes ten times faster than DiLoCo"},
                           {"ratio", "sync_time_s.mean"},
                           {"of", "diloco"},
                           {"to", "noloco"},
                           {"at_least", 10}}};
  return scenario;
}

}  // namespace longhaul
