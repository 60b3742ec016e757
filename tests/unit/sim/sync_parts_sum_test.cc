// The parts of every replica's synchronization add up to it: on random stars, collectives, queues, step
// times.
#include <gtest/gtest.h>

#include <random>

#include "net/collectives/collective.h"
#include "tests/unit/replay/breakdown.h"
#include "tests/unit/sim/replays.h"

namespace longhaul::sync_parts_sum_test {

class Draws {
 public:
  explicit Draws(std::uint64_t seed) : random_(seed) {}

  int pick(int from, int to) { return std::uniform_int_distribution<int>(from, to)(random_); }
  bool flip() { return pick(0, 1) == 1; }
  double log_between(double low, double high) {
    return low * std::pow(high / low, std::uniform_real_distribution<double>(0, 1)(random_));
  }
  template <typename T>
  const T& one_of(const std::vector<T>& all) {
    return all[static_cast<std::size_t>(pick(0, static_cast<int>(all.size()) - 1))];
  }

 private:
  std::mt19937_64 random_;
};

Case draw_case(Draws& draws) {
  Case config = star_case(draws.pick(2, 9), draws.log_between(2e7, 5e8), draws.log_between(1e-3, 0.2));
  TcpSpec& tcp = config.network.tcp;
  tcp.queue = draws.one_of<std::string>({"host", "fq_codel"});
  tcp.congestion_control = draws.one_of<std::string>({"cubic", "reno"});
  tcp.connections = draws.pick(1, 4);
  tcp.ecn = tcp.queue == "fq_codel" && draws.flip();
  if (draws.pick(0, 3) == 0) tcp.loss = 1e-4;
  if (draws.pick(0, 3) == 0) tcp.window = draws.log_between(2e4, 2e6);
  config.seed = static_cast<std::uint64_t>(draws.pick(1, 1000));
  config.network.barrier = draws.pick(0, 3) == 0;
  config.workload.step_time.kind = StepTime::Kind::kLognormal;
  config.workload.step_time.mu = std::log(0.3);
  config.workload.step_time.sigma = draws.flip() ? 1 : 0;
  for (int replica = 0; draws.flip() && replica < config.replicas; replica += 2) {
    config.network.overrides.push_back(up_of(replica, draws.log_between(1e7, 1e8)));
    config.network.overrides.back().delay = draws.log_between(1e-3, 0.05);
  }
  return config;
}

OperationPlan draw_plan(Draws& draws) {
  std::vector<std::string> collectives = {"pair", "root", "serial"};
  for (const std::string& name : all_reduce_collectives())
    if (!find_collective(name).needs_sites()) collectives.push_back(name);
  OperationRule outer = rule_of(draws.one_of(collectives), draws.pick(1, 2));
  if (outer.collective == "pair" || outer.collective == "root" || outer.collective == "serial") {
    outer.grouping = Grouping::kRandom;
    outer.group_size = 2;
    outer.payload = whole({"delta", "phi"}, Wire::kInt8);
  } else if (draws.flip()) {
    outer.overlap_backward = 0.5;
    outer.buckets = draws.pick(2, 4);
  }
  OperationPlan plan{{outer}};
  if (draws.flip()) {
    OperationRule ahead = rule_of("ring", outer.every);
    ahead.name = "ahead";
    ahead.overlap_steps = 1;
    plan.rules.push_back(ahead);
  }
  return plan;
}

// Sums to 1e-9 of all rows; the seconds of congestion and of sharing in them.
std::pair<double, double> expect_sums(const Replayed& replayed, const std::string& what) {
  const std::vector<BreakdownRow> rows = breakdown_of(replayed);
  EXPECT_EQ(rows.size(), replayed.exchanges.size()) << what;
  std::pair<double, double> seconds{0, 0};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const ExchangeRecord& times = replayed.exchanges[i];
    EXPECT_EQ(rows[i].replica, times.replica);
    EXPECT_NEAR(rows[i].total_s(), times.done_s - times.start_s, 1e-9)
        << what << ", step " << times.step << ", replica " << times.replica << ", " << times.exchange;
    for (const auto& [part, part_s] : rows[i].parts) EXPECT_GE(part_s, -2e-9) << what << ' ' << part;
    seconds.first += rows[i].of("congestion");
    seconds.second += rows[i].of("sharing");
  }
  return seconds;
}

TEST(SyncPartsSum, IsTheSyncTimeWhateverTheNetwork) {
  double shared_s = 0, congested_s = 0;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    Draws draws(seed);
    const Case config = draw_case(draws);
    const OperationPlan plan = draw_plan(draws);
    const auto parameters = static_cast<std::int64_t>(draws.log_between(1e3, 5e6));
    const Trace trace = make_trace(plan, {config.seed, config.replicas, 5, 2 * parameters});
    const std::string what = "seed " + std::to_string(seed) + ": " + plan.rules[0].collective + " of " +
                             std::to_string(config.replicas) + ", queue " + config.network.tcp.queue;
    const auto [congestion_s, sharing_s] = expect_sums(run_replay(config, trace), what);
    if (config.network.tcp.queue == "host" && config.network.tcp.loss == 0) {
      EXPECT_EQ(congestion_s, 0) << what;
    }
    congested_s += congestion_s;
    shared_s += sharing_s;
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(congested_s, 1);
  EXPECT_GT(shared_s, 1);
}

TEST(SyncPartsSum, OfAnalyticToo) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Draws draws(seed);
    Case config = draw_case(draws);
    config.network.fidelity = "analytic";
    const OperationPlan plan = draw_plan(draws);
    const Trace trace = make_trace(plan, {config.seed, config.replicas, 5, 200000});
    const auto [congestion_s, sharing_s] =
        expect_sums(run_replay(config, trace), "seed " + std::to_string(seed));
    EXPECT_EQ(congestion_s + sharing_s, 0) << "messages do not know of each other";
  }
}

}  // namespace longhaul::sync_parts_sum_test
