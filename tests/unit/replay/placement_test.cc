// Where workers are placed: the graphs of costs against replays of fidelity analytic and textbook formulas,
// and the search against all permutations, with costs written out here from the measured matrices. Orders of
// ranks for collectives other than the ring, by hand for small networks.
#include <gtest/gtest.h>

#include <functional>

#include "core/base/index.h"
#include "core/base/random.h"
#include "core/plan/operations.h"
#include "net/collectives/collective.h"
#include "net/topologies/matrix.h"
#include "net/topologies/registry.h"
#include "replay/exchange/rounds_run.h"
#include "replay/network/analytic_network.h"
#include "replay/network/clock.h"
#include "replay/placement/cost_graph.h"
#include "replay/placement/optimized_order.h"
#include "replay/placement/site_paths.h"
#include "tests/support/said.h"
#include "tests/unit/net/orders.h"
#include "tests/unit/replay/replayed.h"

namespace longhaul::placement_test {

// `parameters` in bf16, an all-reduce at every step.
Case optimized(Case config, const std::string& all_reduce, std::int64_t parameters) {
  config.workload.parameters = parameters;
  config.method.options = {{"name", "diloco"}, {"all_reduce", all_reduce}};
  config.network.rank_order.kind = RankOrderSpec::Kind::kOptimized;
  return config;
}

// The first sites of a matrix, with so many workers each.
Case placed_case(const std::string& matrix, const std::vector<int>& counts, const std::string& collective,
                 std::int64_t parameters) {
  const std::vector<std::string> names = load_matrix(matrix, ".").sites();
  SiteCounts sites;
  for (std::size_t i = 0; i < counts.size(); ++i) sites.push_back({names[i], counts[i]});
  Case config = regions_case(matrix, sites);
  config.network.topology.options["rate"] = "1000Gbps";  // so that the matrix alone decides
  return optimized(config, collective, parameters);
}

// The same workers as stages of replicas, which compute a second a step.
Case staged_case(Case config, int stages, PipelineSchedule schedule, int microbatches,
                 double bytes_per_token) {
  config.replicas /= stages;
  config.pipeline.stages = stages;
  config.pipeline.schedule = schedule;
  config.pipeline.microbatches = microbatches;
  config.pipeline.boundary.bytes_per_token = bytes_per_token;
  config.workload.tokens = 1024;
  config.workload.steps = 100;
  return config;
}

// A mean of all parameters in each stage, every `every` steps.
OperationPlan staged_plan(const Case& config, const std::string& collective, int every) {
  OperationPlan plan;
  plan.pipeline = pipeline_plan(config.pipeline, std::nullopt, config.workload.parameters,
                                config.workload.tokens, Wire::kBf16);
  OperationRule rule = rule_of(collective, every);
  rule.payload = whole({"delta"}, Wire::kBf16);
  plan.rules = staged_rules(rule, config.pipeline.stages);
  for (OperationRule& of_stage : plan.rules)
    of_stage.payload.front().columns = plan.pipeline.columns_of(of_stage.stage);
  return plan;
}

// The sites of a matrix in pairs, as a message alone meets them.
using Measured = std::vector<std::vector<SitePair>>;

Measured measured(const std::string& name, std::size_t sites) {
  const Matrix matrix = load_matrix(name, ".");
  const std::vector<std::string>& names = matrix.sites();
  Measured pairs(sites);
  for (std::size_t i = 0; i < sites; ++i)
    for (std::size_t j = 0; j < sites; ++j)
      pairs[i].push_back(i == j ? matrix.inside() : matrix.between(names[i], names[j]));
  return pairs;
}

// 2(n − 1) rounds of a ring of chunks.
double ring_s(const Measured& net, const std::vector<int>& site_of, double bytes) {
  const auto n = static_cast<double>(site_of.size());
  return 2 * (n - 1) * written_out_round_s(site_of, [&](std::size_t from, std::size_t to) {
           return std::pair(net[from][to].rtt / 2, 8 * bytes / n / net[from][to].throughput);
         });
}

// Two replicas of four stages, eight micro-batches a step of 1 s, a ring of each stage every ten steps.
constexpr int kReplicas = 2, kStages = 4, kMicrobatches = 8, kEvery = 10;

// GPipe of M micro-batches through equal stages, a backward pass twice a forward pass. Each way is a flow
// shop of identical jobs, whose machines are workers and hops in turn: the sum of what one job takes on each,
// and M − 1 times the longest of them. The backward way begins when the last stage has all jobs. Seconds
// until `stage` of the replica has its gradients.
double gpipe_end_s(const Measured& net, const int* site_of, int stage, double hop_bytes) {
  const auto way_s = [&](int first, double pass_s) {  // from stage `first` to the last, either way
    double sum = pass_s, longest = pass_s;
    for (int from = first; from + 1 < kStages; ++from) {
      const SitePair& hop = net[as_index(site_of[from])][as_index(site_of[from + 1])];
      const double sending_s = 8 * hop_bytes / hop.throughput;
      sum += pass_s + sending_s + hop.rtt / 2;
      longest = std::max(longest, sending_s);
    }
    return sum + (kMicrobatches - 1) * longest;
  };
  const double forward_s = 1. / kStages / kMicrobatches / 3;
  return way_s(0, forward_s) + way_s(stage, 2 * forward_s);
}

// The step of straight GPipe with a ring of each stage every so many steps, written out; `rings`: one after
// another, each with its part of the bytes.
double staged_step_s(const Measured& net, const std::vector<int>& site_of, double hop_bytes,
                     double stage_bytes, int rings = 1) {
  double last_s = 0, done_s = 0;
  for (int stage = 0; stage < kStages; ++stage) {
    double ready_s = 0;
    std::vector<int> sites;
    for (int first = 0; first < kReplicas * kStages; first += kStages) {
      ready_s = std::max(ready_s, gpipe_end_s(net, &site_of[as_index(first)], stage, hop_bytes));
      sites.push_back(site_of[as_index(first + stage)]);
    }
    last_s = std::max(last_s, ready_s);
    done_s = std::max(done_s, ready_s + rings * ring_s(net, sites, stage_bytes / rings));
  }
  return last_s + (done_s - last_s) / kEvery;
}

using Cost = std::function<double(const std::vector<int>& site_of)>;

// The estimate is the cost of the order, and no order costs less.
void expect_least(const Case& config, const OptimizedOrder& order, const std::vector<int>& counts,
                  const Cost& cost, const std::string& what) {
  Case listed = config;
  listed.network.rank_order = {RankOrderSpec::Kind::kList, order.places};
  EXPECT_NEAR(order.seconds, cost(build_topology(listed).site_of()), 1e-6 * order.seconds) << what;
  const double least = least_of_all(counts, cost);
  EXPECT_NEAR(order.seconds, least, 1e-6 * least) << what;
}

class OnBothMatrices : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Placement, OnBothMatrices, testing::Values("aws-2022", "gcp-2025"),
                         [](const auto& matrix) { return matrix.param.substr(0, 3); });

