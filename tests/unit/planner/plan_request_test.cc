// What a plan asks for, and its sites as a network: round trips and rates between nodes are what it says.
#include "planner/plan_request.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <tuple>

#include "core/base/files.h"
#include "core/base/model_presets.h"
#include "core/base/units.h"
#include "net/topology.h"
#include "planner/accelerators.h"
#include "planner/candidates.h"
#include "planner/memory_need.h"
#include "planner/plan_text.h"
#include "planner/planned_network.h"
#include "planner/site_traffic.h"
#include "tests/support/said.h"
#include "tests/unit/planner/in_process.h"

namespace longhaul::plan_request_test {

Json sites();

Json minimal() {
  return Json::parse(R"({"nodes": 4, "model": "llama-small", "tokens": 1e9, "tokens_per_step": 8192,
    "accelerator": {"name": "H100", "per_node": 8},
    "network": {"topology": {"star": {"rate": "1Gbps", "rtt": "50ms"}}}})");
}

// What the plan file names lies beside it, wherever the plan is written.
TEST(PlanRequest, AFileThatIsNotThereIsSaidOfThePlansFolder) {
  const auto said_of = [](const Json& network) {
    Json json = minimal();
    json["network"] = network;
    PlanRequest plan = plan_of_json(json);
    plan.folder = "/plans";
    const PlanFolder out;
    return said_by([&] { planned_network(plan, out.path); });
  };
  EXPECT_EQ(said_of({{"topology", {{"graphml", {{"file", "none.graphml"}, {"replicas", "even"}}}}}}),
            "network.topology.graphml.file: \"none.graphml\" is no file; allowed: GraphML or node-link JSON, "
            "relative "
            "to the plan file's folder (/plans)");
  EXPECT_EQ(
      said_of({{"topology", {{"star", {{"rate", "1Gbps"}, {"rtt", "50ms"}}}}},
               {"variation", {{"traces", {{{"link", "*"}, {"file", "none.csv"}}}}}}}),
      "network.variation.traces[0].file: \"none.csv\" is no file; allowed: a CSV file, relative to the plan "
      "file's folder (/plans)");
}

// 6 · 310 M parameters · 8192 tokens at 40 % of eight times 989.4 TFLOP/s.
TEST(PlanRequest, FillsInWhatIsKnown) {
  const PlanRequest plan = plan_of_json(minimal());
  EXPECT_EQ(plan.name, "plan");
  EXPECT_EQ(plan.nodes, 4);
  const auto parameters = static_cast<double>(model_presets()[0].shape.parameters());
  EXPECT_DOUBLE_EQ(plan.step_s, 6 * parameters * 8192 / (8 * 989.4e12 * 0.4));
  EXPECT_EQ(plan.hardware.memory, 80e9);
  EXPECT_EQ(plan.egress.of("anywhere"), 0);
  EXPECT_EQ(plan.min_utilization, 0.8);
  EXPECT_EQ(candidate_methods(plan),
            (std::vector<std::string>{"ddp", "diloco", "streaming-diloco", "noloco"}));
}

// Of 30.53 G parameters 3.3 G compute a token: 6 · 3.3 G · 65536 tokens at 40 % of eight times 989.4 TFLOP/s
// are 0.41 s, not 3.8 s. What travels and what is stored are all 30.53 G. Sites of their own hardware alike.
TEST(PlanRequest, ExpertsThatDoNotComputeTravelAndAreStored) {
  Json json = minimal();
  json.merge_patch({{"model", nullptr}, {"parameters", 30532122624}, {"tokens_per_step", 65536}});
  const auto is_said = [](const PlanRequest& plan) { return join(plan.notes); };
  EXPECT_NEAR(plan_of_json(json).step_s, 3.79, 0.005);
  EXPECT_SAYS(is_said(plan_of_json(json)), "Qwen3-30B-A3B, a mixture of experts of which 3.3 G compute");
  json["active_parameters"] = 3300000000;
  const PlanRequest plan = plan_of_json(json);
  EXPECT_DOUBLE_EQ(plan.step_s, 6 * 3.3e9 * 65536 / (8 * 989.4e12 * 0.4));
  EXPECT_EQ(plan.parameters, 30532122624);
  EXPECT_EQ(is_said(plan), "Compute counts the 3.3 G active parameters; traffic and memory count all 30.5 G");
  const PlanFolder folder;
  const Case config = tools_in(folder).validated(
      candidates_of(plan, planned_network(plan, folder.path), {{"diloco", 1000000000}}).at(0).scenario);
  EXPECT_DOUBLE_EQ(config.workload.step_time.mean_s(), plan.step_s);
  EXPECT_EQ(config.workload.parameters, 30532122624);
  EXPECT_NEAR(memory_need(plan, config).weights, 6 * 30532122624. / 8, 1);
  json.merge_patch({{"network", nullptr}, {"nodes", nullptr}});
  json["sites"] = Json::parse(R"([{"name": "a", "latitude": 50, "longitude": 3},
      {"name": "b", "latitude": 60, "longitude": 3, "accelerator": {"utilization": 0.2}}])");
  EXPECT_DOUBLE_EQ(plan_of_json(json).sites[1].step_s, 2 * plan.step_s);
  json["active_parameters"] = 30532122625;
  EXPECT_EQ(refused_path([&] { plan_of_json(json); }), "active_parameters");
}

