// The paper's latency model against what can be worked out by hand, in closed form, or by integration. And an
// all-to-all of hidden units: what each replica sends is what becomes another's, step by step, and a pair
// takes the time of its own parts. How messages are cut, and what a sliced program takes; that it still adds
// everything up once: tests/unit/net/collectives_test.cc.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <set>

#include "core/base/index.h"
#include "core/base/random.h"
#include "core/plan/hidden_units.h"
#include "net/collectives/collective.h"
#include "net/collectives/slices.h"
#include "net/tcp/framing.h"
#include "net/topologies/registry.h"
#include "replay/exchange/rounds_run.h"
#include "replay/network/analytic_network.h"
#include "replay/network/clock.h"
#include "replay/network/message_costs.h"
#include "replay/network/network.h"
#include "replay/predict/estimate.h"
#include "tests/support/idle_star.h"
#include "tests/support/said.h"
#include "tests/unit/replay/replayed.h"

namespace longhaul::analytic_test {

double sigma_of(double std_over_mean) {
  return std::sqrt(std::log1p(std_over_mean * std_over_mean));
}

// E[T_k] in units of the mean message time, T_0 = 0, T_{k+1} = max(T_k + t, T_k' + t'): the reduce of a
// complete binary tree of k levels, by integration on a grid.
double expected_levels(double std_over_mean, int levels) {
  constexpr int kPoints = 3000;
  constexpr double kWidth = 0.01;
  const double sigma = sigma_of(std_over_mean), mu = -sigma * sigma / 2;
  const auto below = [&](double t) {
    return t <= 0 ? 0 : 0.5 * std::erfc(-(std::log(t) - mu) / sigma / std::sqrt(2.));
  };
  std::vector<double> message, level(kPoints);
  for (int i = 0; i < kPoints; ++i) message.push_back(below((i + 0.5) * kWidth) - below((i - 0.5) * kWidth));
  level[0] = 1;
  double expected = 0;
  for (int k = 0; k < levels; ++k) {
    std::vector<double> sum(kPoints);
    for (int i = 0; i < kPoints; ++i)
      for (int j = 0; level[i] > 1e-15 && i + j < kPoints; ++j) sum[i + j] += level[i] * message[j];
    double cumulative = 0, before = 0;
    expected = 0;
    for (int i = 0; i < kPoints; ++i) {
      cumulative += sum[i];
      level[i] = cumulative * cumulative - before;  // both are below
      before = cumulative * cumulative;
      expected += level[i] * i * kWidth;
    }
  }
  return expected;
}

// A pair waits for the slower of two messages: (1 + erf(σ/2)) · mean. Reduce and broadcast of a tree of four
// have the same law: each ends with the slowest way between root and leaf, of two levels.
TEST(Analytic, PairsAndTreesTakeTheirSlowestWay) {
  constexpr int kSteps = 20000;
  const auto mean_of_last_s = [](const std::string& collective, int members, double message_s) {
    std::map<int, double> last_s;  // by step
    for (const ExchangeRecord& row : walked(drawn_case(members, message_s, message_s / 2),
                                            single_exchange(collective, members, 1000, kSteps))
                                         .exchanges)
      last_s[row.step] = std::max(last_s[row.step], row.done_s - row.start_s);
    double total_s = 0;
    for (const auto& [step, seconds] : last_s) total_s += seconds;
    return total_s / kSteps;
  };
  const double pair_s = 2 * (1 + std::erf(sigma_of(0.5) / 2)), tree_s = 2 * expected_levels(0.5, 2);
  EXPECT_NEAR(mean_of_last_s("serial", 2, 2), pair_s, 0.015 * pair_s);
  EXPECT_NEAR(pair_s, 2 * expected_levels(0.5, 1), 0.002 * pair_s) << "the integration agrees";
  EXPECT_NEAR(mean_of_last_s("leaf-tree", 4, 1), tree_s, 0.015 * tree_s);
}

TEST(Analytic, ConstantTimesAddUpOverTheRounds) {
  const auto messages = [](const std::string& collective, int members) {
    const Trace trace = single_exchange(collective, members, 4000);
    return walked(drawn_case(members, 0.25, 0), trace).sync_time_s() / 0.25;
  };
  EXPECT_DOUBLE_EQ(messages("ring", 5), 2 * 4);
  EXPECT_DOUBLE_EQ(messages("direct", 6), 2);
  EXPECT_DOUBLE_EQ(messages("pair", 2), 1);
  for (const char* name : {"tree", "leaf-tree", "heap-tree", "halving-doubling"})
    EXPECT_DOUBLE_EQ(messages(name, 8), 2 * 3) << name;
  EXPECT_DOUBLE_EQ(messages("recursive-doubling", 8), 3);
  EXPECT_DOUBLE_EQ(messages("leaf-tree", 1024), 2 * 10);
  EXPECT_DOUBLE_EQ(messages("heap-tree", 7), 2 * 2);
}

TEST(Analytic, FreeCommunicationLeavesOnlyTheBarrier) {
  Case config = drawn_case(3, 0, 0);
  config.workload.step_time.kind = StepTime::Kind::kMeasured;
  Trace trace = single_exchange("ring", 3, 3000, 2);
  trace.measured_s = {{1, 2, 4}, {5, 1, 1}};
  const double ready_s[] = {4 + 5, 4 + 1, 4 + 1};
  const Replayed replayed = walked(config, trace);
  for (int replica = 0; replica < 3; ++replica) expect_row(replayed, 2, replica, ready_s[replica], 9, 9);
}

const double kRate = 8e6, kLatency = 0.05, kBytesPerSecond = kRate * payload_share(1448) / 8;

// Without drawn times: one-way delay and bytes at the payload's rate, each message as if alone.
TEST(Analytic, WithoutADrawAMessageTakesLatencyAndTransmission) {
  for (const std::string name : {"ring", "pair", "halving-doubling", "halving-doubling-far",
                                 "recursive-doubling", "tree", "pairwise", "bruck", "all-gather-doubling"}) {
    const int members = name == "pair" ? 2 : 4;
    const Trace trace = single_exchange(name, members, 400000);
    const double expected = idle_star_s(name, {members, 400000, 1}, kLatency, kBytesPerSecond);
    EXPECT_NEAR(walked(mesh_case(members, kRate, 2 * kLatency), trace).sync_time_s(), expected, 1e-6) << name;
    EXPECT_NEAR(walked(star_case(members, kRate, 2 * kLatency), trace).sync_time_s(), expected, 1e-6) << name;
  }
  const Replayed shared = walked(star_case(5, kRate, 0), single_exchange("parameter-server", 5, 1000000));
  EXPECT_NEAR(shared.sync_time_s(), 2 * 1e6 / kBytesPerSecond, 1e-6) << "four at once as long as one";
}

// Step of 1 s, messages of 5 s, three replicas: the second rule begins when the first is done. A replica that
// posts an overlapped exchange at step 1 and needs it at step 2 is held up there if it is late.
TEST(Analytic, BlockingExchangesFollowEachOtherAndOverlappedOnesAreAwaited) {
  OperationRule first = rule_of("ring"), second = rule_of("direct"), ahead = rule_of("pair", 1, 2);
  first.name = "first";
  second.name = "second";
  ahead.overlap_steps = 1;
  const Replayed blocking = walked(drawn_case(3, 5, 0), make_trace({{first, second}}, {1, 3, 1, 3000}));
  EXPECT_DOUBLE_EQ(blocking.row(1, 0, "first").done_s, 1 + 4 * 5);
  EXPECT_DOUBLE_EQ(blocking.row(1, 0, "second").ready_s, 21);
  EXPECT_DOUBLE_EQ(blocking.row(1, 0, "second").done_s, 21 + 2 * 5);
  EXPECT_DOUBLE_EQ(simulated_s(blocking), 31);
  const Replayed overlapped = walked(drawn_case(2, 5, 0), make_trace({{ahead}}, {1, 2, 2, 1000}));
  ASSERT_EQ(overlapped.exchanges.size(), 2u);
  expect_row(overlapped, 1, 0, 1, 1, 6);
  EXPECT_DOUBLE_EQ(overlapped.row(1, 0).awaited_s, 2) << "after its second step";
  EXPECT_DOUBLE_EQ(simulated_s(overlapped), 6) << "its second step was over at 2";
}

// Steps of 12 s whose second half releases three buckets, after 8, 10 and 12 s; a bucket takes two messages.
TEST(Analytic, BucketsGoWhenTheBackwardPassReleasesThem) {
  OperationRule rule = rule_of("direct");
  rule.overlap_backward = 0.5;
  rule.buckets = 3;
  const auto done_s = [&](double message_s) {
    Case config = drawn_case(2, message_s, 0);
    config.workload.step_time.seconds = 12;
    const Replayed replayed = walked(config, make_trace({{rule}}, {1, 2, 2, 3000}));
    const ExchangeRecord &first = replayed.row(1, 0), &second = replayed.row(2, 0);
    EXPECT_DOUBLE_EQ(first.ready_s, 12);
    EXPECT_DOUBLE_EQ(second.done_s, 2 * first.done_s) << "the second step is as the first one";
    EXPECT_EQ(first.bytes, 3000) << "half of each bucket, twice";
    EXPECT_EQ(replayed.report["transfers"], 2 * 3 * 4);
    const Cells totals = rows_of(replayed, "replicas.csv")[0];
    EXPECT_EQ(at(totals, {1, 4}), (Cells{"24", "6000"})) << "computed, sent";
    EXPECT_DOUBLE_EQ(std::stod(totals[2]), 2 * (first.done_s - 12)) << "what overlaps is no idle time";
    return first.done_s;
  };
  EXPECT_DOUBLE_EQ(done_s(0.5), 12 + 1) << "the others are done before";
  EXPECT_DOUBLE_EQ(done_s(3), 8 + 3 * 6) << "one after another";
}

// Among three, 0 folds its 3 MB into 1 (3 s at 1 MB/s); then 1 and 2 exchange halves twice, and 2 sends at a
// tenth of the rate (15 s); then 0 gets the sum. What 2 has to send waits for 1 to be in its round.
TEST(Analytic, BlockingRoundsWaitForTheReceiver) {
  Case config = star_case(3, 8e6, 0);
  config.network.overrides = {up_of(2, 8e5)};
  const Replayed replayed = walked(config, single_exchange("halving-doubling", 3, 3000000));
  EXPECT_NEAR(replayed.sync_time_s(), (3 + 15 + 15 + 3) / payload_share(1448), 1e-6);
}

TEST(Analytic, SlowReplicasAndOverriddenLinksCount) {
  Case config = star_case(2, 8e6, 0.1);
  config.workload.step_time_factors = {1, 3};
  const auto sync_s = [&] { return walked(config, single_exchange("pair", 2, 1000000)); };
  EXPECT_DOUBLE_EQ(sync_s().row(1, 0).start_s, 3);
  config.network.overrides = {up_of(1, 4e6)};
  config.network.overrides[0].delay = 0.2;
  EXPECT_NEAR(sync_s().row(1, 1).done_s, 3 + 0.225 + 1e6 / kBytesPerSecond, 1e-6);
  EXPECT_NEAR(sync_s().row(1, 0).done_s, 3 + 0.225 + 2e6 / kBytesPerSecond, 1e-6);
  const Replayed ring = walked(drawn_case(64, 1, 0), single_exchange("ring", 64, 64000));
  EXPECT_EQ(rows_of(ring, "links.csv").size(), 2 * 64u) << "of a mesh the links that are used, both ways";
}

// A slow reference for one exchange on the analytic network, without a clock and without events: when a
// member begins a round follows from its own times and those of the messages that it waits for, by maximum
// and sum. Pieces leave one after another, but where messages draw their times.
class WalkedTimes {
 public:
  // `posted_ns`: by member, from when on it may send and receive.
  WalkedTimes(const Collective& collective, const GroupExchange& exchange, const MessageKey& name,
              MessageCosts& costs, const std::vector<std::int64_t>& posted_ns, bool draws)
      : collective_(collective),
        exchange_(exchange),
        name_(name),
        costs_(costs),
        posted_ns_(posted_ns),
        is_in_turn_(!draws && collective.pieces(exchange) > 1) {}

