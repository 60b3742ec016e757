// Sweeps, labels, names and typed values; methods and topologies are declared by hand, so that core is tested
// alone. What contradicts itself: tests/data/bad_scenarios.json.
#include "core/scenario/scenario.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "core/base/model_presets.h"
#include "core/scenario/network_spec.h"
#include "core/scenario/scenario_options.h"
#include "tests/support/files.h"
#include "tests/support/said.h"
#include "tests/unit/core/stub_topology.h"

namespace longhaul::scenario_test {

Node declaration() {
  std::vector<Node> ring = common_method_options(), pairs = common_method_options();
  ring.push_back(choice("all_reduce", {"ring", "tree"}).by_default("ring"));
  pairs.push_back(integer("inner_steps").by_default(5));
  return scenario_options({section("ring", ring), section("pairs", pairs)}, stub_topologies());
}

Json base(const Json& patch = Json::object()) {
  Json json = Json::parse(R"({"replicas": 4, "methods": [{"name": "ring"}, {"name": "pairs"}],
    "workload": {"model": "llama-small", "steps": 10}, "network": {"topology": {"star": {"rate": "1Gbps", "rtt": "50ms"}}}})");
  json.merge_patch(patch);
  return json;
}

Scenario load_text(const std::string& text, const std::vector<std::string>& assignments = {}) {
  const TemporaryFolder folder;
  write_text(folder.file("scenario.json"), text);
  return load_scenario(folder.file("scenario.json"), assignments, declaration());
}

Scenario load(const Json& json, const std::vector<std::string>& assignments = {}) {
  return load_text(json.dump(), assignments);
}

// Of the base with a patch.
Case first_case(const Json& patch = Json::object()) {
  return load(base(patch)).cases[0];
}

std::vector<std::string> names(const Scenario& scenario) {
  std::vector<std::string> names;
  for (const Case& config : scenario.cases) names.push_back(config.name);
  return names;
}

std::string error_of(const Json& json, const std::vector<std::string>& assignments = {}) {
  return said_by([&] { load(json, assignments); });
}

// Comments as longhaul new writes them; an error behind one still names its line.
TEST(Scenario, IsAFileThatMayHaveComments) {
  EXPECT_EQ(load_text("// what this is\n" + base().dump() + "/* done */\n").cases.size(), 2u);
  EXPECT_SAYS(said_by([] { load_text("// what this is\n{ // broken\n  \"replicas\": }"); }),
              "scenario.json: line 3, column 15: is not JSON");
  EXPECT_EQ(refused_with([] { load_text(""); }), ": is empty");
  std::string text = base().dump();
  EXPECT_EQ(refused_path([&] { load_text(text.insert(1, "\"replicas\": 8, ")); }), "replicas");
  const TemporaryFolder folder;
  const auto error_at = [](const std::string& file) {
    return said_by([&] { load_scenario(file, {}, declaration()); });
  };
  EXPECT_SAYS(error_at(folder.path), ": is a folder; allowed: a scenario file (JSON)");
  EXPECT_SAYS(error_at(folder.file("none.json")), ": does not exist");
  write_text(folder.file("scenario.json"), "{}");
  EXPECT_SAYS(error_at(folder.path), "that of this run is " + folder.file("scenario.json"));
}

TEST(Scenario, ADrawnTimeIsInSeconds) {
  const Json network = Json::parse(R"({"fidelity": "analytic", "topology": {"star": {"rtt": "0s"}},
      "message_time": {"mean": "2s", "std": "500ms"}})");
  const MessageTimeSpec time = first_case({{"network", network}}).network.message_time.value();
  EXPECT_DOUBLE_EQ(time.mean, 2);
  EXPECT_DOUBLE_EQ(time.std, 0.5);
}

