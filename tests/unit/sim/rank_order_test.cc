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
#include <gtest/gtest.h>

#include "tests/unit/sim/replays.h"

namespace longhaul::rank_order_test {

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

}  // namespace longhaul::rank_order_test