// EleutherAI's calculator (cookbook, calc/calc_transformer_mem.py at 069ae2ef): ZeRO-3 over a node's eight,
// weights of 2 bytes, gradients of 4, optimizer of 12, and activations of s · b · h · L · (16 · 2 + 2) with
// one sequence. Its parameters: 2 v h + h s + 8 h L + 2 h + 2 (1 + kv) L h² + 3 L h · ffn.
TEST(PlanRequest, MemoryIsThatOfAPublicCalculator) {
  struct Shape {
    const char* model;
    double vocabulary, hidden, layers, kv, ffn;
  };
  for (const Shape& of : {Shape{"llama-3-8b", 128256, 4096, 32, 0.25, 14336},
                          Shape{"llama-3-70b", 128256, 8192, 80, 0.125, 28672},
                          Shape{"llama-2-7b", 32000, 4096, 32, 1, 11008}}) {
    Json json = minimal();
    json.merge_patch({{"model", of.model}, {"accelerator", {{"name", "B300"}}}});
    const PlanRequest plan = plan_of_json(json);
    const double tokens = static_cast<double>(plan.model->context), h = of.hidden, layers = of.layers;
    const double parameters = 2 * of.vocabulary * h + h * tokens + 8 * h * layers + 2 * h +
                              2 * (1 + of.kv) * layers * h * h + 3 * layers * h * of.ffn;
    const PlanFolder folder;
    const MemoryNeed need =
        memory_need(plan, tools_in(folder).validated(candidates_of(plan, planned_network(plan, folder.path),
                                                                   {{"diloco", 1000000000}})
                                                         .at(0)
                                                         .scenario));
    EXPECT_NEAR(need.without_outer_state() / (18 * parameters / 8), 1, 0.01) << of.model;
    EXPECT_NEAR(need.kept_activations / (34 * tokens * h * layers), 1, 1e-9) << of.model;
  }
}

// Sizes and names of mixtures of experts, and dense ones of nearly the same: Qwen1.5 14B, GPT-NeoX-20B.
TEST(PlanRequest, HintsAtMixturesOfExperts) {
  const auto hint = [](double parameters, const char* name, const Json& more = Json::object()) {
    Json json = minimal();
    json.merge_patch({{"model", nullptr}, {"parameters", parameters}, {"name", name}});
    json.merge_patch(more);
    return join(plan_of_json(json).notes);
  };
  EXPECT_SAYS(hint(671e9, "ours"), "DeepSeek-V3, a mixture of experts of which 37 G compute");
  EXPECT_SAYS(hint(46.7e9, "ours"), "Mixtral 8x7B");
  EXPECT_SAYS(hint(5e9, "ours-moe"), "\"moe\" says a mixture of experts");
  EXPECT_SAYS(hint(5e9, "5B-A0.6B"), "give active_parameters");
  EXPECT_SAYS(hint(5e9, "ours", {{"description", "Our mixture of experts."}}), "give active_parameters");
  for (const double dense : {14.17e9, 20.55e9, 70.55e9, 6.92e9, 32.8e9, 405e9})
    EXPECT_EQ(hint(dense, "ours"), "");
  EXPECT_EQ(hint(671e9, "ours", {{"step_time", "1s"}}), "") << "compute is given";
  EXPECT_EQ(hint(671e9, "ours", {{"active_parameters", 671000000000}}), "") << "said to be dense";
}