// What a topology means is not core's: the section travels with its defaults.
TEST(Scenario, ATopologyIsANameAndASection) {
  const Json cloud = {{"topology", {{"star", nullptr}, {"cloud", Json::object()}}}};
  const TopologySpec topology = first_case({{"network", cloud}}).network.topology;
  EXPECT_EQ(topology.name, "cloud");
  EXPECT_EQ(topology.options, (Json{{"name", "mine"}}));
}

// As the topologies check their cases (net/topologies/registry.h).
TEST(Scenario, ACheckSeesEveryCaseAndItsErrorsNameThePoint) {
  const TemporaryFolder folder;
  const std::string file = folder.file("scenario.json");
  write_text(file, base({{"sweep", {{"replicas", {4, 8}}}}}).dump());
  int seen = 0;
  load_scenario(file, {}, declaration(), [&](const Case& config) { seen += config.replicas; });
  EXPECT_EQ(seen, 2 * 4 + 2 * 8);
  const InputError error = thrown_by([&] {
    load_scenario(file, {}, declaration(), [](const Case& config) {
      if (config.replicas == 8) throw InputError({"", "network.topology.star", "found 8", "4", ""});
    });
  });
  EXPECT_EQ(error.parts().file, file);
  EXPECT_EQ(error.parts().path, "network.topology.star");
  EXPECT_SAYS(error.parts().hint, "replicas = 8");
}

TEST(Scenario, OneCaseAMethodAndPointOfAProduct) {
  EXPECT_EQ(names(load(base())), (std::vector<std::string>{"ring", "pairs"}));
  const Case config = first_case();
  EXPECT_EQ(config.workload.parameters, model_presets()[0].shape.parameters());
  EXPECT_EQ(config.steps(), 10);
  EXPECT_EQ(config.network.tcp.connections, 1);
  EXPECT_FALSE(config.network.tcp.window.has_value());
  const Json sweep = {{"replicas", {4, 8}}, {"network.tcp.connections", {1, 8}}};
  const std::vector<Case> cases = load(base({{"sweep", sweep}, {"seeds", {1, 2}}})).cases;
  EXPECT_EQ(cases.size(), 2u * 2 * 2 * 2);
  EXPECT_EQ(cases[0].name, "ring,replicas=4,network.tcp.connections=1,seed=1");
  EXPECT_EQ(cases.back().name, "pairs,replicas=8,network.tcp.connections=8,seed=2");
  EXPECT_EQ(cases.back().network.tcp.connections, 8);
}

TEST(Scenario, AMethodsKeyMultipliesThatMethodAlone) {
  EXPECT_EQ(names(load(base({{"sweep", {{"methods.ring.all_reduce", {"ring", "tree"}}}}}))),
            (std::vector<std::string>{"ring,all_reduce=ring", "pairs", "ring,all_reduce=tree"}));
}

