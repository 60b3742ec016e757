// Every collective of the registry replayed on an idle star, against the closed form that its header gives;
// and what the order of ranks does to a ring.
//
// Window effects are not switched off but out of reach: with segments of 65,483 bytes the first window of ten
// covers the path (100 Mb/s x 35 ms with its serialization), and headers and acknowledgements are 0.2 % of a
// link. Messages are whole segments, so that the last one of each takes as long as any other.
#include "tests/support/idle_star.h"

#include <gtest/gtest.h>

#include "tests/support/files.h"
#include "tests/unit/sim/replays.h"

namespace longhaul::idle_star_test {

// Seconds of one exchange of `bytes` among all.
double replayed_s(const std::string& collective, int members, std::int64_t bytes, int tensors = 1) {
  OperationRule rule = rule_of(collective);
  rule.payload.resize(static_cast<std::size_t>(tensors), rule.payload.front());
  return run_replay(open_star(members), make_trace({{rule}}, {1, members, 1, bytes / tensors})).sync_time_s();
}

double closed_form_s(const std::string& collective, int members, std::int64_t bytes, int tensors = 1) {
  return idle_star_s(collective, {members, bytes, tensors, {}}, kLatency, kBytesPerSecond);
}

// Bytes that divide into whole segments for a chunk of 1/n and for one of 1/p, p = 2^floor(log2 n).
std::int64_t whole_segments(int members) {
  return std::int64_t{kSegment} * members * (1 << floor_log2(members)) * (members < 8 ? 4 : 1);
}

void expect_exact(const std::string& name, int members, std::int64_t bytes, int tensors = 1) {
  EXPECT_NEAR(replayed_s(name, members, bytes, tensors) / closed_form_s(name, members, bytes, tensors), 1,
              3e-3)
      << name << " of " << members;
}

TEST(IdleStar, ClosedFormsThatAreExact) {
  for (const std::string name : {"ring", "halving-doubling", "direct", "parameter-server", "all-gather",
                                 "reduce-scatter", "root", "send", "pairwise"})
    for (const int members : {2, 3, 4, 5, 8, 11, 16, 21})
      expect_exact(name, members, whole_segments(members));
}

// Folding a surplus in must not be slowed down by members that have none.
TEST(IdleStar, HalvingDoublingIsExactForEveryNumberOfMembers) {
  for (int members = 2; members <= 33; ++members)
    expect_exact("halving-doubling", members, 4 * std::int64_t{kSegment} * (1 << floor_log2(members)));
}

TEST(IdleStar, TreeIsExactForPowersOfTwoAndBoundedOtherwise) {
  const std::int64_t bytes = 20 * kSegment;
  for (const int members : {2, 4, 8, 16, 32}) expect_exact("tree", members, bytes);
  for (const int members : {3, 5, 6, 7, 11, 23, 33})
    EXPECT_LT(replayed_s("tree", members, bytes), 1.003 * closed_form_s("tree", members, bytes)) << members;
}

TEST(IdleStar, PairsAndRootsOfTwoTensors) {
  const std::int64_t bytes = 40 * kSegment;
  expect_exact("pair", 2, bytes);
  for (const int members : {3, 8}) expect_exact("pair", members, whole_segments(members));  // rings
  for (const int members : {2, 4}) expect_exact("root", members, bytes, 2);
}

// Above, the bound that the header proves. Below, what cannot be beaten: the vector's two halves up and down
// a tree of whole chunks, and the bytes that every member must receive.
TEST(IdleStar, DoubleTreeStaysBelowItsBound) {
  double largest = 0;
  for (const std::int64_t bytes : {std::int64_t{300000}, std::int64_t{5000000}, std::int64_t{200000000}})
    for (int members = 2; members <= 33; ++members) {
      const double measured = replayed_s("double-tree", members, bytes);
      const double bound = closed_form_s("double-tree", members, bytes);
      EXPECT_LT(measured, 1.003 * bound) << members << ", " << bytes;
      EXPECT_GT(measured, 2. * (members - 1) / members * static_cast<double>(bytes) / kBytesPerSecond);
      largest = std::max(largest, measured / bound);
    }
  EXPECT_GT(largest, 0.6) << "a bound far above everything says nothing";
}

// Where bandwidth decides, twice the vector over the rate, and the filling of the pipelines.
TEST(IdleStar, DoubleTreeTakesTwiceTheVectorWhereBandwidthDecides) {
  const double vector_s = 2e8 / kBytesPerSecond;
  EXPECT_NEAR(replayed_s("double-tree", 2, 200000000) / vector_s, 1, 0.01);
  for (int members = 4; members <= 33; ++members)
    EXPECT_LE(replayed_s("double-tree", members, 200000000) / vector_s, 2.1) << members;
}

// Regions whose sites are `outside_s` apart, with links as above and unlimited trunks.
Case sites_case(const std::vector<int>& sizes, double outside_s, const std::string& file) {
  Json matrix = {{"about", "test"}, {"source", "test"}, {"sites", Json::array()}, {"pairs", Json::array()}};
  matrix["inside"] = {{"rtt", "30ms"}, {"throughput", "1000Gbps"}};
  SiteCounts placement;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    placement.push_back({"s" + std::to_string(i), sizes[i]});
    matrix["sites"].push_back(placement[i].first);
    for (std::size_t j = 0; j < i; ++j)
      matrix["pairs"].push_back({{"between", {placement[j].first, placement[i].first}},
                                 {"rtt", std::to_string(1e3 * outside_s) + "ms"},
                                 {"throughput", "1000Gbps"}});
  }
  write_text(file, matrix.dump());
  Case config = open_star(0);
  for (const int size : sizes) config.replicas += size;
  config.network.topology = regions_case(file, placement).network.topology;
  config.network.topology.options["rate"] = bps(kRate);
  return config;
}