TEST_P(OnBothMatrices, RingIsTheBestOfAllPermutations) {
  for (const std::vector<int>& counts :
       {std::vector<int>{1, 1, 1, 1, 1, 1, 1, 1}, {3, 3, 2}, {2, 2, 2, 2}, {1, 1, 1, 1, 1}, {4, 1, 2}})
    for (const std::int64_t parameters : {1000, 20000000, 2000000000}) {
      const Case config = placed_case(GetParam(), counts, "ring", parameters);
      const Measured net = measured(GetParam(), counts.size());
      const Cost cost = [&](const std::vector<int>& site_of) {
        return ring_s(net, site_of, 2. * static_cast<double>(parameters));
      };
      expect_least(config, optimized_order(config, {}), counts, cost, std::to_string(parameters));
    }
}

TEST_P(OnBothMatrices, StraightPipelineIsTheBestOfAllPermutations) {
  for (const std::vector<int>& counts :
       {std::vector<int>{1, 1, 1, 1, 1, 1, 1, 1}, {3, 3, 2}, {2, 2, 2, 2}, {4, 4}})
    for (const double bytes_per_token : {10., 20000.})
      for (const std::int64_t parameters : {std::int64_t{1000000}, std::int64_t{4000000000}}) {
        const Case config = staged_case(placed_case(GetParam(), counts, "ring", parameters), kStages,
                                        PipelineSchedule::kGpipe, kMicrobatches, bytes_per_token);
        const Measured net = measured(GetParam(), counts.size());
        const Cost cost = [&](const std::vector<int>& site_of) {
          return staged_step_s(net, site_of, bytes_per_token * 1024 / kMicrobatches,
                               2. * static_cast<double>(parameters) / kStages);
        };
        const OptimizedOrder order = optimized_order(config, staged_plan(config, "ring", kEvery));
        EXPECT_TRUE(order.is_of_steps);
        expect_least(config, order, counts, cost, std::to_string(bytes_per_token) + " bytes a token");
      }
}