  std::int64_t done_ns(int member) { return begin_ns(member, rounds_); }

 private:
  Round round_of(int member, int index) const {
    const Round round = collective_.round(exchange_, member, index);
    return collective_.joins_parts() ? joined(round) : round;
  }

  std::int64_t begin_ns(int member, int round) {
    if (round == 0) return posted_ns_[as_index(member)];
    const auto known = begins_ns_.find({member, round});
    if (known != begins_ns_.end()) return known->second;
    std::int64_t now_ns = begin_ns(member, round - 1);
    std::map<int, int> received, sent;  // messages, by peer
    for (int before = 0; before < round; ++before) {
      const Round messages = round_of(member, before);
      const auto wait_for = [&](int from, int to, int which) {
        if (before == round - 1) now_ns = std::max(now_ns, arrival_ns(from, to, which));
      };
      for (const Message& message : messages.receives)
        wait_for(message.peer, member, received[message.peer]++);
      if (!collective_.awaits_delivery()) continue;
      for (const Message& message : messages.sends) wait_for(member, message.peer, sent[message.peer]++);
    }
    return begins_ns_[{member, round}] = now_ns;
  }

  // Of the message `which` from one member to another, in the order of sending, which they keep.
  std::int64_t arrival_ns(int from, int to, int which) {
    std::int64_t latest_ns = 0, free_ns = 0;
    MessageKey key = name_;
    key.sender = from;
    key.number = -1;
    for (int round = 0; round < rounds_; ++round)
      for (const Message& message : round_of(from, round).sends) {
        ++key.number;
        if (message.peer != to) continue;
        const MessageCosts::Way& way = costs_.way(from, to);
        const std::int64_t ready_ns = begin_ns(to, collective_.awaits_receiver() ? round : 0),
                           begin = std::max(begin_ns(from, round), ready_ns);
        if (is_in_turn_) {
          free_ns = std::max(begin, free_ns) + costs_.sending_ns(way, message.bytes);
          latest_ns = std::max(latest_ns, free_ns + costs_.latency_ns(way));
        } else {
          latest_ns = std::max(latest_ns, begin + costs_.time_ns(key, way, message.bytes));
        }
        if (which-- == 0) return latest_ns;
      }
    throw std::logic_error("a message is waited for that is never sent");
  }

