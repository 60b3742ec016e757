// The exchange plans of the methods against facts/methods of their papers, by hand.
#include <gtest/gtest.h>

#include <set>

#include "core/plan/program.h"
#include "methods/common/late_updates.h"
#include "methods/noloco.h"
#include "tests/support/every_method.h"
#include "tests/support/said.h"
#include "tests/support/traces.h"
#include "tests/unit/methods/one_case.h"

namespace longhaul::plans_test {

Case make_case_with(const Json& method, const Json& workload, int replicas = 8) {
  return one_case({{"replicas", replicas},
                   {"methods", {method}},
                   {"workload", workload},
                   {"network", {{"topology", {{"star", {{"rate", "1Gbps"}, {"rtt", "50ms"}}}}}}}});
}

Json shape_of(int layers, int ffn) {
  return {{"hidden", 8}, {"layers", layers}, {"heads", 2}, {"ffn", ffn}, {"context", 8}, {"vocabulary", 8}};
}

Case make_case(const Json& method, int replicas = 8, int steps = 100) {
  return make_case_with(method, {{"parameters", 1000}, {"steps", steps}}, replicas);
}

std::int64_t contributed_bytes(const Case& config) {
  const Trace trace = trace_of(config);
  std::int64_t bytes = 0;
  for (int step = 1; step <= config.steps(); ++step)
    for (const Operation& exchange : trace.operations_at(step)) bytes += exchange.bytes;
  return bytes;
}

// P = 1000 parameters, 2 bytes each, 100 steps. Averages of weights, and the outer gradients of DiLoCo's
// family: P·b each time.
TEST(Plans, BytesContributedByAReplica) {
  const auto every_30 = [](const char* name, Json more = Json::object()) {
    more.update({{"name", name}, {"inner_steps", 30}});
    return contributed_bytes(make_case(more));
  };
  EXPECT_EQ(contributed_bytes(make_case({{"name", "ddp"}})), 100 * 2000);
  EXPECT_EQ(contributed_bytes(make_case({{"name", "independent"}})), 0);
  for (const char* name : {"diloco", "local-sgd", "gossip", "moshpit"})
    EXPECT_EQ(every_30(name), 3 * 2000) << name;
  EXPECT_EQ(every_30("noloco"), 3 * 2 * 2000);
  // Δ three times; φ ahead of the second and the third: all replicas start from the same φ.
  EXPECT_EQ(every_30("noloco", {{"pattern", "presend"}}), 3 * 2000 + 2 * 2000);
  for (const char* late : {"eager-diloco", "co2"}) {
    EXPECT_EQ(every_30(late), 2 * 2000) << late << ": the third round, posted at 90, would be awaited at 120";
    EXPECT_EQ(every_30(late, {{"delay", 0}}), 3 * 2000) << late;
  }
}

// 4 bits a column and a scale of 4 bytes; two bits of each of 64 kept in a chunk, 4 levels of 2 bytes, and 12
// bits for a place: 14 bits a number, as published.
TEST(Plans, CompressedBytesByHand) {
  // Of 8 × 8 matrices both factors of rank 1 in bf16, 16 numbers of 2 bytes; of 12 × 8 ones 20; vectors
  // plain.
  const Json shape = shape_of(1, 12);
  const Json low_rank = {{"low_rank", {{"rank", 1}}}};
  EXPECT_EQ(contributed_bytes(make_case_with({{"name", "diloco"}, {"codec", low_rank}},
                                             {{"model", shape}, {"steps", 100}})),
            2 * (6 * 16 + 3 * 20 + 3 * 8));
  // Tiles of 8 × 8; of the 12 × 8 ones two of 6 × 8 each, since 6 is the largest divisor of 12 up to 8; of
  // vectors 1 × 8. Two coefficients of each, with 6, 6 and 3 bits of place.
  const Json dct = {{"dct_top_k", {{"tile", 8}, {"kept", 2}}}};
  EXPECT_EQ(contributed_bytes(
                make_case_with({{"name", "diloco"}, {"codec", dct}}, {{"model", shape}, {"steps", 100}})),
            6 * (4 + 2) + 3 * 2 * (4 + 2) + 3 * (4 + 1));
  EXPECT_EQ(contributed_bytes(make_case({{"name", "diloco"}, {"codec", "e3m0"}})), 500 + 4);
  const OperationRule rule = plan_of(make_case({{"name", "sparseloco"}})).rules.at(0);
  EXPECT_EQ(encoded_bytes(rule.payload.at(0).codec, 10 * 4096), 10 * (64 * 14 / 8 + 4 * 2));
  EXPECT_EQ(rule.collective, "all-gather");
  const Json top = {{"top_k", {{"chunk", 100}, {"kept", 10}}}};
  EXPECT_EQ(plan_of(make_case({{"name", "diloco"}, {"codec", top}})).rules.at(0).collective, "all-gather");
  EXPECT_EQ(plan_of(make_case({{"name", "diloco"}, {"codec", "int8"}})).rules.at(0).collective, "ring");
}

// 1000 columns in four fragments every 40 steps: at 10, 20, 30, 40, … a quarter, each awaited 5 steps later;
// what is posted at 100 would be awaited at 105.
TEST(Plans, FragmentsTakeTurns) {
  const Case config =
      make_case({{"name", "streaming-diloco"}, {"inner_steps", 40}, {"fragments", 4}, {"codec", "wire"}});
  const Trace trace = trace_of(config);
  using Posted = std::tuple<int, std::string, int, std::int64_t>;
  std::vector<Posted> found;
  for (int step = 1; step <= 60; ++step)
    for (const Operation& operation : trace.operations_at(step))
      found.push_back({step, operation.rule->name, operation.await_step, operation.bytes});
  EXPECT_EQ(found, (std::vector<Posted>{{10, "fragment-1", 15, 500},
                                        {20, "fragment-2", 25, 500},
                                        {30, "fragment-3", 35, 500},
                                        {40, "fragment-0", 45, 500},
                                        {50, "fragment-1", 55, 500},
                                        {60, "fragment-2", 65, 500}}));
  EXPECT_EQ(contributed_bytes(config), 9 * 500);
}

// Six layers in three fragments, a backward pass of 60 % of a step: layer l is released 0.6 · l/6 of the step
// before its end, so fragment 1 (layers 1 and 4) with 0.4 and 0.1 left.
TEST(Plans, FragmentsAreReleasedLayerByLayer) {
  const Json shape = shape_of(6, 8);
  const Json method = {
      {"name", "streaming-diloco"}, {"inner_steps", 30}, {"fragments", 3}, {"overlap_backward", 0.6}};
  const OperationPlan plan = plan_of(make_case_with(method, {{"model", shape}, {"steps", 100}}));
  ASSERT_EQ(plan.rules.size(), 3u);
  const std::vector<std::vector<double>> expected = {{0.3, 0}, {0.4, 0.1}, {0.5, 0.2}};
  for (std::size_t part = 0; part < 3; ++part) {
    ASSERT_EQ(plan.rules[part].buckets, 2);
    for (int bucket = 0; bucket < 2; ++bucket)
      EXPECT_NEAR(left_at_release(plan.rules[part], bucket), expected[part][static_cast<std::size_t>(bucket)],
                  1e-12);
  }
  // Fragment 0 at 30: its last bucket goes with the end of the step. Fragment 1 at 10: nothing is left for
  // it.
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
  EXPECT_EQ(fragments(model, 2), (std::vector<Columns>{{{0, 15}, {25, 35}}, {{15, 25}, {35, 52}}}));
  EXPECT_EQ(fragments(model, 2, FragmentPattern::kConsecutive),
            (std::vector<Columns>{{{0, 25}}, {{25, 52}}}));
  EXPECT_EQ(fragments(model, 3, FragmentPattern::kConsecutive),
            (std::vector<Columns>{{{0, 25}}, {{25, 35}}, {{35, 52}}}));
}

// Embedding and output, 3 rows of 2 each, behind the fragments of two layers of 38 columns; the last norm
// stays with the last layer. Every H steps one is posted after the other.
TEST(Fragments, OfDecoupledDilocoHaveTheEmbeddingsApart) {
  const Json shape = {{"hidden", 2}, {"layers", 2},  {"heads", 1},
                      {"ffn", 3},    {"context", 8}, {"vocabulary", 3}};
  const Json method = {{"name", "decoupled-diloco"}, {"inner_steps", 6}};
  const auto columns_of = [&](const Json& more) {
    Json entry = method;
    entry.update(more);
    std::vector<std::pair<int, Columns>> found;
    for (const OperationRule& rule : plan_of(make_case_with(entry, {{"model", shape}, {"steps", 100}})).rules)
      found.push_back({rule.phase, rule.payload.at(0).columns});
    return found;
  };
  // A layer has four matrices of 2 × 2, three of 3 × 2 and two norms.
  EXPECT_EQ(columns_of(Json::object()),
            (std::vector<std::pair<int, Columns>>{{0, {{6, 44}}}, {2, {{44, 84}}}, {4, {{0, 6}, {84, 90}}}}));
  EXPECT_EQ(columns_of({{"merge", "mean"}}),
            (std::vector<std::pair<int, Columns>>{{0, {{0, 44}}}, {3, {{44, 90}}}}));
}

// Twelve hidden columns of 3 · 8 weights over four replicas: each has three of them, and sends those that
// become another's. The other 696 − 12 · 24 weights are averaged.
TEST(Plans, UnitsGoToTheirNextOwners) {
  const Case config =
      make_case_with({{"name", "ist"}, {"inner_steps", 20}}, {{"model", shape_of(1, 12)}, {"steps", 100}}, 4);
  const Trace trace = trace_of(config);
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
    for (std::size_t member = 0; member < 4; ++member) {
      std::int64_t sent = 0, received = 0;
      for (std::size_t other = 0; other < 4; ++other) {
        EXPECT_EQ(parts[member * 4 + other] % (2 * 24), 0) << "whole units";
        sent += parts[member * 4 + other];
        received += parts[other * 4 + member];
      }
      EXPECT_EQ(sent, 2 * 3 * 24);
      EXPECT_EQ(received, 2 * 3 * 24);
    }
    different.insert(parts);
  }
  EXPECT_EQ(different.size(), 5u) << "drawn anew each time";
}