// In so many operations of equal size, handed over at once.
OperationPlan in_operations(OperationPlan plan, std::size_t count) {
  for (OperationRule& rule : plan.rules) {
    rule.sizes.assign(count, 1);
    rule.together = true;
  }
  return plan;
}

// What suits 2000 messages of 20 kB is not what suits one of 40 MB. Gloo runs two of them at a time: 1000
// rounds of twice as much.
TEST_P(OnBothMatrices, AnAverageInManyOperationsIsPlacedByThem) {
  const std::vector<int> counts = {1, 1, 1, 1, 1, 1, 1, 1};
  const Measured net = measured(GetParam(), counts.size());
  const Case config = placed_case(GetParam(), counts, "ring", 20000000);
  OperationPlan plan;
  plan.rules = {rule_of("ring")};
  plan.rules.front().payload = whole({"delta"}, Wire::kBf16);
  const Cost of_one = [&](const std::vector<int>& site_of) { return ring_s(net, site_of, 4e7 / 2000); };
  expect_least(config, optimized_order(config, in_operations(plan, 2000)), counts, of_one, "one of 2000");

  for (const char* library : {"plain", "gloo"}) {
    Case staged = staged_case(config, kStages, PipelineSchedule::kGpipe, kMicrobatches, 10);
    staged.network.library = library;
    const int rounds = staged.network.library == "gloo" ? 1000 : 2000;
    const Cost of_steps = [&](const std::vector<int>& site_of) {
      return staged_step_s(net, site_of, 10. * 1024 / kMicrobatches, 4e7 / kStages, rounds);
    };
    expect_least(staged, optimized_order(staged, in_operations(staged_plan(staged, "ring", kEvery), 2000)),
                 counts, of_steps, library);
  }
}

// Sites in turn, so that they have different numbers of workers.
std::vector<int> spread(int workers, int sites) {
  std::vector<int> counts(as_index(sites));
  for (int i = 0; i < workers; ++i) ++counts[as_index(i * i % sites)];
  counts.erase(std::remove(counts.begin(), counts.end(), 0), counts.end());
  return counts;
}

void expect_no_worse(const Case& config, const OptimizedOrder& order, const std::string& what) {
  EXPECT_LE(order.seconds, order.blocks_s * (1 + 1e-9)) << what;
  EXPECT_LE(order.seconds, order.round_robin_s * (1 + 1e-9)) << what;
  EXPECT_TRUE(holds_all(order.places, config.workers())) << what;
}

TEST_P(OnBothMatrices, NeverWorseThanTheGivenOrders) {
  for (const int workers : {8, 12, 16, 32})
    for (const char* collective :
         {"ring", "tree", "halving-doubling", "halving-doubling-far", "recursive-doubling", "hierarchical"})
      for (const std::int64_t parameters : {1000, 100000000}) {
        const Case config = placed_case(GetParam(), spread(workers, 7), collective, parameters);
        expect_no_worse(config, optimized_order(config, {}), collective + (" of " + std::to_string(workers)));
        for (const MicrobatchRouting routing : {MicrobatchRouting::kStraight, MicrobatchRouting::kRandom}) {
          Case staged = staged_case(config, 4, PipelineSchedule::k1f1b, 8, 2000);
          staged.pipeline.routing = routing;
          const OptimizedOrder order = optimized_order(staged, staged_plan(staged, collective, 4));
          expect_no_worse(staged, order, collective + (" in stages, of " + std::to_string(workers)));
        }
      }
}