// A change of the plan, in which null leaves out; the path of what is then refused; what is said of it.
TEST(PlanRequest, SaysWhatIsWrong) {
  EXPECT_NO_THROW(plan_of_json(minimal()));
  for (const Json& row : Json::parse(R"([
      [{"nodes": null}, "nodes", ""], [{"model": null}, "model", ""], [{"tokens": null}, "tokens", ""],
      [{"tokens_per_step": null}, "tokens_per_step", ""], [{"accelerator": null}, "accelerator", ""],
      [{"network": null}, "network", ""], [{"parameters": 5}, "parameters", ""], [{"token": 5}, "token", ""],
      [{"sites": [{"name": "a"}]}, "sites", ""], [{"measurements": "iperf.csv"}, "measurements", ""],
      [{"accelerator": {"name": "H1000"}}, "accelerator.name", ""],
      [{"accelerator": {"name": "H100-PCEi"}}, "accelerator.name", "; did you mean \"H100-PCIe\"?"],
      [{"accelerator": {"name": "B2000"}}, "accelerator.name", "; for another one leave the name out"],
      [{"accelerator": {"peak": "2.25 PTURNS"}}, "accelerator.peak", "2.25 PFLOPS"],
      [{"candidates": {"methods": ["diloko"]}}, "candidates.methods[0]", ""],
      [{"network": {"tcp": {"connections": 4}}}, "network.tcp.connections", ""],
      [{"network": {"tcp": {"hosts": [{"replicas": 0, "congestion_control": "bbr"}]}}}, "network.tcp.hosts", "found in a plan"],
      [{"network": {"fidelity": "packet"}}, "network.fidelity", "flow, analytic, linux"],
      [{"budget": 5}, "budget", "without prices"], [{"prefer": "money"}, "prefer", "without prices"],
      [{"deadline": 5}, "deadline", ""], [{"inside": "2ms"}, "inside", ""], [{"inflation": 2}, "inflation", ""],
      [{"fault_draws": 4}, "fault_draws", ""], [{"recovery": {"on_failure": "wait"}}, "recovery", ""],
      [{"methods": [], "workload": {}}, "methods", "longhaul run"]])")) {
    Json json = minimal();
    json.merge_patch(row[0]);
    const InputError error = thrown_by([&] { plan_of_json(json); });
    EXPECT_EQ(error.parts().path, row[1]) << row;
    EXPECT_SAYS(error.what(), row[2].get<std::string>()) << row;
  }
}

// What vendors publish without sparsity; names as people write them.
TEST(PlanRequest, KnowsAcceleratorsByTheNamesThatPeopleWrite) {
  const std::vector<std::tuple<const char*, const char*, double, double>> rows = {
      {"NVIDIA H100 SXM", "H100", 989.4e12, 80e9},
      {"A100-80GB", "A100", 312e12, 80e9},
      {"b200", "B200", 2250e12, 180e9},
      {"GB300 NVL72", "GB300", 2500e12, 279e9},
      {"AMD Instinct MI300X", "MI300X", 1307.4e12, 192e9},
      {"mi355x", "MI355X", 2516.6e12, 288e9},
      {"RTX 5090", "RTX-5090", 209.5e12, 32e9},
      {"GeForce RTX 4090", "RTX-4090", 165.2e12, 24e9},
      {"3060", "RTX-3060", 25.5e12, 12e9},
      {"L40s", "L40S", 362.05e12, 48e9},
      {"H20", "H20", 148e12, 96e9},
      {"TPU v5e", "TPU-v5e", 197e12, 16e9},
      {"v6e", "TPU-v6e", 918e12, 32e9},
      {"trn2", "Trainium2", 667e12, 96 * 1073741824.}};
  for (const auto& [written, name, peak, memory] : rows) {
    Json json = minimal();
    json["accelerator"] = {{"name", written}};
    const PlanRequest plan = plan_of_json(json);
    EXPECT_EQ(plan.hardware.name, name) << written;
    EXPECT_EQ(plan.hardware.peak, peak) << written;
    EXPECT_NEAR(plan.hardware.memory / memory, 1, 1e-3) << written;
  }
  Json json = minimal();
  json["accelerator"] = {{"peak", "2.25 PFLOPS"}};
  EXPECT_EQ(plan_of_json(json).hardware.peak, 2.25e15);
  json = sites();
  json["sites"][1]["accelerator"] = {{"name", "rtx 3090"}};
  EXPECT_EQ(plan_of_json(json).sites[1].hardware->name, "RTX-3090");
  json["sites"][1]["accelerator"] = {{"name", "rtx 9090"}};
  EXPECT_EQ(refused_path([&] { plan_of_json(json); }), "sites[1].accelerator.name");
}