TEST(Plans, AnAllToAllIsReadBackFromATrace) {
  const Json method = {{"name", "ist"}, {"inner_steps", 20}};
  const Trace trace = trace_of(make_case_with(method, {{"model", shape_of(2, 13)}, {"steps", 100}}, 2));
  const Trace back = read_back(trace);
  EXPECT_EQ(back.plan.rules[1].units, trace.plan.rules[1].units);
  EXPECT_EQ(back.plan.rules[1].kind, OperationKind::kAllToAll);
  EXPECT_EQ(back.plan.rules[1].collective, "pairwise");
  for (const int step : {20, 100}) {
    EXPECT_EQ(back.operations_at(step)[1].parts, trace.operations_at(step)[1].parts);
    EXPECT_EQ(back.operations_at(step)[1].bytes, trace.operations_at(step)[1].bytes);
    EXPECT_EQ(back.operations_at(step)[0].bytes, trace.operations_at(step)[0].bytes);
  }
  const std::string units = text_of(trace);
  for (const auto& [from, to] :
       {std::pair("\"count\":13", "\"count\":0"), std::pair("\"units\":[{", "\"unit\":[{")}) {
    std::string wrong = units;
    ASSERT_NE(wrong.find(from), std::string::npos) << from;
    wrong.replace(wrong.find(from), std::string(from).size(), to);
    EXPECT_THROW(trace_from(wrong), InputError) << to;
  }
  std::string many = units;
  many.replace(many.find("\"count\":13"), 10, "\"count\":20000000");
  const std::size_t number = many.find("\"parameters\":") + 13;
  many.replace(number, many.find(',', number) - number, "1000000000000");
  EXPECT_SAYS(said_by([&] { trace_from(many); }), "20000013 together");
}