  const Collective& collective_;
  const GroupExchange& exchange_;
  const MessageKey name_;
  MessageCosts& costs_;
  const std::vector<std::int64_t>& posted_ns_;
  const bool is_in_turn_;
  const int rounds_ = collective_.rounds(exchange_);
  std::map<std::pair<int, int>, std::int64_t> begins_ns_;  // by member and round
};

// Every collective, members ready at drawn times, drawn message times or a star's: against the walk without
// events.
TEST(Analytic, EveryCollectiveTakesTheTimesOfTheWalk) {
  std::vector<std::string> names = all_reduce_collectives();
  names.insert(names.end(), {"pair", "root", "serial", "all-gather", "reduce-scatter", "pairwise"});
  for (const std::string& name : names)
    for (const int members : {2, 3, 7, 8}) {
      const Collective& collective = find_collective(name);
      if (collective.needs_sites() || (name == "root" && members > 4)) continue;
      for (const bool draws : {false, true}) {
        const Case config = draws ? drawn_case(members, 0.3, 0.4) : star_case(members, 1e8, 0.05);
        const Topology topology = build_topology(config);
        EventQueue clock;
        AnalyticNetwork network(config.network, topology, 5, clock);
        NetworkSpec spec = plain_network();
        spec.message_time = config.network.message_time;
        const ExchangeContext context{clock, network, {}, spec};
        OperationRule rule = rule_of(name);
        rule.payload = whole({"delta", "phi"}, Wire::kInt8);
        std::vector<int> group(as_index(members));
        std::iota(group.begin(), group.end(), 0);
        RoundsRun run(context, {rule, 4, 9, group, 1000003, 2}, [](int) {});
        std::vector<std::int64_t> posted_ns;
        RandomStream stream(3, Purpose::kStepTime, static_cast<std::uint32_t>(members));
        for (const int i : group) {
          posted_ns.push_back(static_cast<std::int64_t>(2e9 * stream.uniform()));
          clock.after_ns(posted_ns.back(), [&run, i] { run.post(i); });
        }
        clock.run();
        MessageCosts costs(config.network, topology, 5);
        const GroupExchange shape = group_exchange(group, 1000003, 2, {});
        WalkedTimes walked(collective, shape, {9, 4, 0, 0, 2}, costs, posted_ns, draws);
        for (const int i : group)
          EXPECT_EQ(std::llround(run.times(i).done_s * 1e9), walked.done_ns(i))
              << name << " of " << members << ", member " << i << (draws ? ", drawn" : "");
      }
    }
}

TEST(BusyTimes, OverlappingMessagesCountOnce) {
  BusyTimes busy(2);
  busy.add(0, 5, 9, 10);
  busy.add(0, 0, 4, 10);
  busy.add(0, 3, 6, 10);
  busy.count_until(9);
  busy.add(0, 8, 12, 10);
  busy.add(0, 20, 21, 10);
  busy.count_until(INT64_MAX);
  EXPECT_DOUBLE_EQ(busy.loads()[0].busy_s, (12 + 1) / 1e9);
  EXPECT_EQ(busy.loads()[0].bytes, 50);
  EXPECT_EQ(busy.loads()[1].bytes, 0);
}

TEST(MessageTimes, HaveTheMeanAndSpreadThatWereAskedFor) {
  constexpr int kDraws = 200000;
  const MessageTimes times({3, 1.5}, 7);
  double sum = 0, squares = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double t = times.seconds({i % 100, 1, i / 100, i % 7});
    sum += t;
    squares += t * t;
  }
  const double mean = sum / kDraws;
  EXPECT_NEAR(mean, 3, 0.02);
  EXPECT_NEAR(std::sqrt(squares / kDraws - mean * mean), 1.5, 0.03);
  // Every part of the name counts.
  const double t = times.seconds({1, 0, 2, 3});
  EXPECT_EQ(t, times.seconds({1, 0, 2, 3}));
  for (const MessageKey& other :
       {MessageKey{2, 0, 2, 3}, {1, 1, 2, 3}, {1, 0, 3, 3}, {1, 0, 2, 4}, {1, 0, 2, 3, 1}})
    EXPECT_NE(t, times.seconds(other));
  EXPECT_NE(t, MessageTimes({3, 1.5}, 8).seconds({1, 0, 2, 3}));
}