TEST(PlanRequest, AcceleratorsStandInTheDocumentWithTheirSources) {
  const std::string page = *read_file(LONGHAUL_SOURCE_DIR "/docs/reference/accelerators.md");
  for (const Accelerator& known : accelerators())
    EXPECT_SAYS(page, fmt::format("| {} | {} | {} | {} |\n", known.name, format_number(known.peak / 1e12),
                                  format_number(known.memory / 1e9), known.source));
}

// Mistakes that only a plan has, beside those of single keys: each is said.
TEST(PlanRequest, SaysAllMistakesAtOnce) {
  Json json = minimal();
  json.merge_patch({{"deadline", "2 months"}, {"budget", "€400k"}, {"tokens", "500B"}});
  const std::string said = said_by([&] { plan_of_json(json); });
  for (const char* words : {"deadline: ", "budget: ", "write 400e3", "tokens: ", "write 500e9"})
    EXPECT_SAYS(said, words);
  json = minimal();
  json.merge_patch({{"parameters", 5}, {"tokens", nullptr}, {"budget", 5}});
  const std::string of_plan = said_by([&] { plan_of_json(json); });
  for (const char* words :
       {"parameters: found beside model", "tokens: this key is missing", "budget: found without"})
    EXPECT_SAYS(of_plan, words);
}

// Also each of the sites and of the paths between them, in the order of the file.
TEST(PlanRequest, SaysAllMistakesOfSitesAtOnce) {
  Json json = minimal();
  json["sites"] = {{{"name", "lyon"}, {"nodes", 2}, {"rate", "1Gbps"}},
                   {{"name", "oslo"}, {"nodes", 2}, {"rate", "1Gbps"}, {"latitude", 60}},
                   {{"name", "lyon"}, {"nodes", 2}, {"rate", "1Gbps"}},
                   {{"name", "turin"}, {"nodes", 2}, {"rate", "1Gbps"}}};
  json["paths"] = {{{"between", {"lyon", "oslo"}}, {"rtt", "20ms"}},
                   {{"between", {"lyon", "turim"}}, {"rtt", "20ms"}},
                   {{"between", {"turin", "turin"}}, {"rtt", "20ms"}},
                   {{"between", {"oslo", "lyon"}}, {"rtt", "30ms"}}};
  for (const char* key : {"network", "nodes", "tokens"}) json.erase(key);
  const std::string said = said_by([&] { plan_of_json(json); });
  std::size_t from = 0;
  for (const char* words :
       {"sites[1].longitude: this key is missing", "sites[2].name: \"lyon\" is there twice",
        "paths[1].between: found \"turim\"; allowed: one of sites: lyon, oslo, turin; did you mean "
        "\"turin\"?",
        "paths[2].between: found [\"turin\",\"turin\"]",
        "paths[3].between: [\"oslo\",\"lyon\"] is there twice", "tokens: this key is missing"}) {
    EXPECT_SAYS(said, words);
    EXPECT_GE(said.find(words), from) << words << " out of order";
    from = said.find(words);
  }
}

// Llama 3 70B as a preset and as dimensions: 70.55 B parameters, not the 79.95 B of as many heads of keys.
TEST(PlanRequest, CountsGroupedQueries) {
  Json json = minimal();
  json["model"] = "llama-3-70b";
  EXPECT_EQ(plan_of_json(json).parameters, 70553706496);
  json["model"] = {{"hidden", 8192}, {"layers", 80}, {"heads", 64}, {"ffn", 28672}, {"vocabulary", 128256}};
  EXPECT_EQ(plan_of_json(json).parameters, 70553706496 + 80LL * 2 * 8192 * 8192 * 7 / 8);
  json["model"]["kv_heads"] = 8;
  EXPECT_EQ(plan_of_json(json).parameters, 70553706496);
  json["model"]["kv_heads"] = 7;
  EXPECT_EQ(refused_path([&] { plan_of_json(json); }), "model.kv_heads");
  json["model"].erase("kv_heads");
  json["model"]["num_key_value_heads"] = 8;
  EXPECT_SAYS(said_by([&] { plan_of_json(json); }), "; did you mean \"kv_heads\"?");
}