// Two sites, two replicas of two stages. Where activations dominate a replica stays at a site, where the
// all-reduce dominates a stage does.
Case two_sites(double bytes_per_token, std::int64_t parameters) {
  Case config = star_case(4, 0, 0);
  config.network.topology = hierarchical_spec({{"a", 2}, {"b", 2}}, access_section(10e9, 10e9, 0.001),
                                              access_section(100e6, 100e6, 0.08));
  config.network.rank_order.kind = RankOrderSpec::Kind::kOptimized;
  config.workload.parameters = parameters;
  return staged_case(config, 2, PipelineSchedule::k1f1b, 4, bytes_per_token);
}

TEST(Placement, ReplicasOrStagesStayTogetherWhereActivationsOrTheAllReduceDominate) {
  for (const bool activations : {true, false}) {
    const Case config = activations ? two_sites(10000, 1000) : two_sites(1, 100000000);
    EXPECT_EQ(placed_topology(config, staged_plan(config, "ring", 1)).site_of(),
              activations ? (std::vector<int>{0, 0, 1, 1}) : (std::vector<int>{0, 1, 0, 1}));
  }
}

TEST(Placement, WordsNameWhoIsWhere) {
  const Case config = two_sites(1, 1000);
  EXPECT_EQ(places_in_words(config, {0, 2, 1, 3}), "a: r0 s0, r1 s0; b: r0 s1, r1 s1");
  EXPECT_EQ(places_in_words(config, {0, 1, 2, 3}), "a: r0 s0-1; b: r1 s0-1");
  EXPECT_EQ(places_in_words(placed_case("aws-2022", {3, 1}, "ring", 1000), {0, 1, 3, 2}).substr(0, 5),
            load_matrix("aws-2022", ".").sites()[0].substr(0, 5));
  // Places that were found are taken; without them stages need the plan.
  Case found = config;
  EXPECT_THROW(placed_topology(found), std::logic_error);
  found.network.rank_order.places = {3, 1, 2, 0};
  EXPECT_EQ(placed_topology(found).site_of(), (std::vector<int>{1, 0, 1, 0}));
}

// A matrix file of four sites: A and C are near each other, B and D too, all others far.
Case two_near_pairs(const std::string& all_reduce, int at_each) {
  const std::string file = testing::TempDir() + "longhaul_near_pairs_" + all_reduce + ".json";
  Json matrix = {{"about", "a"}, {"source", "s"}, {"sites", {"A", "B", "C", "D"}}};
  matrix["inside"] = {{"rtt", "1ms"}, {"throughput", "1Gbps"}};
  for (const std::string pair : {"AB", "AC", "AD", "BC", "BD", "CD"})
    matrix["pairs"].push_back({{"between", {pair.substr(0, 1), pair.substr(1)}},
                               {"rtt", pair == "AC" || pair == "BD" ? "10ms" : "100ms"},
                               {"throughput", "200Mbps"}});
  write_text(file, matrix.dump());
  return optimized(regions_case(file, {{"A", at_each}, {"B", at_each}, {"C", at_each}, {"D", at_each}}),
                   all_reduce, 1000000);
}

// The mean over replicas of a tree all-reduce on the network of fidelity analytic.
double tree_mean_s(const Case& config) {
  OperationRule rule = rule_of("tree");
  rule.payload = whole({"delta"}, Wire::kBf16);
  double sum = 0;
  const Trace trace = make_trace({{rule}}, {1, config.replicas, 1, config.workload.parameters});
  for (const ExchangeRecord& row : walked(config, trace).exchanges) sum += row.done_s - row.start_s;
  return sum / config.replicas;
}