TEST(Scenario, ALabelMayHoldAnyCharacters) {
  const auto with_labels = [](const std::string& ring, const std::string& pairs, const Json& sweep) {
    Json json = base({{"sweep", sweep}});
    json["methods"][0]["label"] = ring;
    json["methods"][1]["label"] = pairs;
    return json;
  };
  for (const std::string label : {"v1.5", "v1=5", "v[0]", "a@b", "v 1", "v.", "methods.ring", "ö"}) {
    const Json json = with_labels("v1", label, {{"methods." + label + ".inner_steps", {2, 3}}});
    const std::vector<Case> cases = load(json, {"methods." + label + ".inner_steps=9"}).cases;
    ASSERT_EQ(cases.size(), 3u) << label;
    EXPECT_EQ(cases[1].method.label, label);
    EXPECT_EQ(cases[1].method.options["inner_steps"], 2) << label;
    EXPECT_EQ(cases[2].method.options["inner_steps"], 3) << label;
    EXPECT_TRUE(cases[0].swept.empty()) << "of v1 it says nothing";
  }
  // Where two labels fit, the longer one is meant.
  const Json json = with_labels(
      "v1", "v1.5", {{"methods.v1.all_reduce", {"ring", "tree"}}, {"methods.v1.5.inner_steps", {2}}});
  EXPECT_EQ(names(load(json)),
            (std::vector<std::string>{"v1,all_reduce=ring", "v1.5,inner_steps=2", "v1,all_reduce=tree"}));
  EXPECT_EQ(load(json, {"methods.v1.5.inner_steps=7", "sweep={}"}).cases[1].method.options["inner_steps"], 7);
  EXPECT_SAYS(error_of(with_labels("v1", "wider-1.5", {{"methods.widr-1.5.inner_steps", {2}}})),
              "did you mean \"wider-1.5\"?");
  EXPECT_SAYS(error_of(with_labels("v1", "v1.5", {{"methods.v1.5.inner_steps", {"two"}}})),
              "\"methods.v1.5.inner_steps\"");
  for (const char* key : {"methods", "methods.", "methods.v1", "methods.v1.", "methods[0].all_reduce"})
    EXPECT_SAYS(error_of(with_labels("v1", "v1.5", {{key, {2}}})),
                "methods.LABEL.key with a label of v1, v1.5")
        << key;
  // Labels that are called alike as folders.
  const std::vector<std::string> alike = names(load(with_labels("a@b", "a b", Json::object())));
  EXPECT_EQ(alike[0], "a_b");
  EXPECT_EQ(alike[1].substr(0, 4), "a_b-");
}

TEST(Scenario, ASeedStandsOnce) {
  EXPECT_SAYS(error_of(base({{"seeds", {1, 2, 1}}})),
              "seeds[2]: found 1 again, as in seeds[0]; allowed: each seed once");
}

TEST(Scenario, OverridesNameLinksOrReplicas) {
  const Json patch = Json::parse(R"({"network": {"overrides": [{"link": "*-core", "rate": "1Mbps"},
      {"replica": 2, "up": "2Mbps"}, {"replica": "1-3", "delay": "1s"}]}})");
  const std::vector<LinkOverride> overrides = first_case(patch).network.overrides;
  ASSERT_EQ(overrides.size(), 3u);
  EXPECT_EQ(overrides[0].link, "*-core");
  EXPECT_DOUBLE_EQ(*overrides[0].down, 1e6);
  EXPECT_EQ(overrides[1].replicas, (std::pair{2, 2}));
  EXPECT_DOUBLE_EQ(*overrides[1].up, 2e6);
  EXPECT_FALSE(overrides[1].down.has_value());
  EXPECT_EQ(overrides[2].replicas, (std::pair{1, 3}));
  EXPECT_DOUBLE_EQ(*overrides[2].delay, 1);
}

TEST(Scenario, StepTimeFactorsAreOfReplicasAndRanges) {
  EXPECT_TRUE(first_case().workload.step_time_factors.empty());
  const Json workload = {{"step_time_factors", {{"0-2", 3}, {"1", 0.5}}}};
  EXPECT_EQ(first_case({{"workload", workload}}).workload.step_time_factors,
            (std::vector<double>{3, 0.5, 3, 1}));
}

TEST(Scenario, SetOverrides) {
  const Scenario scenario =
      load(base(), {"network.topology.star.rtt=100ms", "methods.pairs.inner_steps=2", "replicas=16"});
  EXPECT_EQ(scenario.cases[0].network.topology.options["rtt"], "100ms");
  EXPECT_EQ(scenario.cases[1].method.options["inner_steps"], 2);
  EXPECT_EQ(scenario.cases[1].replicas, 16);
  EXPECT_EQ(names(load(base(), {R"(methods=[{"name": "pairs", "label": "mine"}])"})),
            std::vector<std::string>{"mine"});
  EXPECT_SAYS(error_of(base(), {"methods.paris.inner_steps=2"}), "did you mean \"pairs\"?");
  EXPECT_SAYS(error_of(base(), {"replicas"}), "key.path=value");
  // Errors write elements of lists as methods[0] and seeds[1]: what they print can be set.
  const Scenario seeds = load(base({{"seeds", {1, 2}}}), {"methods[1].inner_steps=2", "seeds[1]=7"});
  EXPECT_EQ(seeds.cases[2].method.options["inner_steps"], 2);
  EXPECT_EQ(seeds.cases[3].seed, 7u);
  for (const char* index : {"2", "-1", "x", ""})
    EXPECT_SAYS(error_of(base(), {"methods[" + std::string(index) + "].inner_steps=2"}),
                "names no element; allowed: methods[0] to methods[1]");
  EXPECT_SAYS(error_of(base(), {"claims[0].at_least=2"}), "the scenario has no list \"claims\"");
  EXPECT_SAYS(error_of(base({{"sweep", {{"methods[1].inner_steps", {1, 2}}}}})),
              "methods.LABEL.key with a label of");
}