constexpr int kUnits = 13, kColumns = 1000, kSteps = 6;
constexpr std::uint64_t kSeed = 3;

std::int64_t passed_bytes(int from, int to, int replicas, int round) {
  const auto before = unit_owners(kSeed, kUnits, 0, replicas, round - 1),
             after = unit_owners(kSeed, kUnits, 0, replicas, round);
  std::int64_t bytes = 0;
  for (std::size_t unit = 0; unit < before.size(); ++unit)
    if (before[unit] == from && after[unit] == to) bytes += kColumns;
  return bytes;
}

// Units of so many columns, a byte each, that are dealt anew after each step. Of two, each is done when the
// other's part has arrived.
TEST(AllToAll, AReplicaSendsTheUnitsThatBecomeAnothers) {
  OperationRule rule = rule_of("pairwise");
  rule.kind = OperationKind::kAllToAll;
  rule.units = {{kUnits, {{0, kColumns, 1, 0, kColumns}}}};
  for (const int replicas : {2, 4}) {
    const Case config = star_case(replicas, 1e6, 0.05);
    const Replayed found = walked(config, make_trace({{rule}}, {kSeed, replicas, kSteps, kUnits * kColumns}));
    ASSERT_EQ(found.exchanges.size(), as_index(kSteps * replicas));
    for (const ExchangeRecord& row : found.exchanges) {
      SCOPED_TRACE(row.step);
      std::int64_t sent = 0;
      for (int other = 0; other < replicas; ++other)
        if (other != row.replica) sent += passed_bytes(row.replica, other, replicas, row.step);
      EXPECT_EQ(row.bytes, sent);
      if (replicas > 2) continue;
      const std::int64_t received = passed_bytes(1 - row.replica, row.replica, 2, row.step);
      ASSERT_GT(received, 0);
      const double expected_s = walked(config, single_exchange("pair", 2, received)).sync_time_s();
      EXPECT_NEAR(row.done_s - row.start_s, expected_s, 1e-9);
    }
  }
}