// Money decides before a deadline, where there are prices; waiting costs money: no utilization is asked for.
TEST(PlanRequest, LimitsChangeWhatCounts) {
  Json json = minimal();
  EXPECT_EQ(plan_of_json(json).prefer, Preference::kTime);
  json["deadline"] = "2d";
  EXPECT_EQ(plan_of_json(json).prefer, Preference::kTime) << "nothing is priced";
  json["egress"] = 0.1;
  PlanRequest plan = plan_of_json(json);
  EXPECT_EQ(plan.prefer, Preference::kMoney);
  EXPECT_EQ(plan.deadline_s, 172800);
  EXPECT_EQ(plan.min_utilization, 0);
  EXPECT_EQ(plan.egress.of("a"), 0.1);
  json.erase("deadline");
  json["budget"] = 5000;
  json["egress"] = {{"price", 0.1}, {"sites", {{"a", 0.2}}}};
  plan = plan_of_json(json);
  EXPECT_EQ(plan.egress.of("a"), 0.2);
  EXPECT_EQ(plan.egress.of("b"), 0.1);
  EXPECT_EQ(plan.prefer, Preference::kTime);
  EXPECT_EQ(plan.min_utilization, 0);
  json["prefer"] = "money";
  EXPECT_EQ(plan_of_json(json).prefer, Preference::kMoney);
  json.merge_patch({{"min_utilization", 0.5}, {"prefer", "bytes"}});
  plan = plan_of_json(json);
  EXPECT_EQ(plan.prefer, Preference::kBytes);
  EXPECT_EQ(plan.min_utilization, 0.5);
}

// b is dearer and has more memory, and its steps take as long as the plan says; c reaches half of the peak of
// eight times 989.4 TFLOP/s, so that the plan's step time is not its own.
TEST(PlanRequest, PriceAndMemoryOfASiteLeaveItsStepTime) {
  Json json = minimal();
  json.merge_patch({{"network", nullptr}, {"nodes", nullptr}, {"step_time", "1s"}});
  json["sites"] = Json::parse(R"([{"name": "a"}, {"name": "b", "accelerator": {"price": 3, "memory": "94GB"}},
                      {"name": "c", "accelerator": {"utilization": 0.5}}])");
  const PlanRequest plan = plan_of_json(json);
  ASSERT_EQ(plan.sites.size(), 3u);
  EXPECT_EQ(plan.sites[0].step_s, 1);
  EXPECT_EQ(plan.sites[1].step_s, 1);
  EXPECT_EQ(price_per_hour(plan), 8 * 3);
  const auto parameters = static_cast<double>(model_presets()[0].shape.parameters());
  EXPECT_DOUBLE_EQ(plan.sites[2].step_s, 6 * parameters * 8192 / (8 * 989.4e12 * 0.5));
}

TEST(HumanAmount, HasThreeDigitsAndCommas) {
  EXPECT_EQ(human_amount(0), "0");
  EXPECT_EQ(human_amount(1.2345), "1.23");
  EXPECT_EQ(human_amount(950.4), "950");
  EXPECT_EQ(human_amount(12345), "12,300");
  EXPECT_EQ(human_amount(1234567), "1,230,000");
}

Json sites() {
  return Json::parse(R"({"parameters": 1000000, "tokens": 1000, "tokens_per_step": 10, "step_time": "1s",
    "sites": [{"name": "Oslo", "nodes": 2, "rate": "1Gbps", "latitude": 60, "longitude": 10},
              {"name": "Bergen & co", "up": "100Mbps", "down": "300Mbps", "latitude": 60, "longitude": 100},
              {"name": "Rome"}],
    "paths": [{"between": ["Rome", "Oslo"], "rtt": "40ms"}, {"between": ["Bergen & co", "Rome"], "rtt": "50ms"}],
    "candidates": {"methods": ["diloco"], "inner_steps": [5], "all_reduce": ["ring"], "connections": [1],
                   "rank_orders": ["blocks"]}})");
}

Topology topology_of(const Json& json, const Json& measured = Json()) {
  const PlanFolder folder;
  PlanRequest plan = plan_of_json(folder, json);
  plan.measured = measured;
  const std::vector<Candidate> all = candidates_of(plan, network_in(folder, plan), {{"diloco", 1000}});
  return placed_topology(tools_in(folder).validated(all.at(0).scenario));
}