// The union of products, but each case once, or its seeds would count twice in an interval.
TEST(Scenario, APointOfTwoObjectsIsOneCaseWhateverTheOrderOfItsKeys) {
  const Json sweep = Json::parse(R"([{"replicas": [2, 4], "network.tcp.connections": [1]},
                                     {"network.tcp.connections": [1, 8], "replicas": [4]}])");
  EXPECT_EQ(load(base({{"sweep", sweep}})).cases.size(), 3u * 2)
      << "2 and 4 with one connection, 4 with eight";
}

// --set seeds=… on a file with "seed", and the other way round: what is set last holds.
TEST(Scenario, AnAssignmentTakesThePlaceOfItsOtherForm) {
  const Json one = base({{"seed", 3}}), two = base({{"seeds", {1, 2}}});
  EXPECT_EQ(load(one, {"seeds=[1,2]"}).cases.size(), 2 * load(one).cases.size());
  EXPECT_EQ(load(two, {"seed=3"}).cases.size() * 2, load(two).cases.size());
}

// Defaults that follow from other values: a tenth of the steps, a tenth of the rate. The cases have what was
// written, so that trainings keep their names.
TEST(Scenario, TheResolvedScenarioHasEveryDefault) {
  Json json = base({{"train", {{"steps", 50}, {"optimizer", {{"lr", 0.25}}}}}, {"seeds", {1, 2}}});
  const Scenario scenario = load(json);
  const Json train = scenario.resolved["train"];
  EXPECT_EQ(train["evaluate_every"], 5);
  EXPECT_EQ(train["checkpoint_every"], 5);
  EXPECT_EQ(train["optimizer"]["warmup"], 5);
  EXPECT_EQ(train["optimizer"]["min_lr"], 0.025);
  EXPECT_FALSE(scenario.resolved.contains("seed"));
  EXPECT_FALSE(scenario.cases[0].resolved["train"].contains("evaluate_every"));
  EXPECT_FALSE(scenario.cases[0].resolved["train"]["optimizer"].contains("warmup"));
  json["sweep"] = {{"train.steps", {50, 70}}};
  EXPECT_FALSE(load(json).resolved["train"].contains("evaluate_every")) << "each case has its own";
}

// 4 replicas of 512 tokens: 2048 a step, and the last step is whole.
TEST(Scenario, StepsFollowFromTheTokens) {
  const auto with = [](std::int64_t total, const Json& tokens = 512) {  // null: none
    return base({{"workload", {{"steps", nullptr}, {"tokens", tokens}, {"total_tokens", total}}}});
  };
  EXPECT_SAYS(error_of(with(20480, nullptr)), "workload.total_tokens: found, but nothing says");
  EXPECT_EQ(load(with(20480)).cases[0].steps(), 10);
  const Case longer = load(with(20481)).cases[0];
  EXPECT_EQ(longer.steps(), 11);
  EXPECT_EQ(parse_case(longer.resolved).steps(), 11) << "a child reads the resolved case";
  EXPECT_SAYS(error_of(with(1000000000000000000)), "at most 1000000000 steps");
  Json both = with(20481), trained = both;
  both["workload"]["steps"] = 10;
  EXPECT_SAYS(error_of(both), "workload.total_tokens: found beside workload.steps (10)");
  trained["train"] = {{"steps", 10}};
  EXPECT_SAYS(error_of(trained), "workload.total_tokens: found beside a train section");
}