constexpr std::int64_t kMiB = 1 << 20;

int count(const SliceSpec& spec, const std::string& name, int members, std::int64_t bytes) {
  return slice_count(spec, find_collective(name), {members, bytes, 1, {}});
}

TEST(Slices, CutAMessageIntoEqualPartsOfAtMostTheSizeOrAsTheLibraries) {
  const SliceSpec spec{SliceSpec::Kind::kBytes, 1000};
  EXPECT_EQ(count(spec, "tree", 4, 1000), 1);
  EXPECT_EQ(count(spec, "tree", 4, 1001), 2);
  EXPECT_EQ(count(spec, "ring", 4, 4000), 1) << "chunks of a quarter";
  EXPECT_EQ(count(spec, "ring", 4, 4001), 2);
  EXPECT_EQ(count(spec, "pair", 2, 5000), 5);
  EXPECT_EQ(count({}, "ring", 4, 1000000), 1);
  for (const char* name : {"halving-doubling", "halving-doubling-far", "recursive-doubling", "double-tree",
                           "root", "serial", "hierarchical"})
    EXPECT_EQ(count(spec, name, 2, 5000), 1) << name;
  const SliceSpec nccl{SliceSpec::Kind::kNccl, 0}, gloo{SliceSpec::Kind::kGloo, 0};
  EXPECT_EQ(count(nccl, "ring", 4, 40 * kMiB), 10);
  EXPECT_EQ(count(nccl, "tree", 4, 40 * kMiB), 80);
  EXPECT_EQ(count(nccl, "pair", 2, 40 * kMiB), 320);
  EXPECT_EQ(count(nccl, "pair", 4, 40 * kMiB), 10) << "a ring";
  EXPECT_EQ(count(gloo, "ring", 4, 40 * kMiB), 10);
  EXPECT_EQ(count(gloo, "ring", 4, kMiB), 2) << "two segments at least";
  EXPECT_EQ(count(gloo, "tree", 4, 40 * kMiB), 1);
}

