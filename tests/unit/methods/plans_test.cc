// The exchange plans of the methods against facts/methods of their papers, by hand.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "core/plan/program.h"
#include "methods/common/late_updates.h"
#include "methods/noloco.h"
#include "tests/support/every_method.h"
#include "tests/support/said.h"
#include "tests/unit/methods/one_case.h"

namespace longhaul::plans_test {

// Of 100 steps.
Case make_case(const Json& method, int replicas = 8, Json workload = {{"parameters", 1000}}) {
  workload["steps"] = 100;
  return one_case({{"replicas", replicas}, {"methods", {method}}, {"workload", workload}});
}

Json shape_of(int layers, int ffn, int hidden = 8, int heads = 2, int vocabulary = 8) {
  return {{"hidden", hidden}, {"layers", layers}, {"heads", heads},
          {"ffn", ffn},       {"context", 8},     {"vocabulary", vocabulary}};
}

Case shaped_case(const Json& method, const Json& shape, int replicas = 8) {
  return make_case(method, replicas, {{"model", shape}});
}

std::int64_t contributed_bytes(const Case& config) {
  const Trace trace = trace_of(config);
  std::int64_t bytes = 0;
  for (int step = 1; step <= config.steps(); ++step)
    for (const Operation& exchange : trace.operations_at(step)) bytes += exchange.bytes;
  return bytes;
}

// P = 1000 parameters, b = 2 bytes each. Averages of weights, and outer gradients as DiLoCo's: P·b each time.
TEST(Plans, BytesContributedByAReplica) {
  const auto every_30 = [](const char* name, Json more = Json::object()) {
    more.update({{"name", name}, {"inner_steps", 30}});
    return contributed_bytes(make_case(more));
  };
  EXPECT_EQ(contributed_bytes(make_case({{"name", "ddp"}})), 100 * 2000);
  EXPECT_EQ(contributed_bytes(make_case({{"name", "independent"}})), 0);
  for (const char* name : {"diloco", "local-sgd", "gossip", "moshpit", "gasloc"})
    EXPECT_EQ(every_30(name), 3 * 2000) << name;
  EXPECT_EQ(every_30("noloco"), 3 * 2 * 2000);
  // Δ three times; φ ahead of the second and the third: all replicas start from the same φ.
  EXPECT_EQ(every_30("noloco", {{"pattern", "presend"}}), 3 * 2000 + 2 * 2000);
  for (const char* late : {"eager-diloco", "co2"}) {
    EXPECT_EQ(every_30(late), 2 * 2000) << late << ": the third round, posted at 90, would be awaited at 120";
    EXPECT_EQ(every_30(late, {{"delay", 0}}), 3 * 2000) << late;
  }
}

// As torch 2.15's PeriodicModelAverager was seen to: after steps W + 1, W + 1 + H, …; gradients to step W.
TEST(Plans, PostLocalSgdAveragesAfterItsWarmUp) {
  using Steps = std::vector<int>;
  const auto steps_of = [](int warmup_steps) {
    const Case config =
        make_case({{"name", "local-sgd"}, {"inner_steps", 30}, {"warmup_steps", warmup_steps}});
    std::map<std::string, Steps> steps;
    const Trace trace = trace_of(config);
    for (int step = 1; step <= config.steps(); ++step)
      for (const Operation& operation : trace.operations_at(step))
        steps[operation.rule->payload.front().tensor].push_back(step);
    return steps;
  };
  EXPECT_EQ(steps_of(0), (std::map<std::string, Steps>{{"weights", {1, 31, 61, 91}}}));
  EXPECT_EQ(steps_of(3),
            (std::map<std::string, Steps>{{"gradient", {1, 2, 3}}, {"weights", {4, 34, 64, 94}}}));
  EXPECT_EQ(steps_of(70).at("weights"), (Steps{71}));
  EXPECT_EQ(steps_of(70).at("gradient").size(), 70u);
}

// 4 bits a column and a scale of 4 bytes; two bits of each of 64 kept in a chunk, 4 levels of 2 bytes, and 12
// bits for a place: 14 bits a number, as published.
TEST(Plans, CompressedBytesByHand) {
  const auto diloco = [](const Json& codec) { return Json{{"name", "diloco"}, {"codec", codec}}; };
  const auto bytes_of_shape = [&](const Json& codec) {
    return contributed_bytes(shaped_case(diloco(codec), shape_of(1, 12)));
  };
  const auto rule_of_method = [](const Json& method) { return plan_of(make_case(method)).rules.at(0); };
  // Of 8 × 8 matrices both factors of rank 1 in bf16, 16 numbers of 2 bytes; of 12 × 8 20; vectors plain.
  EXPECT_EQ(bytes_of_shape({{"low_rank", {{"rank", 1}}}}), 2 * (6 * 16 + 3 * 20 + 3 * 8));
  // Tiles of 8 × 8; of the 12 × 8 ones two of 6 × 8 each, since 6 is the largest divisor of 12 up to 8; of
  // vectors 1 × 8. Two coefficients of each, with 6, 6 and 3 bits of place.
  EXPECT_EQ(bytes_of_shape({{"dct_top_k", {{"tile", 8}, {"kept", 2}}}}),
            6 * (4 + 2) + 3 * 2 * (4 + 2) + 3 * (4 + 1));
  EXPECT_EQ(contributed_bytes(make_case(diloco("e3m0"))), 500 + 4);
  const OperationRule sparse = rule_of_method({{"name", "sparseloco"}});
  EXPECT_EQ(encoded_bytes(sparse.payload.at(0).codec, 10 * 4096), 10 * (64 * 14 / 8 + 4 * 2));
  EXPECT_EQ(sparse.collective, "all-gather");
  EXPECT_EQ(rule_of_method(diloco({{"top_k", {{"chunk", 100}, {"kept", 10}}}})).collective, "all-gather");
  EXPECT_EQ(rule_of_method(diloco("int8")).collective, "ring");
}

// 1000 columns in four fragments every 40 steps: at 10, 20, 30, 40, … a quarter, each awaited 5 steps later;
// what is posted at 100 would be awaited at 105.
TEST(Plans, FragmentsTakeTurns) {
  const Case config =
      make_case({{"name", "streaming-diloco"}, {"inner_steps", 40}, {"fragments", 4}, {"codec", "wire"}});
  const Trace trace = trace_of(config);
  std::vector<std::tuple<int, std::string, int, std::int64_t>> found, expected;
  for (int step = 1; step <= 60; ++step)
    for (const Operation& operation : trace.operations_at(step))
      found.push_back({step, operation.rule->name, operation.await_step, operation.bytes});
  for (int turn = 1; turn <= 6; ++turn)
    expected.push_back({10 * turn, "fragment-" + std::to_string(turn % 4), 10 * turn + 5, 500});
  EXPECT_EQ(found, expected);
  EXPECT_EQ(contributed_bytes(config), 9 * 500);
}

// Six layers in three fragments, a backward pass of 60 % of a step: layer l is released 0.6 · l/6 of the step
// before its end, so fragment 1 (layers 1 and 4) with 0.4 and 0.1 left.
TEST(Plans, FragmentsAreReleasedLayerByLayer) {
  const Json method = {
      {"name", "streaming-diloco"}, {"inner_steps", 30}, {"fragments", 3}, {"overlap_backward", 0.6}};
  const OperationPlan plan = plan_of(shaped_case(method, shape_of(6, 8)));
  const double expected[3][2] = {{0.3, 0}, {0.4, 0.1}, {0.5, 0.2}};
  ASSERT_EQ(plan.rules.size(), 3u);
  for (std::size_t part = 0; part < 3; ++part) {
    ASSERT_EQ(plan.rules[part].buckets, 2);
    for (int bucket = 0; bucket < 2; ++bucket)
      EXPECT_NEAR(left_at_release(plan.rules[part], bucket), expected[part][bucket], 1e-12);
  }
  // Fragment 0 at 30: its last bucket goes with the end of the step. Fragment 1 at 10: none is left for it.
  const auto last_post = [&plan](int step) {
    int bucket = -1;
    for (const Instruction& instruction : program_of_step(plan, 100, step).instructions)
      if (instruction.kind == Instruction::Kind::kPost && instruction.left == 0) bucket = instruction.bucket;
    return bucket;
  };
  EXPECT_EQ(last_post(30), 1);
  EXPECT_EQ(last_post(10), 2);
}

// Four layers of 10 columns behind 5 of an embedding, 7 columns behind them.
TEST(Fragments, AreStridedOrConsecutiveLayers) {
  const PlannedModel model{52, {{5, 15}, {15, 25}, {25, 35}, {35, 45}}, Wire::kBf16};
  using Parts = std::vector<Columns>;
  const FragmentPattern consecutive = FragmentPattern::kConsecutive;
  EXPECT_EQ(fragments(model, 2), (Parts{{{0, 15}, {25, 35}}, {{15, 25}, {35, 52}}}));
  EXPECT_EQ(fragments(model, 2, consecutive), (Parts{{{0, 25}}, {{25, 52}}}));
  EXPECT_EQ(fragments(model, 3, consecutive), (Parts{{{0, 25}}, {{25, 35}}, {{35, 52}}}));
}

// Embedding and output, 3 rows of 2 each, behind the fragments of two layers of 38 columns; the last norm
// stays with the last layer. Every H steps one is posted after the other.
TEST(Fragments, OfDecoupledDilocoHaveTheEmbeddingsApart) {
  const Json shape = shape_of(2, 3, /*hidden=*/2, /*heads=*/1, /*vocabulary=*/3);
  using Found = std::vector<std::pair<int, Columns>>;
  const auto columns_of = [&](const Json& more) {
    Json method = {{"name", "decoupled-diloco"}, {"inner_steps", 6}};
    method.update(more);
    Found found;
    for (const OperationRule& rule : plan_of(shaped_case(method, shape)).rules)
      found.push_back({rule.phase, rule.payload.at(0).columns});
    return found;
  };
  // A layer has four matrices of 2 × 2, three of 3 × 2 and two norms.
  EXPECT_EQ(columns_of(Json::object()), (Found{{0, {{6, 44}}}, {2, {{44, 84}}}, {4, {{0, 6}, {84, 90}}}}));
  EXPECT_EQ(columns_of({{"merge", "mean"}}), (Found{{0, {{0, 44}}}, {3, {{44, 90}}}}));
}

const Json kUnits = {{"name", "ist"}, {"inner_steps", 20}};

// Twelve hidden columns of 3 · 8 weights over four replicas: each has three of them, and sends those that
// become another's. The other 696 − 12 · 24 weights are averaged.
TEST(Plans, UnitsGoToTheirNextOwners) {
  const Trace trace = trace_of(shaped_case(kUnits, shape_of(1, 12), 4));
  std::set<std::vector<std::int64_t>> different;
  for (int step = 1; step <= 100; ++step) {
    const std::vector<Operation> operations = trace.operations_at(step);
    ASSERT_EQ(operations.size(), step % 20 == 0 ? 2u : 0u) << step;
    if (operations.empty()) continue;
    EXPECT_EQ(operations[0].rule->kind, OperationKind::kAllReduce);
    EXPECT_EQ(operations[0].bytes, 2 * (696 - 12 * 24));
    EXPECT_TRUE(operations[0].parts.empty());
    EXPECT_EQ(operations[1].rule->collective, "pairwise");
    EXPECT_EQ(operations[1].bytes, 2 * 3 * 24);
    const std::vector<std::int64_t>& parts = operations[1].parts;
    ASSERT_EQ(parts.size(), 16u);
    for (const std::int64_t part : parts) EXPECT_EQ(part % (2 * 24), 0) << "whole units";
    for (std::size_t member = 0; member < 16; member += 4)
      EXPECT_EQ(parts[member] + parts[member + 1] + parts[member + 2] + parts[member + 3], 2 * 3 * 24);
    different.insert(parts);
  }
  EXPECT_EQ(different.size(), 5u) << "drawn anew each time";
  EXPECT_NO_THROW(method_named("ist").check(shaped_case(kUnits, shape_of(4, 1 << 22), 4))) << "2^24 can be";
}

// Of stage s of S the gradient is S − 1 − s steps late; consecutive layers, equal parts where none are known.
TEST(Plans, RavnestsStagesAreLateByWhatIsBehindThem) {
  using Late = std::vector<std::pair<int, Columns>>;
  const auto delays = [](const Json& method) {
    Late found;
    for (const GradientDelay& delay : plan_of(make_case(method)).delays)
      found.push_back({delay.steps, delay.columns});
    return found;
  };
  EXPECT_EQ(delays({{"name", "ravnest"}, {"stages", 3}}),
            (Late{{2, {{0, 333}}}, {1, {{333, 666}}}, {0, {{666, 1000}}}}));
  EXPECT_EQ(delays({{"name", "ravnest"}, {"delay", 4}}), (Late{{4, {{0, 1000}}}}));
  EXPECT_EQ(delays({{"name", "local-sgd"}}), Late{});
}

TEST(Methods, EachIsInTheListOfTheTestsThatHoldForAll) {
  std::set<std::string> listed, there;
  for (const Json& method : every_method(4)) listed.insert(method["name"].get<std::string>());
  for (const Method& method : methods()) there.insert(method.name);
  EXPECT_EQ(listed, there);
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
  }
}