// One scenario compares a method with itself under two optimizers: by label, each with its own keys.
TEST(Scenario, AMethodMayHaveAnOptimizerOfItsOwn) {
  Json json = base();
  json["train"] = {{"steps", 10}, {"optimizer", {{"lr", 0.5}, {"weight_decay", 0}}}};
  json["methods"] = Json::parse(R"([{"name": "ring"}, {"name": "ring", "optimizer": {"name": "muon"}}])");
  EXPECT_SAYS(error_of(json), "methods[1]: the label \"ring\" is used twice");
  json["methods"][1]["label"] = "ring-muon";
  json["sweep"] = {{"methods.ring-muon.optimizer.lr", {0.1, 0.2}}};
  const Scenario scenario = load(json);
  EXPECT_EQ(names(scenario),
            (std::vector<std::string>{"ring", "ring-muon,optimizer.lr=0.1", "ring-muon,optimizer.lr=0.2"}));
  EXPECT_EQ(scenario.cases[0].resolved["train"]["optimizer"],
            Json::parse(R"({"lr": 0.5, "betas": [0.9, 0.95], "weight_decay": 0, "clip": 1.0})"));
  EXPECT_EQ(scenario.cases[2].resolved["train"]["optimizer"], Json::parse(R"({"name": "muon", "lr": 0.2,
      "betas": [0.9, 0.95], "weight_decay": 0, "clip": 1.0, "momentum": 0.95, "newton_schulz_steps": 5,
      "update_scale": "adamw"})"));
  EXPECT_FALSE(scenario.cases[2].resolved["method"].contains("optimizer"));
  EXPECT_EQ(scenario.cases[2].train->optimizer.name, InnerOptimizer::kMuon);
  EXPECT_EQ(scenario.cases[2].train->optimizer.lr, 0.2);
  json["methods"][1]["optimizer"] = {{"nome", "muon"}};
  json.erase("sweep");
  EXPECT_SAYS(error_of(json), "methods[1].optimizer.nome");
  json["methods"][1]["optimizer"] = {{"momentum", 0.9}};
  EXPECT_SAYS(error_of(json), "methods[1].optimizer.momentum");
}

TEST(Scenario, TheSizeOfAFifoIsANumberOfProductsOrBytes) {
  const auto tcp_of = [](const Json& size) {
    const Json tcp = {{"queue", "fifo"}, {"queue_size", size}};  // null: none
    return first_case({{"network", {{"fidelity", "packet"}, {"tcp", tcp}}}}).network.tcp;
  };
  EXPECT_EQ(tcp_of(nullptr).queue_products, 1);
  EXPECT_EQ(tcp_of(0.25).queue_products, 0.25);
  EXPECT_FALSE(tcp_of(0.25).queue_bytes.has_value());
  EXPECT_EQ(tcp_of("2MB").queue_bytes, 2e6);
  EXPECT_THROW(tcp_of(0), InputError);
  EXPECT_THROW(tcp_of("1kB"), InputError) << "less than two packets";
}

TEST(Scenario, FidelityLinuxRefusesWhatItHasNot) {
  const auto refusal = [](const Json& network) {
    Json patched = network;
    patched["fidelity"] = "linux";
    return said_by([&] { first_case({{"network", patched}}); });
  };
  EXPECT_EQ(refusal({{"tcp", {{"congestion_control", "bbr"}, {"qdisc", "fq"}}}}), "");
  EXPECT_SAYS(refusal({{"tcp", {{"loss", 1e-3}, {"loss_response", "ns3-3.37"}}}}),
              "network.tcp.loss_response: found \"ns3-3.37\" with fidelity \"linux\"");
  EXPECT_SAYS(refusal({{"message_time", {{"mean", "1s"}}}}),
              "network.message_time: found with fidelity \"linux\"");
  EXPECT_EQ(refusal({{"variation", {{"jitter", {{"rate_sigma", 0.1}}}}}}), "");
}

