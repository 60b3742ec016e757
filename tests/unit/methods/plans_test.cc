// The exchange plans of the methods against facts/methods of their papers, by hand.
#include <gtest/gtest.h>

#include <set>

#include "core/errors.h"
#include "core/scenario_options.h"
#include "methods/common/registry.h"
#include "methods/noloco.h"
#include "tests/unit/core/stub_topology.h"

namespace longhaul {
namespace {

Case make_case(const Json& method, int replicas = 8, int steps = 100) {
  const Json scenario = {{"replicas", replicas},
                         {"methods", {method}},
                         {"workload", {{"parameters", 1000}, {"steps", steps}}},
                         {"network", {{"topology", {{"star", {{"rate", "1Gbps"}, {"rtt", "50ms"}}}}}}}};
  Json resolved = resolve(scenario_options(method_options(), stub_topologies()), scenario, "");
  Json chosen = resolved["methods"][0];
  chosen["label"] = chosen.value("label", chosen["name"].get<std::string>());
  resolved.erase("methods");
  resolved["method"] = chosen;
  resolved["case"] = "test";
  resolved["scenario"] = "test";
  resolved["folder"] = ".";
  resolved["swept"] = Json::object();
  return parse_case(resolved);
}

std::int64_t contributed_bytes(const Case& one) {
  const Trace trace = trace_of(one);
  std::int64_t bytes = 0;
  for (int step = 1; step <= one.steps(); ++step)
    for (const Operation& exchange : trace.operations_at(step)) bytes += exchange.bytes;
  return bytes;
}

// P = 1000 parameters, 2 bytes each, 100 steps.
TEST(Plans, BytesContributedByAReplica) {
  EXPECT_EQ(contributed_bytes(make_case({{"name", "ddp"}})), 100 * 2000);
  EXPECT_EQ(contributed_bytes(make_case({{"name", "diloco"}, {"inner_steps", 30}})), 3 * 2000);
  EXPECT_EQ(contributed_bytes(make_case({{"name", "noloco"}, {"inner_steps", 30}})), 3 * 2 * 2000);
  // Δ three times; φ ahead of the second and the third: all replicas start from the same φ.
  EXPECT_EQ(contributed_bytes(make_case({{"name", "noloco"}, {"inner_steps", 30}, {"pattern", "presend"}})),
            3 * 2000 + 2 * 2000);
  EXPECT_EQ(contributed_bytes(make_case({{"name", "independent"}})), 0);
}

TEST(Plans, AllReducesOverlapWithTheBackwardPassOnlyIfAsked) {
  for (const char* name : {"ddp", "diloco"}) {
    const OperationPlan plain = plan_of(make_case({{"name", name}, {"buckets", 12}}));
    EXPECT_EQ(plain.rules[0].buckets, 1);
    EXPECT_EQ(plain.rules[0].overlap_backward, 0);
    const OperationPlan overlapped = plan_of(make_case({{"name", name}, {"overlap_backward", 0.5}}));
    EXPECT_EQ(overlapped.rules[0].buckets, 24);
    EXPECT_EQ(overlapped.rules[0].overlap_backward, 0.5);
    EXPECT_EQ(overlapped.rules[0].overlap_steps, 0) << "the next step waits for it";
    const Json one_bucket = {{"name", name}, {"overlap_backward", 0.5}, {"buckets", 1}};
    EXPECT_EQ(method_named(name).warnings(make_case(one_bucket)).size(), 1u);
    EXPECT_TRUE(method_named(name).warnings(make_case({{"name", name}})).empty());
  }
}

TEST(Plans, PairsBySitesNeedTheSitesAndEnterTheTrainingKeyOnlyThen) {
  const Json by_sites = {{"name", "noloco"}, {"inner_steps", 10}, {"pairing", "sites"}, {"across_every", 3}};
  Case one = make_case(by_sites);
  EXPECT_TRUE(needs_sites(plan_of(one)));
  EXPECT_THROW(plan_context(one), InputError) << "nobody has said who is where";
  one.site_of = {0, 0, 0, 0, 1, 1, 1, 1};
  const Trace trace = trace_of(one);
  EXPECT_EQ(trace.plan.rules[0].across_every, 3);
  for (int step = 10; step <= 100; step += 10) {
    const std::vector<Operation> exchanges = trace.operations_at(step);
    for (const auto& group : exchanges[0].groups)
      EXPECT_EQ(group[0] / 4 != group[1] / 4, step % 30 == 0) << "step " << step;
  }
  EXPECT_FALSE(needs_sites(plan_of(make_case({{"name", "noloco"}, {"inner_steps", 10}}))));
}

Json trained(const Json& method) {
  Json resolved = make_case(method).resolved;
  resolved["train"] = resolve(*scenario_options({}, {}).child("train"), {{"steps", 100}}, "train");
  return resolved;
}

TEST(Plans, TheTrainingKeyHoldsTheSitesWhereNumericsDependOnThem) {
  const Json by_sites = {{"name", "noloco"}, {"inner_steps", 10}, {"pairing", "sites"}};
  Case one = parse_case(trained(by_sites));
  one.site_of = {0, 0, 0, 0, 1, 1, 1, 1};
  const std::string key = training_key(one);
  one.site_of = {0, 1, 0, 1, 0, 1, 0, 1};
  EXPECT_NE(training_key(one), key);
  one.site_of = {0, 0, 0, 0, 1, 1, 1, 1};
  EXPECT_EQ(training_key(one), key);

  // As written before there was a choice, and with the choice at its default.
  Json resolved = trained({{"name", "noloco"}, {"inner_steps", 10}});
  const std::string now = training_key(parse_case(resolved));
  for (const char* option : {"pairing", "across_every"}) resolved["method"].erase(option);
  EXPECT_EQ(training_key(parse_case(resolved)), now);
  // The order of ranks alone is no numerics.
  resolved["network"]["topology"] = {
      {"regions", {{"matrix", "aws-2022"}, {"replicas", "even"}, {"rate", "1Gbps"}}}};
  for (const char* order : {"blocks", "random"}) {
    resolved["network"]["rank_order"] = order;
    EXPECT_EQ(training_key(parse_case(resolved)), now);
  }
}

TEST(TrainingKey, DependsOnWhatTheNumericsDependOn) {
  const auto key_with = [](const Json& method, const char* path, const Json& value) {
    Json resolved = trained(method);
    if (*path) resolved[Json::json_pointer(path)] = value;
    return training_key(parse_case(resolved));
  };
  const Json diloco = {{"name", "diloco"}, {"inner_steps", 10}};
  const std::string key = key_with(diloco, "", {});
  for (const auto& [path, value] :
       std::vector<std::pair<const char*, Json>>{{"/network/tcp/connections", 8},
                                                 {"/method/all_reduce", "tree"},
                                                 {"/method/overlap_backward", 0.5},
                                                 {"/method/label", "another"},
                                                 {"/workload/step_time", {{"constant", "2s"}}},
                                                 {"/train/checkpoint_every", 3},
                                                 {"/train/target_loss", 2.5}})
    EXPECT_EQ(key_with(diloco, path, value), key) << path;
  for (const auto& [path, value] : std::vector<std::pair<const char*, Json>>{{"/seed", 2},
                                                                             {"/workload/wire", "fp32"},
                                                                             {"/train/batch", 5},
                                                                             {"/replicas", 16},
                                                                             {"/method/outer_lr", 0.5}})
    EXPECT_NE(key_with(diloco, path, value), key) << path;
}

// As they were before there was a choice of optimizers.
TEST(TrainingKey, OfAnOptimizerThatIsNotNamedIsTheOneThereWas) {
  EXPECT_EQ(training_key(parse_case(trained({{"name", "ddp"}}))), "ddp-a110c5ae819943db");
  EXPECT_EQ(training_key(parse_case(trained({{"name", "diloco"}}))), "diloco-d3ecf5d101d29016");
  EXPECT_EQ(training_key(parse_case(trained({{"name", "noloco"}}))), "noloco-366093e741a3d98b");
  Json adamw = trained({{"name", "diloco"}});
  adamw["train"]["optimizer"]["name"] = "adamw";
  EXPECT_EQ(training_key(parse_case(adamw)), "diloco-d3ecf5d101d29016") << "which is what absence means";
}

std::string key_of(const Json& method, const Json& optimizer = Json::object()) {
  Json resolved = trained(method);
  if (method.contains("optimizer")) resolved["method"]["optimizer"] = method["optimizer"];
  resolved["train"]["optimizer"].update(optimizer);
  return training_key(parse_case(resolved));
}

TEST(TrainingKey, FollowsTheEffectiveOptimizerWhereverItIsSaid) {
  const Json diloco = {{"name", "diloco"}};
  Json own = diloco;
  own["optimizer"] = {{"name", "muon"}, {"lr", 0.01}};
  EXPECT_NE(key_of(own), key_of(diloco));
  EXPECT_EQ(key_of(own), key_of(diloco, {{"name", "muon"}, {"lr", 0.01}}));
  EXPECT_EQ(key_of(own), key_of(diloco, {{"lr", 0.01}, {"name", "muon"}, {"momentum", 0.95}}));
  own["optimizer"]["momentum"] = 0.9;
  EXPECT_NE(key_of(own), key_of(diloco, {{"name", "muon"}, {"lr", 0.01}}));
  own["optimizer"] = {{"name", "adamw"}};
  EXPECT_EQ(key_of(own), key_of(diloco));
  EXPECT_EQ(key_of(own, {{"name", "muon"}, {"momentum", 0.9}}), key_of(diloco)) << "momentum is Muon's";
}

TEST(Optimizer, OfAMethodTakesThePlaceOfSomeKeys) {
  const auto optimizer_of = [](const Json& method, const Json& optimizer = Json::object()) {
    Json resolved = trained({{"name", method["name"]}});
    resolved["method"]["optimizer"] = method.value("optimizer", Json());
    if (resolved["method"]["optimizer"].is_null()) resolved["method"].erase("optimizer");
    resolved["train"]["optimizer"].update(optimizer);
    return parse_case(resolved).train->optimizer;
  };
  const OptimizerSpec own = optimizer_of(
      {{"name", "diloco"}, {"optimizer", {{"name", "muon"}, {"newton_schulz_steps", 3}, {"min_lr", 1e-4}}}},
      {{"lr", 0.5}, {"weight_decay", 0.25}});
  EXPECT_EQ(own.name, InnerOptimizer::kMuon);
  EXPECT_EQ(own.newton_schulz_steps, 3);
  EXPECT_EQ(own.momentum, 0.95);
  EXPECT_EQ(own.lr, 0.5) << "from train.optimizer";
  EXPECT_EQ(own.weight_decay, 0.25);
  EXPECT_EQ(own.min_lr, 1e-4);
  EXPECT_EQ(optimizer_of({{"name", "diloco"}}).name, InnerOptimizer::kAdamw);

  const auto path_of = [&](const Json& method, const Json& optimizer) {
    try {
      optimizer_of(method, optimizer);
    } catch (const InputError& error) {
      return error.parts().path;
    }
    return std::string("none");
  };
  const Json diloco = {{"name", "diloco"}};
  EXPECT_EQ(path_of(diloco, {{"momentum", 0.9}}), "train.optimizer.momentum");
  EXPECT_EQ(path_of(diloco, {{"name", "adamw"}, {"newton_schulz_steps", 5}}),
            "train.optimizer.newton_schulz_steps");
  EXPECT_EQ(path_of(diloco, {{"name", "muon"}, {"momentum", 1}}), "train.optimizer.momentum");
  EXPECT_EQ(path_of({{"name", "diloco"}, {"optimizer", {{"momentum", 0.9}}}}, Json::object()),
            "method.optimizer.momentum");
  EXPECT_EQ(path_of({{"name", "diloco"}, {"optimizer", {{"lr", 1e-6}}}}, {{"min_lr", 1e-5}}),
            "method.optimizer.min_lr");
}

// Its own default of the name stays where the section says other keys.
TEST(Optimizer, OfMulocoIsMuonUnlessItsSectionNamesAnother) {
  const Node declared = *scenario_options(method_options(), stub_topologies()).child("methods");
  const auto section = [&](const Json& method) {
    return resolve(declared, Json::array({method}), "methods")[0].value("optimizer", Json());
  };
  EXPECT_EQ(section({{"name", "muloco"}}), Json::parse(R"({"name": "muon"})"));
  EXPECT_EQ(section({{"name", "muloco"}, {"optimizer", {{"lr", 0.01}}}}),
            Json::parse(R"({"name": "muon", "lr": 0.01})"));
  EXPECT_EQ(section({{"name", "muloco"}, {"optimizer", {{"name", "adamw"}}}}),
            Json::parse(R"({"name": "adamw"})"));
  EXPECT_TRUE(section({{"name", "diloco"}}).is_null());
  const Json& options = make_case({{"name", "muloco"}}).method.options;
  EXPECT_EQ(options["inner_steps"], 30);
  EXPECT_EQ(options["outer_lr"], 0.7);
  EXPECT_EQ(options["outer_momentum"], 0.6);
  EXPECT_EQ(options["nesterov"], true);
  EXPECT_FALSE(options.contains("optimizer")) << "it is in train.optimizer";
}

// A pattern is the way of the messages: the trainer computes the same bits with all of them, and what it
// sends ahead is the φ that it would have sent later (Training.PresendIsExchangeBitForBit).
TEST(TrainingKey, AllPatternsOfNolocoAreOneTraining) {
  std::set<std::string> keys;
  for (const char* pattern : {"exchange", "presend", "root", "serial"})
    keys.insert(
        training_key(parse_case(trained({{"name", "noloco"}, {"inner_steps", 10}, {"pattern", pattern}}))));
  EXPECT_EQ(keys.size(), 1u);
}

// ZeRO-3 with 8 replicas: shards of 250 bytes to seven others twice, and 7/8 of the gradient. With 3 replicas
// a shard of 1000 parameters is padded to 334.
TEST(Plans, FsdpGathersShardsTwiceAndScattersTheGradient) {
  for (const auto& [replicas, shard] : {std::pair{8, 250}, {3, 668}}) {
    const Trace trace = trace_of(make_case({{"name", "fsdp"}}, replicas));
    const std::vector<Operation> exchanges = trace.operations_at(1);
    ASSERT_EQ(exchanges.size(), 3u);
    for (const int gather : {0, 1}) {
      EXPECT_EQ(exchanges[static_cast<std::size_t>(gather)].rule->collective, "all-gather");
      EXPECT_EQ(exchanges[static_cast<std::size_t>(gather)].bytes, shard);
    }
    EXPECT_EQ(exchanges[2].rule->collective, "reduce-scatter");
    EXPECT_EQ(exchanges[2].bytes, 2000);
  }
}

TEST(Plans, DefaultsAreThePapers) {
  const Json& diloco = make_case({{"name", "diloco"}}).method.options;
  EXPECT_EQ(diloco["inner_steps"], 100);
  EXPECT_EQ(diloco["outer_lr"], 0.7);
  EXPECT_EQ(diloco["outer_momentum"], 0.9);
  EXPECT_EQ(diloco["nesterov"], true);
  const Json& noloco = make_case({{"name", "noloco"}}).method.options;
  EXPECT_EQ(noloco["inner_steps"], 50);
  EXPECT_EQ(noloco["alpha"], 0.5);
  EXPECT_EQ(noloco["beta"], 0.7);
  EXPECT_EQ(noloco["gamma"], 0.7);
  EXPECT_EQ(noloco["group_size"], 2);
}

// 2(1 − α²) for n = 2 and N → ∞; at α = 0.5 1.615 for N = 8 and 1.8 for N = 4.
TEST(Stability, GammaBound) {
  EXPECT_NEAR(noloco_gamma_bound(0.5, 2, 1000000), 1.5, 1e-5);
  EXPECT_NEAR(noloco_gamma_bound(0.5, 2, 8), 1.615, 5e-4);
  EXPECT_NEAR(noloco_gamma_bound(0.5, 2, 4), 1.8, 1e-12);
  EXPECT_NEAR(noloco_gamma_bound(0.3, 4, 1000000), 2 * 4 * (1 - 0.09) / (4 * 0.7 + 0.6), 1e-4);
}

TEST(Methods, GammaOutsideTheBoundIsWarnedOf) {
  const Method& noloco = method_named("noloco");
  EXPECT_TRUE(noloco.warnings(make_case({{"name", "noloco"}})).empty());
  const auto warnings = noloco.warnings(make_case({{"name", "noloco"}, {"alpha", 0.9}}));
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("gamma 0.7"), std::string::npos);
  // 2 (1 − 0.81)/(1 + 0.9 − 1.8 k) with k = N/2(N − 1), to the digits that are shown
  const Case one = make_case({{"name", "noloco"}, {"alpha", 0.9}});
  const double k = one.replicas / (2. * (one.replicas - 1));
  const std::size_t at = warnings[0].find("outside (0, ");
  ASSERT_NE(at, std::string::npos) << warnings[0];
  EXPECT_NEAR(std::stod(warnings[0].substr(at + 12)), 0.38 / (1.9 - 1.8 * k), 1e-9) << warnings[0];
}

void expect_rejected(const Json& method, int replicas, int steps, const std::string& path) {
  const Case one = make_case(method, replicas, steps);
  try {
    method_named(one.method.name).check(one);
    ADD_FAILURE() << method.dump();
  } catch (const InputError& error) {
    EXPECT_EQ(error.parts().path, path) << error.what();
  }
}

TEST(Methods, CasesThatCannotBe) {
  expect_rejected({{"name", "ddp"}}, 1, 10, "replicas");
  expect_rejected({{"name", "diloco"}, {"inner_steps", 11}}, 4, 10, "method.inner_steps");
  expect_rejected({{"name", "noloco"}, {"inner_steps", 5}}, 7, 10, "replicas");
  expect_rejected({{"name", "noloco"}, {"inner_steps", 5}, {"group_size", 3}}, 8, 10, "replicas");
  EXPECT_NO_THROW(method_named("independent").check(make_case({{"name", "independent"}}, 1, 10)));
}

TEST(Methods, EachIsDeclaredWithMeaningAndDefault) {
  for (const Method& method : methods())
    for (const Node& option : method.options) {
      EXPECT_FALSE(option.meaning.empty()) << method.name << "." << option.key;
      EXPECT_FALSE(option.fallback.is_null()) << method.name << "." << option.key;
    }
}

}  // namespace
}  // namespace longhaul