TEST(Plans, PairsBySitesNeedTheSites) {
  const Json by_sites = {{"name", "noloco"}, {"inner_steps", 10}, {"pairing", "sites"}, {"across_every", 3}};
  Case config = make_case(by_sites);
  const OperationPlan plan = plan_of(config);
  EXPECT_TRUE(needs_sites(plan));
  EXPECT_EQ(plan.rules[0].grouping, Grouping::kSites);
  EXPECT_EQ(plan.rules[0].across_every, 3);
  EXPECT_THROW(plan_context(config), InputError) << "nobody has said who is where";
  config.site_of = {0, 0, 0, 0, 1, 1, 1, 1};
  EXPECT_EQ(plan_context(config).site_of, config.site_of);
  EXPECT_FALSE(needs_sites(plan_of(make_case({{"name", "noloco"}, {"inner_steps", 10}}))));
}

Json trained(const Json& method) {
  Json resolved = make_case(method).resolved;
  resolved["train"] = resolve(*scenario_options({}, {}).child("train"), {{"steps", 100}}, "train");
  return resolved;
}

TEST(Plans, TheTrainingKeyHoldsTheSitesWhereNumericsDependOnThem) {
  const Json by_sites = {{"name", "noloco"}, {"inner_steps", 10}, {"pairing", "sites"}};
  Case config = parse_case(trained(by_sites));
  const auto key_at = [&](const std::vector<int>& sites) {
    config.site_of = sites;
    return training_key(config);
  };
  const std::string key = key_at({0, 0, 0, 0, 1, 1, 1, 1});
  EXPECT_NE(key_at({0, 1, 0, 1, 0, 1, 0, 1}), key);
  EXPECT_EQ(key_at({0, 0, 0, 0, 1, 1, 1, 1}), key);

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
  // A pattern is the way of the messages: the trainer computes the same bits with all of them, and what it
  // sends ahead is the φ that it would have sent later (MethodRelations.AreToTheBit).
  for (const char* pattern : {"exchange", "presend", "root", "serial"}) {
    resolved["method"]["pattern"] = pattern;
    EXPECT_EQ(training_key(parse_case(resolved)), now);
  }
}