// 90 degrees of longitude at 60 degrees north: cos of the angle is sin² 60° = 3/4, so 0.7227 of 6371 km.
// There and back at 200 km/ms, 1.55 times as far.
TEST(PlannedNetwork, RoundTripsAndWaysOutOfSites) {
  EXPECT_EQ(plan_of_json(sites()).nodes, 4);
  const Topology topology = topology_of(sites());
  EXPECT_NEAR(topology.rtt_s(0, 1), 1e-3, 1e-12) << "two nodes of one site";
  EXPECT_NEAR(topology.rtt_s(0, 3), 40e-3, 1e-12);
  EXPECT_NEAR(topology.rtt_s(2, 3), 50e-3, 1e-12);
  EXPECT_NEAR(topology.rtt_s(1, 2), 2 * 1.55 * 6371 * std::acos(0.75) / 200e3, 1e-9);
  EXPECT_EQ(topology.bottleneck(0, 1), 10e9) << "the nodes' own links";
  EXPECT_EQ(topology.bottleneck(0, 3), 1e9);
  EXPECT_EQ(topology.bottleneck(2, 3), 100e6) << "Bergen's way out";
  EXPECT_EQ(topology.bottleneck(3, 2), 300e6) << "and in";
  EXPECT_EQ(topology.site_of(), (std::vector<int>{0, 0, 1, 2}));
}

// 32 nodes of 100 Gb/s send 1 GB each to the other site, 3.2 Tb/s together: their own links decide.
TEST(PlannedNetwork, SitesWithoutARateLimitNothing) {
  Json json = sites();
  json.merge_patch({{"paths", nullptr}, {"tokens_per_step", 1}, {"node_rate", "100Gbps"}});
  json["sites"] = Json::parse(R"([{"name": "Oslo", "nodes": 32, "latitude": 60, "longitude": 10},
                                  {"name": "Bergen", "nodes": 32, "latitude": 60, "longitude": 5}])");
  const Topology topology = topology_of(json);
  NodeTraffic traffic;
  for (int node = 0; node < 32; ++node) traffic[{node, 32 + node}] = 1e9;
  EXPECT_NEAR(busiest_s(traffic, topology, TcpSpec{}), 8e9 / (100e9 * 1448 / 1538), 1e-9);
}

// Two nodes of one site would be farther apart than sites of 0.5 ms: these would get the longer round trip.
TEST(PlannedNetwork, SaysWhatIsMissing) {
  // A change as of JSON Patch, and the path of what is then refused.
  for (const auto& [change, path] :
       {std::pair(R"([{"op": "remove", "path": "/paths/1"}])", "paths"),
        {R"([{"op": "replace", "path": "/paths/0/between/1", "value": "Olso"}])", "paths[0].between"},
        {R"([{"op": "remove", "path": "/sites/0/latitude"}])", "sites[0].latitude"},
        {R"([{"op": "replace", "path": "/sites/1/name", "value": "Oslo"}])", "sites[1].name"},
        {R"([{"op": "replace", "path": "/paths/0/rtt", "value": "0.5ms"}])", "inside"}})
    EXPECT_EQ(refused_path([&] { topology_of(sites().patch(Json::parse(change))); }), path);
  Json near = sites();
  near["paths"][0]["rtt"] = near["inside"] = "0.5ms";
  EXPECT_NEAR(topology_of(near).rtt_s(0, 3), 0.5e-3, 1e-12);
}

// What the reader of measurements is told: who is where, and the round trips that no file need say.
TEST(PlannedNetwork, SaysWhichSitesWereMeasured) {
  const PlanFolder folder;
  Json json = sites();
  json["sites"][0]["hosts"] = {"10.0.0.1", "oslo.example"};
  json["measurements"] = {"iperf.csv", "oslo-rome.json"};
  for (std::size_t i : {1, 0})  // else the great circle says it
    for (const char* key : {"latitude", "longitude"}) json["sites"][i].erase(key);
  const PlanRequest plan = plan_of_json(folder, json);
  const measured::Known known = known_of_sites(plan);
  EXPECT_EQ(known.inside, (Json{{"rtt", "1ms"}, {"throughput", "10Gbps"}}));
  EXPECT_EQ(known.sites, (measured::Sites::Hosts{
                             {"Oslo", {"10.0.0.1", "oslo.example"}}, {"Bergen & co", {}}, {"Rome", {}}}));
  EXPECT_EQ(known.rtts, (std::map<measured::SitePair, std::string>{{{"Oslo", "Rome"}, "0.04s"},
                                                                   {{"Bergen & co", "Rome"}, "0.05s"}}));
  EXPECT_EQ(join(plan.measurements, "|"), folder.file("iperf.csv") + "|" + folder.file("oslo-rome.json"));
}