// Flow shares evenly, whoever sends.
TEST(Scenario, TrafficOfOthersHasACongestionControlWhereSegmentsAreSent) {
  const auto said = [](const std::string& fidelity, const Json& traffic) {
    return said_by([&] {
      first_case({{"network", {{"fidelity", fidelity}, {"variation", {{"background", {traffic}}}}}}});
    });
  };
  const Json bbr = {{"link", "*"}, {"flows", 1}, {"congestion_control", "bbr"}};
  EXPECT_EQ(said("linux", bbr), "");
  EXPECT_SAYS(said("flow", bbr),
              "network.variation.background[0].congestion_control: found \"bbr\" beside \"cubic\"");
  EXPECT_EQ(said("flow", {{"link", "*"}, {"flows", 1}, {"congestion_control", "cubic"}}), "");
  EXPECT_SAYS(said("linux", {{"link", "*"}, {"share", 0.5}, {"congestion_control", "bbr"}}),
              "found without flows");
}

// The last entry that names a replica wins; `every` counts from the first of its range.
TEST(Scenario, HostsHaveACongestionControlOfTheirOwn) {
  const auto tcp_of = [](const Json& hosts, const std::string& of_all = "cubic") {
    return first_case(
               {{"network",
                 {{"fidelity", "linux"}, {"tcp", {{"congestion_control", of_all}, {"hosts", hosts}}}}}})
        .network.tcp;
  };
  const Json all = {{"replicas", "all"}, {"congestion_control", "bbr"}},
             odd = {{"replicas", "1-3"}, {"every", 2}, {"congestion_control", "reno"}},
             first = {{"replicas", 0}, {"congestion_control", "cubic"}};
  const std::vector<std::string> mixed = {"cubic", "reno", "bbr", "reno"};
  EXPECT_EQ(tcp_of({all, odd, first}).host_controls, mixed);
  EXPECT_EQ(tcp_of({all, odd, first}).congestion_control_of(2), "bbr");
  EXPECT_TRUE(tcp_of({all, odd, first}).has_control("bbr"));
  EXPECT_FALSE(tcp_of({all, odd, first}).has_only("bbr"));
  EXPECT_TRUE(tcp_of({odd, first, all}).has_only("bbr"));
  EXPECT_EQ(tcp_of(Json::array({all}), "bbr").host_controls, std::vector<std::string>())
      << "all as network.tcp's";
  EXPECT_EQ(tcp_of(Json::array()).congestion_control_of(3), "cubic");
}

// Replicas are counted in the range of the scenario's; only segments of linux have several controls.
TEST(Scenario, HostsAreRefusedWhereTheyCannotBe) {
  const auto said = [](const std::string& fidelity, const Json& host) {
    return said_by([&] {
      first_case({{"network", {{"fidelity", fidelity}, {"tcp", {{"hosts", {host}}}}}}});
    });
  };
  EXPECT_SAYS(said("linux", {{"replicas", "2-4"}, {"congestion_control", "bbr"}}),
              "network.tcp.hosts[0].replicas: found \"2-4\"");
  EXPECT_SAYS(said("linux", {{"replicas", 4}, {"congestion_control", "bbr"}}), "a replica, 0 … 3");
  EXPECT_SAYS(said("linux", {{"replicas", 1}}), "network.tcp.hosts[0].congestion_control");
  for (const char* fidelity : {"flow", "packet", "analytic"}) {
    EXPECT_SAYS(said(fidelity, {{"replicas", 1}, {"congestion_control", "bbr"}}),
                "network.tcp.hosts[0].congestion_control: found \"bbr\" beside \"cubic\"");
    EXPECT_SAYS(said(fidelity, {{"replicas", 1}, {"congestion_control", "bbr"}}), "fidelity \"linux\"");
    EXPECT_EQ(said(fidelity, {{"replicas", 1}, {"congestion_control", "cubic"}}), "");
  }
}