TEST(TrainingKey, DependsOnWhatTheNumericsDependOn) {
  const Json resolved = trained({{"name", "diloco"}, {"inner_steps", 10}});
  const std::string key = training_key(parse_case(resolved));
  const auto key_with = [&](const std::string& path, const Json& value) {
    Json changed = resolved;
    changed[Json::json_pointer(path)] = value;
    return training_key(parse_case(changed));
  };
  const Json same = Json::parse(R"({"/network/tcp/connections": 8, "/method/all_reduce": "tree",
      "/method/overlap_backward": 0.5, "/method/label": "another", "/workload/step_time": {"constant": "2s"},
      "/train/checkpoint_every": 3, "/train/target_loss": 2.5})");
  for (const auto& [path, value] : same.items()) EXPECT_EQ(key_with(path, value), key) << path;
  const Json other = Json::parse(R"({"/seed": 2, "/workload/wire": "fp32", "/train/batch": 5,
      "/train/precision": "bf16", "/replicas": 16, "/method/outer_lr": 0.5})");
  for (const auto& [path, value] : other.items()) EXPECT_NE(key_with(path, value), key) << path;
}

// As they were before there was a choice of optimizers, and of precisions.
TEST(TrainingKey, OfAnOptimizerThatIsNotNamedIsTheOneThereWas) {
  const auto key_of = [](const Json& resolved) { return training_key(parse_case(resolved)); };
  Json ddp = trained({{"name", "ddp"}});
  EXPECT_EQ(key_of(ddp), "ddp-a110c5ae819943db");
  EXPECT_EQ(ddp["train"].erase("precision"), 1u);
  EXPECT_EQ(key_of(ddp), "ddp-a110c5ae819943db");
  EXPECT_EQ(key_of(trained({{"name", "noloco"}})), "noloco-366093e741a3d98b");
  Json diloco = trained({{"name", "diloco"}});
  EXPECT_EQ(key_of(diloco), "diloco-d3ecf5d101d29016");
  diloco["train"]["optimizer"]["name"] = "adamw";
  EXPECT_EQ(key_of(diloco), "diloco-d3ecf5d101d29016") << "which is what absence means";
}