// The square of a large side of the grid is no int: the words do not name it.
TEST(Plans, TheWordsOfAGridNamePowersThatCanBe) {
  for (const auto& [side, words] :
       {std::pair(2, "a power of 2: 2, 4, 8"), std::pair(1000, "a power of 1000: 1000, 1000000"),
        std::pair(1 << 20, "a power of 1048576: 1048576")}) {
    const Json method = {{"name", "moshpit"}, {"inner_steps", 5}, {"group_size", side}};
    const Case config = make_case_with(method, {{"parameters", 1000}, {"steps", 10}}, 6);
    EXPECT_EQ(thrown_by([&] { method_named("moshpit").check(config); }).parts().allowed, words);
  }
}

TEST(Plans, UnitsThatCannotBeDealtAreRefused) {
  const Json method = {{"name", "ist"}, {"inner_steps", 20}};
  const auto refused = [](const Json& of, const Json& workload, int replicas) {
    return refused_with([&] { method_named("ist").check(make_case_with(of, workload, replicas)); });
  };
  const Json shape = shape_of(1, 12);
  const Json workload = {{"model", shape}, {"steps", 100}};
  EXPECT_EQ(refused(method, workload, 12), "");
  EXPECT_EQ(refused(method, workload, 13), "workload.model.ffn: found 12 for 13 replicas");
  EXPECT_EQ(refused(method, workload, 1), "replicas: found 1 with method \"ist\", which exchanges");
  Json wide = shape;
  wide["layers"] = 4;
  wide["ffn"] = 1 << 22;
  EXPECT_EQ(refused(method, {{"model", wide}, {"steps", 100}}, 4), "");
  wide["ffn"] = 1'000'000'000;
  EXPECT_EQ(refused(method, {{"model", wide}, {"steps", 100}}, 4),
            "workload.model: found 4000000000 hidden units in 4 layers");
  EXPECT_EQ(refused(method, {{"parameters", 1000}, {"steps", 100}}, 4),
            "workload.model: this key is missing, with method \"ist\"");
  const auto warned = [&](int every) {
    Json of = method;
    of["inner_steps"] = every;
    return method_named("ist").warnings(make_case_with(of, workload, 4)).size();
  };
  EXPECT_EQ(warned(20), 0u);
  EXPECT_EQ(warned(30), 1u) << "the last ten steps end no round";
}

