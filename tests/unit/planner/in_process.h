// Plans written by tests, and a search whose replays run in this process, with fidelity analytic for all but
// linux.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "core/base/child_main.h"
#include "core/scenario/scenario.h"
#include "core/scenario/scenario_options.h"
#include "methods/common/registry.h"
#include "net/topologies/registry.h"
#include "planner/candidates.h"
#include "planner/connection_gain.h"
#include "planner/faulty_times.h"
#include "planner/plan_request.h"
#include "planner/plan_result.h"
#include "planner/planned_network.h"
#include "planner/replay_task.h"
#include "planner/search.h"
#include "planner/sensitivity.h"
#include "planner/site_shares.h"
#include "planner/token_needs.h"
#include "planner/verification.h"
#include "replay/placement/optimized_order.h"
#include "replay/replay.h"
#include "tests/support/files.h"

namespace longhaul {

inline const Node& declared_scenario() {
  static const Node declaration = scenario_options(method_options(), topology_options());
  return declaration;
}

// A folder that goes with the test.
struct PlanFolder : TemporaryFolder {
  std::string write(const std::string& name, const std::string& text) const {
    write_text(file(name), text);
    return file(name);
  }
};

// Four nodes on links of 1538 Mb/s, which carry 1448 Mb/s of payload, 20 ms apart; 724 MB to exchange. Chunks
// of 181 MB take 1 s and 10 ms one way: a ring of 2 · 3 rounds takes 6.06 s. Changed; null leaves out.
inline Json star(const Json& change = Json::object()) {
  Json plan = Json::parse(R"({"nodes": 4, "parameters": 362000000, "tokens": 400000, "tokens_per_step": 100,
    "step_time": "0.5s", "accelerator": {"per_node": 2, "price": 3.6}, "egress": 0.25,
    "network": {"fidelity": "analytic", "topology": {"star": {"rate": "1538Mbps", "rtt": "20ms"}}},
    "candidates": {"methods": ["diloco"], "inner_steps": [20], "all_reduce": ["ring"], "connections": [1]}})");
  plan.merge_patch(change);
  return plan;
}

inline PlanRequest plan_of_json(const PlanFolder& folder, const Json& json) {
  return read_plan(folder.write("plan.json", json.dump()), declared_scenario());
}

inline PlanRequest plan_of_json(const Json& json) {
  return plan_of_json(PlanFolder(), json);
}

inline PlanTools tools_in(const PlanFolder& folder) {
  PlanTools tools;
  tools.validated = [&folder](const Json& scenario) {
    const std::string file = folder.write("candidate.json", scenario.dump());
    Case config = load_scenario(file, {}, declared_scenario(), check_topology).cases.at(0);
    method_named(config.method.name).check(config);
    config = with_optimized_order(config, plan_of(config));
    if (!needs_sites(plan_of(config))) return config;
    std::map<int, int> number_of;  // in the order of their first replicas, as `longhaul` numbers them
    for (const int site : placed_topology(config).site_of())
      config.site_of.push_back(number_of.emplace(site, static_cast<int>(number_of.size())).first->second);
    return config;
  };
  tools.folder = folder.path;
  tools.replay = [](std::vector<ReplayTask>& tasks, const std::string&) {
    for (ReplayTask& task : tasks) {
      ProgressReporter reporter("test", -1, true);
      ReplayTask one = task;
      if (one.config.network.fidelity != "linux") one.config.network.fidelity = "analytic";
      replay_here(one, reporter);
      if (!one.times) throw std::runtime_error(one.error);
      task.times = one.times;
    }
  };
  return tools;
}

// The same with two nodes at each of the sites a and b, ranks in blocks.
inline Json two_sites(const Json& change) {
  Json plan = star(change);
  plan["candidates"]["rank_orders"] = {"blocks"};
  plan["network"]["topology"] = Json::parse(R"({"hierarchical": {"sites": {"a": 2, "b": 2},
    "inside": {"rate": "10Gbps", "rtt": "1ms"}, "trunk": {"rate": "1538Mbps", "rtt": "20ms"}}})");
  return plan;
}

// Node 0 fails 20 minutes after its repair, for 100 s, both exponential. 30,000 steps, and little to send.
inline Json with_crashes(Json plan, const char* on_failure, const char* start) {
  plan["parameters"] = 1000;
  plan["tokens"] = 12000000;
  plan["faults"] = {{{"kind", "crash"}, {"replicas", "0"}, {"every", "20min"}, {"for", "100s"}}};
  plan["recovery"] = {{"on_failure", on_failure}, {"start", start}, {"detect", "0s"}};
  return plan;
}

// What was measured between `sites`: an object a pair.
inline Json measured_between(const Json& sites, const Json& pairs) {
  return {{"about", "sites"},
          {"source", "a test"},
          {"sites", sites},
          {"inside", {{"rtt", "1ms"}, {"throughput", "10Gbps"}}},
          {"pairs", pairs}};
}

inline PlannedNetwork network_in(const PlanFolder& folder, const PlanRequest& plan) {
  PlannedNetwork network = planned_network(plan, folder.path);
  for (const auto& [name, text] : network.files) folder.write(name, text);
  return network;
}

// A plan with what the search found, whose files go with it.
struct Planned {
  explicit Planned(const Json& json, const Json& measured = Json()) : plan(plan_of_json(folder, json)) {
    plan.measured = measured;
    const PlannedNetwork network = network_in(folder, plan);
    const PlanTools tools = tools_in(folder);
    result.needs = token_needs(plan, candidate_methods(plan));
    result.search = search_plan(plan, network, result.needs, tools);
    result.verification = verified(plan, network, result.search, tools);
    result.sensitivity = sensitivity_of(result.choice(), tools);
    result.by_gain = times_by_gain(plan, result.choice(), tools);
    result.sites = site_shares(plan, result.search, result.needs, tools, folder.path);
    result.by_speed = with_batches_by_speed(plan, network, result.search, result.needs, tools);
    result.faulty = faulty_times(plan, result.search, tools, result.search.notes);
  }

  const PlanFolder folder;
  PlanRequest plan;
  PlanResult result;
};

inline PlanResult planned(const Json& json) {
  return Planned(json).result;
}

}  // namespace longhaul