const Json kDiloco = {{"name", "diloco"}};

Json own(const Json& optimizer) {
  return {{"name", "diloco"}, {"optimizer", optimizer}};
}

// Of train.optimizer, and of the method's own section.
Case optimized(const Json& method, const Json& optimizer = Json::object()) {
  Json resolved = trained({{"name", method["name"]}});
  if (method.contains("optimizer")) resolved["method"]["optimizer"] = method["optimizer"];
  resolved["train"]["optimizer"].update(optimizer);
  return parse_case(resolved);
}

TEST(TrainingKey, FollowsTheEffectiveOptimizerWhereverItIsSaid) {
  const auto key = [](const Json& method, const Json& optimizer = Json::object()) {
    return training_key(optimized(method, optimizer));
  };
  const Json muon = {{"name", "muon"}, {"lr", 0.01}}, adamw = {{"name", "adamw"}};
  EXPECT_NE(key(own(muon)), key(kDiloco));
  EXPECT_EQ(key(own(muon)), key(kDiloco, muon));
  EXPECT_EQ(key(own(muon)), key(kDiloco, {{"lr", 0.01}, {"name", "muon"}, {"momentum", 0.95}}));
  EXPECT_NE(key(own({{"name", "muon"}, {"lr", 0.01}, {"momentum", 0.9}})), key(kDiloco, muon));
  EXPECT_EQ(key(own(adamw)), key(kDiloco));
  EXPECT_EQ(key(own(adamw), {{"name", "muon"}, {"momentum", 0.9}}), key(kDiloco)) << "momentum is Muon's";
}