// Of stage s of S the gradient is S − 1 − s steps late; consecutive layers, equal parts where none are known.
TEST(Plans, RavnestsStagesAreLateByWhatIsBehindThem) {
  const auto delays = [](Json method) {
    method["name"] = "ravnest";
    return plan_of(make_case(method)).delays;
  };
  const std::vector<GradientDelay> three = delays({{"stages", 3}});
  ASSERT_EQ(three.size(), 3u);
  for (int stage = 0; stage < 3; ++stage) {
    EXPECT_EQ(three[static_cast<std::size_t>(stage)].steps, 2 - stage);
    const Columns& columns = three[static_cast<std::size_t>(stage)].columns;
    ASSERT_EQ(columns.size(), 1u);
    EXPECT_EQ(columns[0].begin, stage * 1000 / 3);
    EXPECT_EQ(columns[0].end, (stage + 1) * 1000 / 3);
  }
  const std::vector<GradientDelay> all = delays({{"delay", 4}});
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].steps, 4);
  EXPECT_EQ(all[0].columns[0].size(), 1000);
  EXPECT_TRUE(plan_of(make_case({{"name", "local-sgd"}})).delays.empty());
}

TEST(Plans, WhatRavnestCannotDo) {
  const auto refused = [](Json method, int stages = 1) {
    method["name"] = "ravnest";
    Case config = make_case_with(method, {{"model", shape_of(2, 24)}, {"steps", 100}}, 4);
    config.pipeline.stages = stages;
    return refused_with([&] { method_named("ravnest").check(config); });
  };
  EXPECT_EQ(refused({{"stages", 2}}), "");
  EXPECT_EQ(refused({{"stages", 3}}), "method.stages: found 3 with a model of 2 layers");
  EXPECT_EQ(refused({{"stages", 3}, {"delay", 1}}), "") << "stages are not asked for";
  EXPECT_EQ(refused({{"stages", 2}}, 2), "pipeline.stages: found 2 with method \"ravnest\"");
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
    const Json one_bucket = {{"name", name}, {"overlap_backward", 0.5}, {"buckets", 1}};
    EXPECT_EQ(method_named(name).warnings(make_case(one_bucket)).size(), 1u);
    EXPECT_TRUE(method_named(name).warnings(make_case({{"name", name}})).empty());
  }
}

