// Access links that are faster down than up, as homes have them: times by hand. Round trips are short, so
// that windows are open at once.
#include <gtest/gtest.h>

#include "tests/unit/sim/arrival.h"
#include "tests/unit/sim/replays.h"

namespace longhaul::asymmetric_star_test {

constexpr double kSegment = 1448, kWire = 1538, kAck = 90, kRtt = 1e-4;
constexpr double kAckShare = kAck / (2 * kWire);

// Replica i with up[i] and down[i], bit/s.
Case homes_of(const std::vector<double>& up, const std::vector<double>& down) {
  Case config = star_case(static_cast<int>(up.size()), 1e9, kRtt);
  for (std::size_t i = 0; i < up.size(); ++i) {
    config.network.overrides.push_back(up_of(static_cast<int>(i), up[i]));
    config.network.overrides.back().down = down[i];
  }
  return config;
}

double payload_bytes_per_s(double wire_rate) {
  return wire_rate / 8 * kSegment / kWire;
}

// Data x and the acknowledgements of the other direction's x share the way up: x (1 + a) = up. The way down
// is never full.
TEST(AsymmetricStar, APairIsAsFastAsTheWayUp) {
  const double up = 2e7, down = 2e8, bytes = 2e7;
  const double expected = bytes / payload_bytes_per_s(up / (1 + kAckShare)) + kRtt / 2 + 8 * kWire / down;
  const Replayed replayed = run_replay(homes_of({up, up}, {down, down}),
                                       single_exchange("pair", 2, static_cast<std::int64_t>(bytes)));
  EXPECT_NEAR(replayed.sync_time_s() / expected, 1, 1e-3);
}

// 0 → 1 is held by 0's way up of 10 Mb/s, 1 → 0 by 1's way up of 40 Mb/s, each beside the acknowledgements of
// the other: x + a y = 10, y + a x = 40. When 1 → 0 has ended, 0 → 1 has its 10 Mb/s alone.
TEST(AsymmetricStar, APairOfUnequalHomesWaitsForTheSlowerUp) {
  const double slow = 1e7, fast = 4e7, bytes = 2e7;
  const double x = (slow - kAckShare * fast) / (1 - kAckShare * kAckShare),
               y = (fast - kAckShare * slow) / (1 - kAckShare * kAckShare);
  const double first_s = bytes / payload_bytes_per_s(y);
  const double rest_s = (bytes - first_s * payload_bytes_per_s(x)) / payload_bytes_per_s(slow);
  const Replayed replayed = run_replay(homes_of({slow, fast}, {1e8, 1.5e7}),
                                       single_exchange("pair", 2, static_cast<std::int64_t>(bytes)));
  EXPECT_NEAR(replayed.sync_time_s() / (first_s + rest_s + kRtt / 2), 1, 1e-3);
}

// Everyone in the ring sends and receives in every step, so the slowest way up, beside the acknowledgements
// of what comes down, sets each of the 2 (n − 1) steps of B / n.
TEST(AsymmetricStar, ARingIsAsFastAsItsSlowestWayUp) {
  const int members = 4;
  const double slow = 5e6, bytes = 8e6, steps = 2 * (members - 1);
  const double lower = steps * bytes / members / payload_bytes_per_s(slow);
  const Replayed replayed = run_replay(homes_of({4e7, 3e7, slow, 2e7}, {2e8, 2e8, 2e8, 2e8}),
                                       single_exchange("ring", members, static_cast<std::int64_t>(bytes)));
  EXPECT_GT(replayed.sync_time_s(), lower);
  // At worst acknowledgements of 20 Mb/s, what its predecessor sends, are beside its data all the time.
  EXPECT_LT(replayed.sync_time_s(), lower / (1 - kAckShare * 3e7 / slow));
}

// One way, 100 Mb/s down to somebody with 0.5 Mb/s up: 90 bytes for two segments of 1538 must fit into that.
TEST(AsymmetricStar, AcknowledgementsOnASlowWayUpLimitWhatComesDown) {
  const double slow_up = 5e5, bytes = 2e7;
  const double arrived_s = arrival_s(homes_of({1e8, slow_up}, {1e8, 1e8}), bytes);
  EXPECT_NEAR(arrived_s / (bytes / payload_bytes_per_s(slow_up / kAckShare)), 1, 5e-3);
}

}  // namespace longhaul::asymmetric_star_test