TEST(Optimizer, OfAMethodTakesThePlaceOfSomeKeys) {
  const OptimizerSpec spec = optimized(own({{"name", "muon"}, {"newton_schulz_steps", 3}, {"min_lr", 1e-4}}),
                                       {{"lr", 0.5}, {"weight_decay", 0.25}})
                                 .train->optimizer;
  EXPECT_EQ(spec.name, InnerOptimizer::kMuon);
  EXPECT_EQ(std::tuple(spec.newton_schulz_steps, spec.momentum, spec.min_lr), std::tuple(3, 0.95, 1e-4));
  EXPECT_EQ(std::pair(spec.lr, spec.weight_decay), std::pair(0.5, 0.25)) << "from train.optimizer";
  EXPECT_EQ(optimized(kDiloco).train->optimizer.name, InnerOptimizer::kAdamw);
}

// Its own default of the name stays where the section says other keys.
TEST(Optimizer, OfMulocoIsMuonUnlessItsSectionNamesAnother) {
  const Node declared = *scenario_options(method_options(), stub_topologies()).child("methods");
  const auto section = [&](const Json& method) {
    return resolve(declared, Json::array({method}), "methods")[0].value("optimizer", Json());
  };
  const Json adamw = {{"name", "adamw"}}, faster = {{"lr", 0.01}};
  EXPECT_EQ(section({{"name", "muloco"}}), (Json{{"name", "muon"}}));
  EXPECT_EQ(section({{"name", "muloco"}, {"optimizer", faster}}), (Json{{"name", "muon"}, {"lr", 0.01}}));
  EXPECT_EQ(section({{"name", "muloco"}, {"optimizer", adamw}}), adamw);
  EXPECT_TRUE(section({{"name", "diloco"}}).is_null());
  const Json options = make_case({{"name", "muloco"}}).method.options;
  EXPECT_FALSE(options.contains("optimizer")) << "it is in train.optimizer";
}

// ZeRO-3 with 8 replicas: shards of 250 bytes to seven others twice, and 7/8 of the gradient. With 3 replicas
// a shard of 1000 parameters is padded to 334.
TEST(Plans, FsdpGathersShardsTwiceAndScattersTheGradient) {
  for (const auto& [replicas, shard] : {std::pair{8, 250}, {3, 668}}) {
    const Trace trace = trace_of(make_case({{"name", "fsdp"}}, replicas));
    std::vector<std::pair<std::string, std::int64_t>> found, expected(2, {"all-gather", shard});
    expected.push_back({"reduce-scatter", 2000});
    for (const Operation& exchange : trace.operations_at(1))
      found.push_back({exchange.rule->collective, exchange.bytes});
    EXPECT_EQ(found, expected);
  }
}