TEST(Plans, PairsBySitesNeedTheSitesAndEnterTheTrainingKeyOnlyThen) {
  const Json by_sites = {{"name", "noloco"}, {"inner_steps", 10}, {"pairing", "sites"}, {"across_every", 3}};
  Case config = make_case(by_sites);
  EXPECT_TRUE(needs_sites(plan_of(config)));
  EXPECT_THROW(plan_context(config), InputError) << "nobody has said who is where";
  config.site_of = {0, 0, 0, 0, 1, 1, 1, 1};
  const Trace trace = trace_of(config);
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
  Case config = parse_case(trained(by_sites));
  config.site_of = {0, 0, 0, 0, 1, 1, 1, 1};
  const std::string key = training_key(config);
  config.site_of = {0, 1, 0, 1, 0, 1, 0, 1};
  EXPECT_NE(training_key(config), key);
  config.site_of = {0, 0, 0, 0, 1, 1, 1, 1};
  EXPECT_EQ(training_key(config), key);

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
                                                                             {"/train/precision", "bf16"},
                                                                             {"/replicas", 16},
                                                                             {"/method/outer_lr", 0.5}})
    EXPECT_NE(key_with(diloco, path, value), key) << path;
}

// As they were before there was a choice of optimizers, and of precisions.
TEST(TrainingKey, OfAnOptimizerThatIsNotNamedIsTheOneThereWas) {
  Json ddp = trained({{"name", "ddp"}});
  EXPECT_EQ(training_key(parse_case(ddp)), "ddp-a110c5ae819943db");
  EXPECT_EQ(ddp["train"].erase("precision"), 1u);
  EXPECT_EQ(training_key(parse_case(ddp)), "ddp-a110c5ae819943db");
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
    return refused_path([&] { optimizer_of(method, optimizer); });
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
  const Json options = make_case({{"name", "muloco"}}).method.options;
  EXPECT_FALSE(options.contains("optimizer")) << "it is in train.optimizer";
}

// A pattern is the way of the messages: the trainer computes the same bits with all of them, and what it
// sends ahead is the φ that it would have sent later (MethodRelations.AreToTheBit).
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