double hierarchical_s(const std::vector<int>& sizes, double outside_s, std::int64_t bytes) {
  const TemporaryFolder folder;
  const Case config = sites_case(sizes, outside_s, folder.file("sites.json"));
  return run_replay(config, make_trace({{rule_of("hierarchical")}}, {1, config.replicas, 1, bytes}))
      .sync_time_s();
}

double hierarchical_closed_form_s(const std::vector<int>& sizes, std::int64_t bytes) {
  GroupExchange exchange{0, bytes, 1, {}};
  for (std::size_t site = 0; site < sizes.size(); ++site)
    for (int i = 0; i < sizes[site]; ++i, ++exchange.members)
      exchange.site_of.push_back(static_cast<int>(site));
  return idle_star_s("hierarchical", exchange, kLatency, kBytesPerSecond);
}

// Sites as far from each other as replicas of one site: a star.
TEST(IdleStar, HierarchicalFollowsItsClosedForm) {
  const std::int64_t bytes = 60 * kSegment;
  for (const auto& sizes : {std::vector<int>{2, 2}, {3, 3, 3}, {4, 4, 4, 4}, {1, 1, 1}, {5}})
    EXPECT_NEAR(hierarchical_s(sizes, kRtt, bytes) / hierarchical_closed_form_s(sizes, bytes), 1, 3e-3)
        << sizes.size() << " sites of " << sizes[0];
  for (const auto& sizes : {std::vector<int>{1, 5}, {4, 2, 1}, {6, 1, 5}, {1, 2, 3, 4}})
    EXPECT_LT(hierarchical_s(sizes, kRtt, bytes), 1.003 * hierarchical_closed_form_s(sizes, bytes));
}

// Four sites of three, 30 ms inside and 34 ms between (within the first window): whole vectors from two to
// one and back, and six rounds of a ring of quarters.
TEST(IdleStar, OnlyTheRingOfAHierarchicalCrossesTheTrunks) {
  const std::int64_t bytes = 60 * kSegment;
  const double vector_s = static_cast<double>(bytes) / kBytesPerSecond;
  const double expected = 2 * (kLatency + 2 * vector_s) + 6 * (kLatency + 0.002 + vector_s / 4);
  EXPECT_NEAR(hierarchical_s({3, 3, 3, 3}, 0.034, bytes) / expected, 1, 3e-3);
}

// What the order of ranks does to a ring between two far sites, against the closed form.
//
// Chunks of 100 bytes, links so fast that only latency counts, and windows that hold all chunks on their way.
// A member is done when its 2(N − 1)-th chunk has arrived, and that chunk came over the 2(N − 1) hops that
// end at it: the two laps of the ring less two hops. Over all members every hop is in as many of these sums,
// so that the mean is 2(N − 1)/N · (length of the ring), and the last one is done after two laps less the two
// neighbouring hops that are shortest together.
//
// Two sites of m replicas, one-way l inside and L between them, N = 2m. In blocks the ring is 2 L + (N − 2) l
// long: mean 2(N − 1)/N · (2 L + (N − 2) l), last 4 L + 2 (N − 3) l. In round robin every hop is between the
// sites: 2(N − 1) L, mean and last. For L far above l that is N/2 times the mean in blocks, (N − 1)/2 times
// the last.
constexpr double kInside = 0.0005, kBetween = 0.04;  // one way, s
constexpr std::int64_t kChunk = 100;                 // bytes: a first window holds 144

Case two_far_sites(int at_each, RankOrderSpec order) {
  Case config = star_case(2 * at_each, 0, 0);
  config.network.topology =
      hierarchical_spec({{"a", at_each}, {"b", at_each}}, access_section(100e9, 100e9, 2 * kInside),
                        access_section(100e9, 100e9, 2 * kBetween));
  config.network.rank_order = std::move(order);
  return config;
}

struct SyncTimes {
  double mean = 0, last = 0;
};

SyncTimes ring_times(const Case& config) {
  const Replayed replayed =
      run_replay(config, single_exchange("ring", config.replicas, config.replicas * kChunk));
  SyncTimes times;
  for (const ExchangeRecord& row : replayed.exchanges)
    times.mean += (row.done_s - row.start_s) / config.replicas;
  times.last = replayed.sync_time_s();
  return times;
}

class RingBetweenTwoSites : public testing::TestWithParam<int> {};

TEST_P(RingBetweenTwoSites, InBlocksCrossesTwiceALap) {
  const int n = 2 * GetParam();
  const SyncTimes times = ring_times(two_far_sites(GetParam(), {}));
  EXPECT_NEAR(times.mean, 2. * (n - 1) / n * (2 * kBetween + (n - 2) * kInside), 1e-3 * times.mean);
  EXPECT_NEAR(times.last, 4 * kBetween + 2 * (n - 3) * kInside, 1e-3 * times.last);
}

TEST_P(RingBetweenTwoSites, InRoundRobinCrossesAtEveryHop) {
  const int n = 2 * GetParam();
  const SyncTimes times = ring_times(two_far_sites(GetParam(), {RankOrderSpec::Kind::kRoundRobin, {}}));
  EXPECT_NEAR(times.mean, 2 * (n - 1) * kBetween, 1e-3 * times.mean);
  EXPECT_NEAR(times.last, 2 * (n - 1) * kBetween, 1e-3 * times.last);
}

INSTANTIATE_TEST_SUITE_P(Sizes, RingBetweenTwoSites, testing::Values(3, 4, 16));

}  // namespace longhaul::idle_star_test