// 10 bytes in three slices: 0-3, 3-6, 6-10. A byte in three slices: one has it.
TEST(Slices, OfARoundCoverEachMessageOnce) {
  const Round round{{{1, 100, 10, true}}, {{2, 5, 1, false}}};
  const Round first = slice_of(round, 0, 3), last = slice_of(round, 2, 3);
  ASSERT_EQ(first.sends.size(), 1u);
  EXPECT_EQ(first.sends[0].offset, 100);
  EXPECT_EQ(first.sends[0].bytes, 3);
  EXPECT_EQ(last.sends[0].offset, 106);
  EXPECT_EQ(last.sends[0].bytes, 4);
  EXPECT_TRUE(last.sends[0].reduces);
  EXPECT_TRUE(first.receives.empty());
  ASSERT_EQ(last.receives.size(), 1u);
  EXPECT_EQ(last.receives[0].bytes, 1);
}

// A halving's messages are parts of parts: cut by the slice they would carry what has not come yet. So it has
// no unit, nor have those that await one message before the next.
TEST(Slices, OnlyProgramsOfWholeUnitsAreCut) {
  std::set<std::string> are_cut;
  for (const auto& collective : collectives())
    if (collective->unit_bytes({4, 1000, 1}) > 0) are_cut.insert(collective->name());
  EXPECT_EQ(are_cut, (std::set<std::string>{"all-gather", "direct", "heap-tree", "leaf-tree", "pair",
                                            "parameter-server", "reduce-scatter", "ring", "send", "tree"}));
}