// 2(1 − α²) for n = 2 and N → ∞; at α = 0.5 1.615 for N = 8 and 1.8 for N = 4.
TEST(Stability, GammaBound) {
  EXPECT_NEAR(noloco_gamma_bound(0.5, 2, 1000000), 1.5, 1e-5);
  EXPECT_NEAR(noloco_gamma_bound(0.5, 2, 8), 1.615, 5e-4);
  EXPECT_NEAR(noloco_gamma_bound(0.5, 2, 4), 1.8, 1e-12);
  EXPECT_NEAR(noloco_gamma_bound(0.3, 4, 1000000), 2 * 4 * (1 - 0.09) / (4 * 0.7 + 0.6), 1e-4);
  // Of an odd number of replicas one has no partner: k = 1/2, as of many.
  for (const int replicas : {3, 5, 101}) EXPECT_DOUBLE_EQ(noloco_gamma_bound(0.5, 2, replicas), 1.5);
  // Groups of 3 of 5: k = 1 · 2/4.
  EXPECT_DOUBLE_EQ(noloco_gamma_bound(0.5, 3, 5), 1.5);
}

// 2 (1 − 0.81)/(1 + 0.9 − 1.8 k) with k = N/2(N − 1) = 4/7, to the digits that are shown.
TEST(Methods, GammaOutsideTheBoundIsWarnedOf) {
  const std::string found = warning_of(make_case({{"name", "noloco"}, {"alpha", 0.9}}, 8));
  EXPECT_SAYS(found, "gamma 0.7");
  const std::size_t at = found.find("outside (0, ");
  ASSERT_NE(at, std::string::npos) << found;
  const double said = std::stod(found.substr(at + 12)), bound = 0.38 / (1.9 - 1.8 * 4 / 7);
  EXPECT_LE(said, bound) << found << ": a gamma of what is said must not be outside";
  EXPECT_GT(said, bound - 1e-6) << found;
}

// Whether φ grows where each round takes `own` of the new Δ = −φ and the rest of the one before, with
// Nesterov momentum or heavy-ball.
bool grows(double lr, double momentum, double own, bool nesterov) {
  double phi = 1, v = 0.3, late = 0.2;
  for (int round = 0; round < 8000; ++round) {
    const double delta = -own * phi + (1 - own) * late;
    v = momentum * v + delta;
    late = -phi;
    phi += lr * (nesterov ? delta + momentum * v : v);
  }
  return !(std::abs(phi) < 1);
}

void expect_bound(double bound, double momentum, double own, bool nesterov) {
  EXPECT_FALSE(grows(0.98 * bound, momentum, own, nesterov)) << momentum << ", " << own;
  EXPECT_TRUE(grows(1.02 * bound, momentum, own, nesterov)) << momentum << ", " << own;
}

// Without momentum the roots are 0 and those of z² − (1 − η/N) z + η (1 − 1/N), whose product is below 1 for
// η < N/(N − 1). With momentum by iterating the recursion, with Nesterov's and heavy-ball.
TEST(Methods, LateOuterGradientsSwingUpFromABoundOn) {
  for (const int replicas : {2, 3, 8, 1000})
    EXPECT_NEAR(late_outer_lr_bound(0, 1. / replicas), replicas / (replicas - 1.), 1e-6) << replicas;
  for (const double momentum : {0.3, 0.6, 0.9})
    for (const int replicas : {2, 4, 8, 64})
      expect_bound(late_outer_lr_bound(momentum, 1. / replicas), momentum, 1. / replicas, true);
  EXPECT_NEAR(late_outer_lr_bound(0, 0), 1, 1e-6) << "z² − z + η";
  for (const double momentum : {0., 0.2, 0.5, 0.9})
    expect_bound(late_heavy_ball_lr_bound(momentum), momentum, 0, false);
}

TEST(Methods, EachIsDeclaredWithMeaningAndDefault) {
  for (const Method& method : methods())
    for (const Node& option : method.options) {
      EXPECT_FALSE(option.meaning.empty()) << method.name << "." << option.key;
      EXPECT_FALSE(option.fallback.is_null()) << method.name << "." << option.key;
    }
}

}  // namespace longhaul::plans_test