// Low levels inside a site, the next ones between near sites and the last one between the far ones is what a
// person would do (A, C, B, D). A member sends down one message after another, so that it is better still not
// to begin with the far one.
TEST(OptimizedOrder, TreeIsFasterThanWithItsLowLevelsInsideAndThenAmongNearSites) {
  const Case config = two_near_pairs("tree", 2);
  Case by_hand = config;
  by_hand.network.rank_order = {RankOrderSpec::Kind::kList, {0, 1, 4, 5, 2, 3, 6, 7}};
  const Topology near = build_topology(by_hand);
  EXPECT_NEAR(near.rtt_s(0, 2), 0.01, 1e-12);
  EXPECT_NEAR(near.rtt_s(0, 4), 0.1, 1e-12);
  EXPECT_LT(tree_mean_s(config), tree_mean_s(by_hand));
}

// Halving-doubling sends half of the vector between ranks 1 apart, a quarter between ranks 2 apart; in the
// far order between ranks 8 and 4 apart.
TEST(OptimizedOrder, HalvingDoublingKeepsItsLargeMessagesInsideASite) {
  const struct {
    const char* name;
    std::size_t half, quarter, eighth;
  } orders[] = {{"halving-doubling", 1, 2, 4}, {"halving-doubling-far", 8, 4, 2}};
  for (const auto& [name, half, quarter, eighth] : orders) {
    const std::vector<int> site_of = placed_topology(two_near_pairs(name, 4)).site_of();
    for (std::size_t rank = 0; rank < 16; ++rank) {
      EXPECT_EQ(site_of[rank], site_of[rank ^ half]) << name;
      EXPECT_EQ(site_of[rank], site_of[rank ^ quarter]) << name;
      EXPECT_NE(site_of[rank], site_of[rank ^ eighth]) << name;
    }
  }
}

TEST(OptimizedOrder, ServerIsAtTheSiteFromWhichAllAreSoonest) {
  const Case config =
      regions_case("aws-2022", {{"sydney", 1}, {"ireland", 1}, {"london", 1}, {"frankfurt", 1}});
  const Topology topology = placed_topology(optimized(config, "parameter-server", 1000));
  // The server has all once the farthest has sent, and each has the result one way later: the mean over the
  // four is the farthest way and a quarter of the sum of all.
  std::vector<double> mean_s;
  for (int server = 0; server < 4; ++server) {
    double sum = 0, farthest = 0;
    for (int other = 0; other < 4; ++other)
      if (other != server) {
        sum += topology.rtt_s(server, other) / 2;
        farthest = std::max(farthest, topology.rtt_s(server, other) / 2);
      }
    mean_s.push_back(farthest + sum / 4);
  }
  EXPECT_DOUBLE_EQ(mean_s[0], *std::min_element(mean_s.begin(), mean_s.end()));
}

TEST(OptimizedOrder, IsAPermutationForEveryCollectiveAndSize) {
  for (const std::string& collective : all_reduce_collectives())
    for (const int at_each : {1, 3, 5}) {
      const Case config = two_near_pairs(collective, at_each);
      EXPECT_TRUE(holds_all(with_optimized_order(config, {}).network.rank_order.places, config.replicas))
          << collective;
    }
}

// By hand: 1 s of latency and 0.1 s a byte. 100 bytes arrive after 11 s; 10 bytes behind them would arrive
// after 2 s, and wait for them; in turn they leave when those have left, after 10 s. A pass of a quarter of
// an 8 s step then ends 2 s later.
// All ways between four sites are 140 ms long but two of 10 ms, which say so by their names alone: 0 is near
// 2, and 1 near 3. A ring has two far hops at least; as written it has four. What some replicas' own links
// have goes with their ranks and is not looked at.
TEST(OptimizedOrder, SeesWhatOverridesSayOfPlaces) {
  const std::vector<std::string> names = {"sydney", "ireland", "london", "frankfurt"};
  Case config = regions_case("aws-2022", {{names[0], 1}, {names[1], 1}, {names[2], 1}, {names[3], 1}});
  const Topology plain = build_topology(config);
  for (const Link& link : plain.links()) {
    if (link.name.rfind("replica", 0) == 0) continue;
    const auto joins = [&](std::size_t one, std::size_t other) {
      return link.name.find(names[one]) != std::string::npos &&
             link.name.find(names[other]) != std::string::npos;
    };
    LinkOverride change;
    change.link = link.name;
    change.delay = joins(0, 2) || joins(1, 3) ? 0.01 : 0.14;
    config.network.overrides.push_back(change);
  }
  config.network.overrides.push_back(up_of(0, 1e3));
  const std::vector<int> site_of = placed_topology(optimized(config, "ring", 1000)).site_of();
  int far = 0;
  for (std::size_t rank = 0; rank < 4; ++rank) far += (site_of[rank] + site_of[(rank + 1) % 4]) % 2;
  EXPECT_EQ(far, 2);
}