TEST(Methods, GammaOutsideTheBoundIsWarnedOf) {
  const Method& noloco = method_named("noloco");
  EXPECT_TRUE(noloco.warnings(make_case({{"name", "noloco"}})).empty());
  const auto warnings = noloco.warnings(make_case({{"name", "noloco"}, {"alpha", 0.9}}));
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_SAYS(warnings[0], "gamma 0.7");
  // 2 (1 − 0.81)/(1 + 0.9 − 1.8 k) with k = N/2(N − 1), to the digits that are shown
  const Case config = make_case({{"name", "noloco"}, {"alpha", 0.9}});
  const double k = config.replicas / (2. * (config.replicas - 1));
  const std::size_t at = warnings[0].find("outside (0, ");
  ASSERT_NE(at, std::string::npos) << warnings[0];
  EXPECT_NEAR(std::stod(warnings[0].substr(at + 12)), 0.38 / (1.9 - 1.8 * k), 1e-9) << warnings[0];
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

// Without momentum the roots are 0 and those of z² − (1 − η/N) z + η (1 − 1/N), whose product is below 1 for
// η < N/(N − 1). With momentum by iterating the recursion.
TEST(Methods, LateOuterGradientsSwingUpFromABoundOn) {
  for (const int replicas : {2, 3, 8, 1000})
    EXPECT_NEAR(late_outer_lr_bound(0, 1. / replicas), replicas / (replicas - 1.), 1e-6) << replicas;
  for (const double momentum : {0.3, 0.6, 0.9})
    for (const int replicas : {2, 4, 8, 64}) {
      const double bound = late_outer_lr_bound(momentum, 1. / replicas);
      EXPECT_FALSE(grows(0.98 * bound, momentum, 1. / replicas, true)) << momentum << ", " << replicas;
      EXPECT_TRUE(grows(1.02 * bound, momentum, 1. / replicas, true)) << momentum << ", " << replicas;
    }
  EXPECT_EQ(method_named("eager-diloco").warnings(make_case({{"name", "eager-diloco"}})).size(), 1u);
  EXPECT_TRUE(method_named("eager-diloco").warnings(make_case({{"name", "eager-diloco"}}, 2)).empty());
  EXPECT_TRUE(method_named("dilocox").warnings(make_case({{"name", "dilocox"}, {"codec", "wire"}})).empty());
  EXPECT_NEAR(late_outer_lr_bound(0, 0), 1, 1e-6) << "z² − z + η";
}

TEST(Methods, LateOuterGradientsSwingUpFromABoundOnWithHeavyBall) {
  for (const double momentum : {0., 0.2, 0.5, 0.9}) {
    const double bound = late_heavy_ball_lr_bound(momentum);
    EXPECT_FALSE(grows(0.98 * bound, momentum, 0, false)) << momentum;
    EXPECT_TRUE(grows(1.02 * bound, momentum, 0, false)) << momentum;
  }
  const auto warnings = [](Json more) {
    more.update({{"name", "co2"}});
    return method_named("co2").warnings(make_case(more)).size();
  };
  EXPECT_EQ(warnings({{"gap_penalty", 0}, {"outer_lr", 0.81}}), 1u);
  EXPECT_EQ(warnings({{"gap_penalty", 0}, {"outer_lr", 0.79}}), 0u);
  EXPECT_EQ(warnings({{"gap_penalty", 0}, {"outer_lr", 0.81}, {"delay", 0}}), 0u);
  EXPECT_EQ(warnings(Json::object()), 0u);
}

void expect_rejected(const Json& method, const std::string& path, int replicas = 4) {
  const Case config = make_case(method, replicas, 10);
  const InputError error = thrown_by([&] { method_named(config.method.name).check(config); });
  EXPECT_EQ(error.parts().path, path) << error.what();
}

TEST(Methods, CasesThatCannotBe) {
  for (const char* name : {"noloco", "gossip"}) {
    expect_rejected({{"name", name}, {"inner_steps", 5}}, "replicas", 1);
    expect_rejected({{"name", name}, {"inner_steps", 5}, {"group_size", 4}}, "replicas", 3);
    for (const int replicas : {3, 7})
      EXPECT_NO_THROW(
          method_named(name).check(make_case({{"name", name}, {"inner_steps", 5}}, replicas, 10)));
  }
  for (const char* name : {"local-sgd", "gossip", "moshpit", "hierarchical", "eager-diloco", "co2"})
    expect_rejected({{"name", name}, {"inner_steps", 11}}, "method.inner_steps");
  expect_rejected({{"name", "moshpit"}, {"inner_steps", 5}}, "replicas", 6);
  expect_rejected({{"name", "streaming-diloco"}, {"inner_steps", 5}}, "method.fragments");
  expect_rejected({{"name", "streaming-diloco"}, {"inner_steps", 5}, {"fragments", 2}}, "method.overlap");
  const Json too_many = {{"top_k", {{"chunk", 10}, {"kept", 11}}}};
  expect_rejected({{"name", "diloco"}, {"inner_steps", 5}, {"codec", too_many}}, "method.codec.top_k.kept");
  expect_rejected({{"name", "diloco"}, {"inner_steps", 5}, {"feedback_decay", 0.5}}, "method.feedback_decay");
  expect_rejected({{"name", "dilocox"}, {"inner_steps", 5}}, "method.codec.low_rank");
  expect_rejected({{"name", "eager-diloco"}, {"inner_steps", 5}, {"error_feedback", "ef21"}},
                  "method.error_feedback");
  for (Json sparse : std::vector<Json>{{{"name", "sparseloco"}, {"inner_steps", 5}}, {{"name", "demo"}}}) {
    sparse.update({{"error_feedback", "ef21"}, {"feedback_decay", 1}});
    expect_rejected(sparse, "method.mean_of");
  }
  EXPECT_NO_THROW(method_named("independent").check(make_case({{"name", "independent"}}, 1, 10)));
}

TEST(Methods, ReductionsThatCannotBe) {
  const auto diloco = [](const char* reduction, Json more) {
    more.update({{"name", "diloco"}, {"inner_steps", 5}, {"reduction", reduction}});
    return more;
  };
  const Json top_k = {{"top_k", {{"chunk", 10}, {"kept", 2}}}};
  for (const Json& wrong : std::vector<Json>{
           diloco("ring", {{"codec", "wire"}}), diloco("ring", {{"codec", top_k}}),
           diloco("ring", {{"codec", "sign"}}), diloco("ring", {{"codec", "two_bit"}}),
           diloco("ring", {{"codec", "int4"}, {"all_reduce", "tree"}}),
           diloco("ring", {{"codec", "int4"}, {"all_reduce", "direct"}}),
           diloco("ring", {{"codec", "int4"}, {"error_feedback", "classic"}}),
           diloco("ring", {{"codec", "int4"}, {"overlap_backward", 0.5}}),
           diloco("two-shot", {{"codec", "int4"}}),
           diloco("two-shot", {{"codec", "int4"}, {"all_reduce", "direct"}, {"error_feedback", "ef21"}}),
           diloco("two-shot", {{"codec", {{"random_mask", {{"share", 0.5}}}}}, {"all_reduce", "direct"}})})
    expect_rejected(wrong, "method.reduction");
  for (const Json& right : std::vector<Json>{
           diloco("ring", {{"codec", "e3m0"}}), diloco("once", {{"codec", top_k}}),
           diloco("two-shot",
                  {{"codec", "sign"}, {"all_reduce", "direct"}, {"error_feedback", "classic"}})}) {
    const Case config = make_case(right, 4, 10);
    EXPECT_NO_THROW(method_named("diloco").check(config)) << right.dump();
  }
}

TEST(Methods, EachIsDeclaredWithMeaningAndDefault) {
  for (const Method& method : methods())
    for (const Node& option : method.options) {
      EXPECT_FALSE(option.meaning.empty()) << method.name << "." << option.key;
      EXPECT_FALSE(option.fallback.is_null()) << method.name << "." << option.key;
    }
}

TEST(RankOrderOption, WithStagesAListPlacesEveryWorker) {
  Json resolved = make_case({{"name", "diloco"}}, 2).resolved;
  resolved["pipeline"] = {{"stages", 4}};
  resolved["network"]["rank_order"] = {7, 6, 5, 4, 3, 2, 1, 0};
  EXPECT_EQ(parse_case(resolved).network.rank_order.places.size(), 8u);
  resolved["network"]["rank_order"] = {0, 1, 2, 3, 4, 5, 6};
  const std::string message = said_by([&] { parse_case(resolved); });
  EXPECT_SAYS(message, "found 7 places, the scenario has 8 workers (2 replicas of 4 stages)");
  EXPECT_SAYS(message, "entry r · 4 + s is the place of stage s of replica r");
}

}  // namespace longhaul::plans_test