// 300 Mb/s were measured of one connection, eight of them share an uplink of 1 Gb/s: the way out and in are
// links, and no round trip changes.
TEST(PlannedNetwork, AnUplinkBoundsWhatWasMeasured) {
  Json json = sites();
  json["measurements"] = "iperf.csv";
  json["candidates"]["connections"] = {8};
  const auto pair = [](const char* from, const char* to, const char* rate, const char* rtt) {
    return Json{{"between", {from, to}}, {"throughput", rate}, {"rtt", rtt}};
  };
  const Topology topology = topology_of(
      json,
      measured_between({"Oslo", "Bergen & co", "Rome"}, {pair("Oslo", "Bergen & co", "300Mbps", "25ms"),
                                                         pair("Oslo", "Rome", "100Mbps", "40ms"),
                                                         pair("Bergen & co", "Rome", "50Mbps", "60ms")}));
  EXPECT_NEAR(topology.rtt_s(0, 1), 1e-3, 1e-12);
  EXPECT_NEAR(topology.rtt_s(0, 2), 25e-3, 1e-12);
  EXPECT_NEAR(topology.rtt_s(2, 3), 60e-3, 1e-12);
  EXPECT_NEAR(topology.connection_cap(0, 2), 300e6, 1e-3);
  EXPECT_EQ(topology.bottleneck(0, 1), 10e9) << "inside a site";
  EXPECT_EQ(topology.bottleneck(0, 3), 1e9) << "Oslo's way out; Rome has no limit";
  EXPECT_EQ(topology.bottleneck(2, 3), 100e6) << "Bergen's way out";
  EXPECT_EQ(topology.bottleneck(3, 2), 300e6) << "and in";
  // Both of Oslo's nodes send 100 MB to Bergen: its way in needs 200 MB at 300 Mb/s less headers.
  EXPECT_NEAR(busiest_s({{{0, 2}, 100e6}, {{1, 2}, 100e6}}, topology, TcpSpec{}),
              1.6e9 / (300e6 * 1448 / 1538), 1e-9);
}

// 100 Mb/s of one connection: eight carry 800, or 3.1 or 1 times one, as the plan says; between sites where
// eight were measured to carry 120 together, no more than that.
TEST(PlannedNetwork, SeveralConnectionsCarryTheGainOfThePlan) {
  Json json = sites();
  json["measurements"] = "iperf.csv";
  json["candidates"]["connections"] = {8};
  for (Json& site : json["sites"])
    for (const char* key : {"rate", "up", "down"}) site.erase(key);
  const auto pair = [](const char* from, const char* to) {
    return Json{{"between", {from, to}}, {"throughput", "100Mbps"}, {"rtt", "25ms"}};
  };
  Json measured = pair("Oslo", "Rome");
  measured["measured"] = {{{"connections", 8}, {"throughput", "120Mbps"}}};
  const Json matrix = measured_between({"Oslo", "Bergen & co", "Rome"},
                                       {pair("Oslo", "Bergen & co"), measured, pair("Bergen & co", "Rome")});
  const auto together = [&](int from, int to) {
    return 8 * topology_of(json, matrix).connection_cap(from, to);
  };
  EXPECT_NEAR(together(0, 2), 800e6, 1);
  EXPECT_NEAR(together(0, 3), 120e6, 1);
  json["connections_gain"] = "connections";
  EXPECT_NEAR(together(0, 2), 800e6, 1);
  json["connections_gain"] = 3.1;
  EXPECT_NEAR(together(0, 2), 310e6, 1);
  EXPECT_NEAR(together(0, 3), 120e6, 1);
  json["connections_gain"] = 1;
  EXPECT_NEAR(together(0, 3), 100e6, 1);
  json["connections_gain"] = 0.9;
  EXPECT_EQ(refused_path([&] { plan_of_json(json); }), "connections_gain");
  json = sites();
  json["connections_gain"] = 3.1;
  EXPECT_SAYS(said_by([&] { topology_of(json); }), "links have a rate");
}

}  // namespace longhaul::plan_request_test