// Pacing by the host's queue needs segments.
TEST(Scenario, OnlyFidelityLinuxHasAHostsQueue) {
  for (const char* fidelity : {"flow", "packet", "analytic"}) {
    const Json network = {{"fidelity", fidelity}, {"tcp", {{"qdisc", "fq"}}}};
    EXPECT_SAYS(said_by([&] { first_case({{"network", network}}); }), "network.tcp.qdisc: found \"fq\"");
  }
}

TEST(Scenario, LognormalByMeanAndByMu) {
  const auto mu_of = [](const char* key, const Json& value) {
    const Json time = {{"lognormal", {{key, value}, {"sigma", 0.5}}}};
    return first_case({{"workload", {{"step_time", time}}}}).workload.step_time.mu;
  };
  EXPECT_NEAR(mu_of("mean", "3s"), std::log(3) - 0.125, 1e-12);
  EXPECT_EQ(mu_of("mu", 1), 1);
}

// Tokens of a step: said, or those of the FLOPs, or batch times context of what is trained. The time follows:
// 6 · 310 M parameters · tokens at 40 % of 1e14 FLOP/s.
TEST(Scenario, TokensOfAStep) {
  const auto patch = [](const Json& tokens, const Json& of_flops) {  // null: none
    const Json flops = {{"flops", {{"peak", 1e14}, {"utilisation", 0.4}, {"tokens", of_flops}}}};
    return Json{{"workload", {{"tokens", tokens}, {"step_time", flops}}}};
  };
  const double token_s = 6 * static_cast<double>(model_presets()[0].shape.parameters()) / 4e13;
  EXPECT_EQ(first_case().workload.tokens, 0);
  EXPECT_EQ(first_case({{"workload", {{"tokens", 4096}}}}).workload.tokens, 4096);
  EXPECT_NEAR(first_case(patch(4096, nullptr)).workload.step_time.seconds, 4096 * token_s, 1e-9);
  EXPECT_SAYS(error_of(base(patch(4096, 8192))), "workload.tokens");
  EXPECT_EQ(first_case(patch(nullptr, 8192)).workload.tokens, 8192);
  EXPECT_NEAR(first_case(patch(nullptr, 8192)).workload.step_time.seconds, 8192 * token_s, 1e-9);
  EXPECT_SAYS(error_of(base(patch(nullptr, nullptr))), "workload.step_time.flops.tokens");
  const Json train = Json::parse(R"({"steps": 10, "batch": 3, "model": {"context": 32}})");
  EXPECT_EQ(first_case({{"train", train}}).workload.tokens, 96);
}

// A mixture of experts of 30.5 G parameters, 3.3 G active: 6 · 3.3 G · 65536 tokens at 40 % of 7.9152 PFLOP/s
// (eight H100) are 0.41 s. All parameters travel.
TEST(Scenario, ActiveParametersComputeAndAllTravel) {
  Json workload = Json::parse(R"({"parameters": 30532122624, "model": null, "tokens": 65536, "steps": 10,
    "active_parameters": 3300000000, "step_time": {"flops": {"peak": 7.9152e15, "utilisation": 0.4}}})");
  const Case config = first_case({{"workload", workload}});
  EXPECT_NEAR(config.workload.step_time.seconds, 6 * 3.3e9 * 65536 / (0.4 * 7.9152e15), 1e-12);
  EXPECT_EQ(config.workload.parameters, 30532122624);
  EXPECT_EQ(config.workload.active_parameters, 3300000000);
  workload["active_parameters"] = 30532122625;
  EXPECT_SAYS(error_of(base({{"workload", workload}})), "workload.active_parameters");
}