TEST(Slices, TooManyAreRefused) {
  Case config = star_case(256, 1e9, 0.1);
  config.network.slice = {SliceSpec::Kind::kBytes, 65536};
  const auto estimate_of = [&](std::int64_t bytes) {
    return estimate(config, make_trace({{rule_of("ring")}}, {1, 256, 1, bytes}));
  };
  // Chunks of a 256th, 2 · 255 · 256 messages, each in `slices`.
  EXPECT_EQ(estimate_of(256 * 65536 * 10).transfers, 2 * 255 * 256 * 10);
  const InputError error = thrown_by([&] { estimate_of(std::int64_t{256} * 65536 * 10000); });
  EXPECT_EQ(error.parts().path, "network.slice");
  EXPECT_SAYS(error.parts().found, "130560 messages");
  EXPECT_SAYS(error.parts().hint, "slices of at least");
}

// Nothing is shared between connections: a pipelined tree of D levels is 2D hops of a latency and a slice,
// and the other slices behind the first.
TEST(Slices, AnalyticPipelinesAreHopsAndTheSlicesBehind) {
  for (const int members : {2, 3, 4, 5, 6, 7, 8, 9})
    for (const int slices : {2, 5, 16})
      for (const std::string name : {"ring", "heap-tree", "tree"}) {
        const std::int64_t bytes = std::int64_t{members} * slices * 10000;
        const bool is_ring = name == "ring";
        const int levels = name == "tree" ? ceil_log2(members) : floor_log2(members);
        if (name == "tree" && members != 1 << levels) continue;
        Case config = star_case(members, kRate, 2 * kLatency);
        const std::int64_t unit = is_ring ? bytes / members : bytes;
        config.network.slice = {SliceSpec::Kind::kBytes, unit / slices};
        const double slice_s = static_cast<double>(unit) / slices / kBytesPerSecond;
        const double expected =
            is_ring ? pipelined_rounds_s(2 * (members - 1), slice_s * slices, slices, kLatency)
                    : 2 * levels * (kLatency + slice_s) + (slices - 1) * slice_s;
        EXPECT_NEAR(walked(config, single_exchange(name, members, bytes)).sync_time_s(), expected, 1e-6)
            << name << " of " << members << " in " << slices;
      }
}

// Replica 0 is ready after 1 s, replica 1 after 3 s: what was pushed has come, the rest follows.
TEST(Eager, AnalyticPushesSoManyBytesAhead) {
  Trace trace = single_exchange("pair", 2, 800000);
  trace.measured_s = {{1, 3}};
  Case config = star_case(2, kRate, 2 * kLatency);
  config.workload.step_time.kind = StepTime::Kind::kMeasured;
  for (const double eager : {0., 300000., 1e9}) {
    config.network.eager = eager;
    const Replayed replayed = walked(config, trace);
    const double left = std::max(0., 800000 - eager);
    EXPECT_NEAR(replayed.row(1, 1).done_s, 3 + (left > 0 ? kLatency + left / kBytesPerSecond : 0), 1e-6);
    EXPECT_NEAR(replayed.row(1, 0).done_s, 3 + kLatency + 800000 / kBytesPerSecond, 1e-6);
  }
}

}  // namespace longhaul::analytic_test
