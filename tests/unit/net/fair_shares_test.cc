// Shares kept up to date against the slow reference, max_min_rates() of all flows, over random networks; and
// the reference on systems of a few flows, solved by hand.
#include "net/sharing/fair_shares.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/support/max_min_rates.h"

namespace longhaul::fair_shares_test {

using Links = std::vector<LinkDirection>;

struct RandomNetwork {
  std::vector<double> capacity;
  std::vector<Links> data, acks;
  std::vector<Flow> flows;
};

// Full-duplex links with different rates each way; paths of one to four of them, as through trunks. In half
// of the networks all flows weigh the same (EqualFilling), and in half of those no flow has a cap.
RandomNetwork draw(std::mt19937_64& random) {
  const auto pick = [&](int from, int to) { return std::uniform_int_distribution<int>(from, to)(random); };
  std::uniform_real_distribution<double> rate(1, 10);
  RandomNetwork network;
  const int links = pick(4, 16), flows = pick(1, 24);
  for (int i = 0; i < 2 * links; ++i) network.capacity.push_back(pick(0, 1) ? 5 : rate(random));
  for (int i = 0; i < flows; ++i) {
    Links order(static_cast<std::size_t>(links)), path, back;
    for (int number = 0; number < links; ++number) order[static_cast<std::size_t>(number)] = number;
    std::shuffle(order.begin(), order.end(), random);
    order.resize(static_cast<std::size_t>(pick(1, 4)));
    for (const int number : order) path.push_back(2 * number + pick(0, 1));
    for (auto direction = path.rbegin(); direction != path.rend(); ++direction)
      back.push_back(*direction ^ 1);
    network.data.push_back(path);
    network.acks.push_back(back);
  }
  const int equal = pick(1, 8);  // more than 4: weights differ
  const bool has_caps = pick(0, 1) != 0;
  for (std::size_t i = 0; i < network.data.size(); ++i)
    network.flows.push_back({&network.data[i], &network.acks[i],
                             static_cast<double>(equal <= 4 ? equal : pick(1, 4)),
                             has_caps && pick(0, 2) == 0 ? rate(random) : kUnlimited});
  return network;
}

void expect_max_min(const RandomNetwork& network, double ack_share, const std::vector<bool>& is_sending,
                    FairShares& shares) {
  shares.solve();
  std::vector<Flow> sending;
  for (std::size_t i = 0; i < is_sending.size(); ++i)
    if (is_sending[i]) sending.push_back(network.flows[i]);
  const std::vector<double> expected = max_min_rates(network.capacity, sending, ack_share);
  for (std::size_t i = 0, next = 0; i < is_sending.size(); ++i)
    if (is_sending[i]) {
      const double rate = expected[next++];
      ASSERT_NEAR(shares.rate(static_cast<int>(i)), rate, 1e-9 * rate) << "flow " << i;
    }
}

// Flows come and go. Then links get other rates, none at all among them, and flows other caps, all the while.
TEST(FairShares, AreThoseOfAllFlowsSolvedTogether) {
  std::uniform_real_distribution<double> part(0, 1);
  for (const bool rates_change : {false, true}) {
    std::mt19937_64 random(rates_change ? 2 : 1);
    for (int trial = 0; trial < 400; ++trial) {
      SCOPED_TRACE(trial);
      RandomNetwork network = draw(random);
      const double ack_share = trial % 3 == 0 ? 0 : 0.0293;
      FairShares shares(network.capacity, ack_share);
      for (const Flow& flow : network.flows) shares.add(flow);
      std::vector<bool> is_sending(network.flows.size());
      for (int change = 0; change < 20; ++change) {
        for (std::size_t link = 0; link < network.capacity.size(); ++link)
          if (rates_change && part(random) < 0.1) {
            network.capacity[link] = part(random) < 0.2 ? 0 : 1 + 9 * part(random);
            shares.set_capacity(static_cast<LinkDirection>(link), network.capacity[link]);
          }
        for (std::size_t i = 0; i < is_sending.size(); ++i) {
          if (rates_change && part(random) < 0.1) {
            network.flows[i].cap = part(random) < 0.2 ? 0 : 1 + 9 * part(random);
            shares.set_cap(static_cast<int>(i), network.flows[i].cap);
          }
          if (part(random) < 0.25) {
            is_sending[i] = !is_sending[i];
            is_sending[i] ? shares.start(static_cast<int>(i)) : shares.stop(static_cast<int>(i));
          }
        }
        expect_max_min(network, ack_share, is_sending, shares);
      }
    }
  }
}

// Two stars of their own: what happens in one is not reported for the other.
TEST(FairShares, ReportTheFlowsThatAChangeTouches) {
  const Links first = {0}, second = {2};
  FairShares shares({1, 1, 1, 1}, 0);
  shares.add({&first});
  shares.add({&second});
  shares.add({&first});
  shares.start(0);
  shares.start(1);
  EXPECT_EQ(shares.solve(), (std::vector<int>{0, 1}));
  shares.start(2);
  EXPECT_EQ(shares.solve(), (std::vector<int>{0, 2}));
  EXPECT_DOUBLE_EQ(shares.rate(0), 0.5);
  EXPECT_DOUBLE_EQ(shares.rate(1), 1);
}

TEST(MaxMin, IsWhatIsSolvedByHand) {
  const Links first = {0}, second = {1}, both = {0, 1};
  const double up = (20 - 0.03 * 200) / (1 - 0.03 * 0.03);
  const struct {
    std::vector<double> capacity;
    std::vector<Flow> flows;
    double ack_share;
    std::vector<double> rates;
    bool is_exact;
  } solved[] = {
      // The long flow crosses both links of 1, a short one each: all get 1/2. Capping the first short flow at
      // 0.2 leaves the long one held by the other link.
      {{1, 1}, {{&both}, {&first}, {&second}}, 0, {0.5, 0.5, 0.5}, true},
      {{1, 1}, {{&both}, {&first, nullptr, 1, 0.2}, {&second}}, 0, {0.5, 0.2, 0.5}, true},
      // Bertsekas and Gallager's example in spirit: links of 1 and 3; three flows on the first get 1/3, the
      // flow alone on the second takes what is left.
      {{1, 3}, {{&first}, {&first}, {&both}, {&second}}, 0, {1. / 3, 1. / 3, 1. / 3, 3 - 1. / 3}, true},
      // Four connections weigh four times as much as one.
      {{10}, {{&first, nullptr, 4}, {&first, nullptr, 1}}, 0, {8, 2}, true},
      // Links without a limit do not limit.
      {{kUnlimited, 7}, {{&both}}, 0, {7}, true},
      // Acknowledgements take their part of the way back. Both directions busy: x + a·x = 1, so x = 1 / (1 +
      // a). One direction alone keeps the whole link.
      {{1, 1}, {{&first, &second}, {&second, &first}}, 0.03, {1 / 1.03, 1 / 1.03}, false},
      {{1, 1}, {{&first, &second}}, 0.03, {1}, true},
      // An uplink of 20 and a downlink of 200: d = 200 − a·u, u = 20 − a·d.
      {{20, 200}, {{&first, &second}, {&second, &first}}, 0.03, {up, 200 - 0.03 * up}, false}};
  for (const auto& [capacity, flows, ack_share, rates, is_exact] : solved) {
    SCOPED_TRACE("flows " + std::to_string(flows.size()) + ", acknowledgements " + std::to_string(ack_share));
    const std::vector<double> found = max_min_rates(capacity, flows, ack_share);
    for (std::size_t i = 0; i < rates.size(); ++i)
      if (is_exact)
        EXPECT_DOUBLE_EQ(found[i], rates[i]) << i;
      else
        EXPECT_NEAR(found[i], rates[i], 1e-9 * rates[i]) << i;
  }
}

}  // namespace longhaul::fair_shares_test