// A method whose contributions are gathered is placed for that; of two fragments the larger one counts;
// without a plan it is the whole vector in bf16.
TEST(OptimizedOrder, IsOfWhatTheMethodSends) {
  const Case config = placed_case("aws-2022", {2, 2}, "tree", 4096);
  OperationRule gathered = rule_of("all-gather");
  gathered.kind = OperationKind::kAllGather;
  EXPECT_EQ(ordered_exchange(config, {{gathered}}), "all-gather of 4096");
  OperationRule less = rule_of("tree"), more = rule_of("tree");
  less.payload.front().columns = {{0, 1000}};
  more.payload.front().columns = {{1000, 4096}};
  EXPECT_EQ(ordered_exchange(config, {{less, more}}), "tree of 3096");
  EXPECT_EQ(ordered_exchange(config, {}), "tree of 8192");
  EXPECT_EQ(ordered_exchange(placed_case("aws-2022", {2, 2}, "ring", 4096), {{gathered}}),
            "all-gather of 4096");
  const OptimizedOrder order = optimized_order(placed_case("aws-2022", {2, 2}, "ring", 4096), {{gathered}});
  const Topology topology = build_topology(in_blocks(config));
  const SitePaths paths(topology, config.network.tcp);
  const HopCosts hops = paths.hop_costs(4096);
  EXPECT_NEAR(order.blocks_s, 3 * ring_round_s({0, 0, 1, 1}, hops), 1e-12) << "three hops of all it has";
}

// The root's half comes over one connection, and goes on over another: pieces leave one after another.
TEST(CostGraph, ADoubleTreeIsNotFasterThanItsConnections) {
  constexpr double kRate = 1e9, kBytes = 64e6;
  const Case config = star_case(8, kRate, 0.02);
  OperationRule rule = rule_of("double-tree");
  const Trace trace = make_trace({{rule}}, {1, 8, 1, static_cast<std::int64_t>(kBytes)});
  EXPECT_GE(walked(config, trace).sync_time_s(), 8 * kBytes / kRate);
}

TEST(CostGraph, MessagesOfTheSameTwoKeepTheirOrder) {
  for (const bool in_turn : {false, true}) {
    CostGraph graph;
    const int first = graph.add({0, 1, 100, 0, in_turn}, {});
    const int second = graph.add({0, 1, 10, first, in_turn}, {});
    graph.set_ends({first, second, graph.add({1, -1, 0.25}, {first, second})});
    const double second_s = in_turn ? 12 : 11;
    EXPECT_EQ(graph.ends_s({0, 0}, SitePaths({1, 0.1}), {0, 8}),
              (std::vector<double>{11, second_s, second_s + 2}));
    EXPECT_EQ(graph.size(), 3);
  }
}