// What tells long names apart, the seed at the end, lies behind the 200th character.
TEST(Scenario, NamesOfCasesAreReadableAndDiffer) {
  const Json sweep = {{"workload.step_time_factors", {Json::object(), {{"0-1", 2.5}}}}};
  const std::vector<Case> cases = load(base({{"sweep", sweep}})).cases;
  EXPECT_SAYS(cases.front().name, ",workload.step_time_factors=none");
  EXPECT_SAYS(cases.back().name, ",workload.step_time_factors=0-1_2.5");
  Json json = base({{"seeds", {1, 2}}});
  json["methods"][0]["label"] = std::string(240, 'a');
  const std::vector<std::string> found = names(load(json));
  for (const std::string& name : found) EXPECT_LE(name.size(), 200u);
  EXPECT_EQ(std::set<std::string>(found.begin(), found.end()).size(), 4u);
}

TEST(RankOrderOption, IsAWordOrAListOfPlaces) {
  EXPECT_EQ(parse_rank_order("round-robin", 4).kind, RankOrderSpec::Kind::kRoundRobin);
  EXPECT_EQ(to_string(parse_rank_order("optimized", 4).kind), "optimized");
  const RankOrderSpec list = parse_rank_order({3, 1, 0, 2}, 4);
  EXPECT_EQ(to_string(list.kind), "list");
  EXPECT_EQ(list.places, (std::vector<int>{3, 1, 0, 2}));
}

VariationSpec parse(const char* text, const char* fidelity = "flow") {
  const Json variation = resolve(variation_options(), Json::parse(text), "network.variation");
  return parse_variation({{"fidelity", fidelity}, {"variation", variation}}, "/some/folder");
}

TEST(Variation, HasValuesInSIUnitsOrIsEmpty) {
  const VariationSpec spec = parse(R"({
    "traces": [{"link": "a-b", "file": "t.csv"},
               {"link": "a-c", "file": "/abs.csv", "repeat": true, "direction": "forward"},
               {"link": "a-d", "file": "t.csv", "repeat": "2min", "direction": "backward"}],
    "background": [{"link": "*", "flows": 2, "on": "5s", "off": "500ms"}, {"from": "a", "to": "b", "rate": "1Mbps"},
                   {"link": "x", "share": 0.5}],
    "jitter": {"rate_sigma": 0.2, "every": "100ms"}})");
  EXPECT_EQ(spec.traces[0].file, "/some/folder/t.csv");
  EXPECT_FALSE(spec.traces[0].repeats);
  EXPECT_TRUE(spec.traces[0].directions.forward && spec.traces[0].directions.backward);
  EXPECT_EQ(spec.traces[1].file, "/abs.csv");
  EXPECT_TRUE(spec.traces[1].repeats && !spec.traces[1].period_s);
  EXPECT_FALSE(spec.traces[1].directions.backward);
  EXPECT_EQ(spec.traces[2].period_s, 120);
  EXPECT_FALSE(spec.traces[2].directions.forward);
  EXPECT_EQ(spec.background[0].flows, 2);
  EXPECT_EQ(spec.background[0].on_s, 5);
  EXPECT_EQ(spec.background[0].off_s, 0.5);
  EXPECT_EQ(spec.background[1].from, "a");
  EXPECT_EQ(spec.background[1].rate, 1e6);
  EXPECT_EQ(spec.background[2].share, 0.5);
  EXPECT_EQ(spec.jitter.rate_sigma, 0.2);
  EXPECT_EQ(spec.jitter.delay_sigma, 0);
  EXPECT_EQ(spec.jitter.every_s, 0.1);
  EXPECT_TRUE(parse_variation({{"fidelity", "flow"}}, ".").is_empty());
  EXPECT_TRUE(parse("{}").is_empty());
  EXPECT_TRUE(parse(R"({"jitter": {}})", "packet").is_empty());
  EXPECT_FALSE(parse(R"({"jitter": {"rate_sigma": 0.1}})", "packet").is_empty());
}

}  // namespace longhaul::scenario_test