// Every collective over drawn sites takes as long as in a replay of fidelity analytic, to rounding.
TEST(CostGraph, ExchangeIsWhatTheAnalyticReplayTakes) {
  const std::vector<int> counts = {3, 2, 2, 1, 4};
  RandomStream stream(5, Purpose::kPlacement);
  Case config = placed_case("aws-2022", counts, "ring", 1000);
  config.network.rank_order.kind = RankOrderSpec::Kind::kBlocks;
  const Topology blocks = build_topology(config);
  const SitePaths paths(blocks, config.network.tcp);
  for (const auto& collective : collectives())
    for (const int members : {2, 5, 8, 12}) {
      const std::string& name = collective->name();
      if (name == "send") continue;  // among targets
      if (members > 2 && (name == "pair" || name == "root" || name == "serial-pair")) continue;
      SCOPED_TRACE(name + " of " + std::to_string(members));
      std::vector<int> group = random_permutation(12, stream);
      group.resize(as_index(members));
      std::vector<int> site_of;
      for (const int worker : group) site_of.push_back(blocks.site_of()[as_index(worker)]);
      const std::int64_t bytes = 3000001;
      EventQueue clock;
      AnalyticNetwork network(config.network, blocks, 1, clock);
      const ExchangeContext context{clock, network, blocks.site_of()};
      OperationRule rule;
      rule.collective = name;
      rule.payload = whole({"vector"}, Wire::kBf16);
      RoundsRun run(context, {rule, 0, 1, group, bytes}, [](int) {});
      for (const int worker : group) run.post(worker);
      clock.run();
      ASSERT_TRUE(run.is_finished());
      double mean_s = 0, last_s = 0;
      for (const int worker : group) {
        mean_s += run.times(worker).done_s / members;
        last_s = std::max(last_s, run.times(worker).done_s);
      }
      CostGraph graph = CostGraph::of_exchange(*collective, {members, bytes, 1, site_of});
      const CostGraph::Times times = graph.times(site_of, paths);
      EXPECT_NEAR(times.last_s, last_s, 1e-6);
      EXPECT_NEAR(times.mean_s, mean_s, 1e-6);
      EXPECT_EQ(graph.size(), run.transfers());
    }
}

// One step on straight and on random paths, over measured sites, ends when it does in a replay.
TEST(CostGraph, PassesAreWhatTheAnalyticReplayTakes) {
  for (const MicrobatchRouting routing : {MicrobatchRouting::kStraight, MicrobatchRouting::kRandom})
    for (const PipelineSchedule schedule :
         {PipelineSchedule::kGpipe, PipelineSchedule::k1f1b, PipelineSchedule::kInterleaved})
      for (const bool blocks : {false, true}) {
        Case config = staged_case(placed_case("aws-2022", {3, 2, 2, 5}, "ring", 1000), 4, schedule, 8, 50000);
        config.pipeline.routing = routing;
        config.pipeline.blocks = blocks;
        config.pipeline.chunks = schedule == PipelineSchedule::kInterleaved ? 2 : 1;
        config.workload.steps = 1;
        config.network.rank_order.kind = RankOrderSpec::Kind::kRoundRobin;
        OperationPlan plan = staged_plan(config, "ring", 1);
        plan.rules.clear();
        Case in_blocks = config;
        in_blocks.network.rank_order = {};
        const SitePaths paths(build_topology(in_blocks), config.network.tcp);
        const std::vector<double> ends_s =
            StepPasses(plan.pipeline, config.replicas, config.seed, 1)
                .ends_s(build_topology(config).site_of(), paths, std::vector<double>(12, 1.));
        EXPECT_NEAR(*std::max_element(ends_s.begin(), ends_s.end()), simulated_s(walked(config, plan)), 1e-6)
            << static_cast<int>(routing) << static_cast<int>(schedule) << blocks;
      }
}

// Two trees of n − 1 links, over each of which the 239 chunks of 125 MB, 512 KiB each, go up and down: 4 ·
// 65,535 · 239 messages.
TEST(Placement, IsNotLookedForAmongMoreMessagesThanMemoryHolds) {
  const Case many = placed_case("gcp-2025", {32768, 32768}, "double-tree", 125000000);
  EXPECT_EQ(
      refused_with([&] { optimized_order(many, {}); }),
      "network.rank_order: found \"optimized\" for 65536 replicas, whose double-tree has 62651460 messages");
  EXPECT_EQ(refused_with([&] {
              optimized_order(placed_case("gcp-2025", {32768, 32768}, "ring", 1000000), {});
            }),
            "");
}

}  // namespace longhaul::placement_test
