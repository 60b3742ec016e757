// What communication libraries do on a wide-area network. Times are closed forms on an idle star, worked out
// by hand from the order of announcements and data; which algorithm NCCL takes is a table worked out from its
// source (2.30.7, graph/tuning.cc); measured times of the libraries themselves: validation/libraries/.
#include "net/library.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <set>

#include "core/base/index.h"
#include "net/topologies/registry.h"
#include "replay/exchange/exchange_run.h"
#include "replay/network/analytic_network.h"
#include "replay/network/clock.h"
#include "tests/support/said.h"
#include "tests/unit/replay/library_exchange.h"

namespace longhaul::library_test {

using namespace library_exchange;

constexpr double kWake_s = 5e-4;  // Gloo's, from the arrival of a segment to the next announcement

// Both receives of a round are announced when the ones before have come. The first of two segments arrives
// after a round trip and its own time, the second one segment later; then the next two are announced. The
// all-gather begins when the reduce-scatter has ended.
TEST(Gloo, ARoundOfItsRingIsARoundTrip) {
  for (const int members : {3, 4, 8})
    for (const std::int64_t bytes : {std::int64_t{1} << 10, std::int64_t{1} << 20, std::int64_t{1} << 22}) {
      const double segment_s = wire_s(bytes / (2. * members));
      ASSERT_LT(segment_s, 2 * kLatency);
      const double expected_s = 2 * ((members - 1) * (2 * kLatency + segment_s + kWake_s) + segment_s);
      const Took took = exchange("gloo", kAverage, members, bytes);
      EXPECT_NEAR(took.s, expected_s, 3e-3) << members << ": " << bytes;  // headers, notes
      EXPECT_EQ(took.transfers, 2 * (members - 1) * 2 * members);
      EXPECT_NEAR(static_cast<double>(took.bytes_of_first),
                  2. * (members - 1) * static_cast<double>(bytes) / members, 4);
    }
}

// Segments of at most 1 MiB that take longer than a round trip keep the link busy, but for a round trip at
// the beginning of each phase.
TEST(Gloo, LongSegmentsFillTheLink) {
  const std::int64_t bytes = 64 << 20;
  Case config = star_case(4, 1e7, 2 * 0.01);  // a segment of 1 MiB takes 0.84 s
  const double one_way_s = 10 * wire_s(6. / 4 * bytes);
  config.network.library = "gloo";
  const Topology topology = build_topology(config);
  EventQueue clock;
  AnalyticNetwork network(config.network, topology, 1, clock);
  const ExchangeContext context{clock, network, {}, config.network};
  const auto run = make_exchange_run(context, {kAverage, 0, 1, {0, 1, 2, 3}, bytes}, [](int) {});
  for (const int member : {0, 1, 2, 3}) run->post(member);
  clock.run();
  EXPECT_NEAR(run->done_s(), one_way_s + 2 * 2 * 0.01, 5e-3);  // headers, notes
}

// Each contribution goes round in two halves. Where a half takes less than a round trip the last one comes
// behind it; where it takes longer the link is busy from the first round trip on.
TEST(Gloo, AnAllGatherIsARingOfHalves) {
  for (const int members : {3, 8})
    for (const std::int64_t bytes : {1 << 10, 1 << 20, 1 << 23}) {
      const double half_s = wire_s(bytes / 2.), rounds = members - 1;
      const double expected_s =
          rounds * std::max(2 * half_s, 2 * kLatency + half_s) + std::min(half_s, 2 * kLatency);
      const Took took = exchange("gloo", rule_of(OperationKind::kAllGather, "all-gather"), members, bytes);
      EXPECT_NEAR(took.s, expected_s, (rounds + 1) * kWake_s + 1e-3) << members << ": " << bytes;
    }
}

// One number among n: one part has it, the others are empty. It goes round twice, hop by hop. Among two that
// begin together: the announcement and the number, and the number back, whose announcement went out
// meanwhile; torch 2.15 took 91 ms of 3 · 30, and 61 where the receiver had begun 30 ms earlier.
TEST(Gloo, OfOneNumberTheOtherPartsAreEmpty) {
  for (const std::int64_t bytes : {4, 2}) {
    const Took together = exchange("gloo", kAverage, 2, bytes);
    EXPECT_NEAR(together.s, 3 * kLatency, 3e-3) << bytes;
    EXPECT_EQ(together.transfers, 2);
  }
  const double first = exchange("gloo", kAverage, 2, 4, {0, kLatency}).s,
               other = exchange("gloo", kAverage, 2, 4, {kLatency, 0}).s;
  EXPECT_NEAR(std::min(first, other), 2 * kLatency, 3e-3);
  // Among four of whom each began one way after its neighbour (measured: 183 ms of 6 · 30).
  EXPECT_EQ(exchange("gloo", kAverage, 4, 4).transfers, 2 * 3);
  EXPECT_NEAR(exchange("gloo", kAverage, 4, 4, {0, 3 * kLatency, 2 * kLatency, kLatency}).s, 6 * kLatency,
              kLatency + 3e-3);
}

// torch lets Gloo reduce the whole vector for a reduce-scatter (measured: 7.34 MB of 4 MiB among 8).
TEST(Gloo, AReduceScatterSendsWhatAnAllReduceSends) {
  const std::int64_t bytes = 4 << 20;
  const Took scatter = exchange("gloo", rule_of(OperationKind::kReduceScatter, "reduce-scatter"), 8, bytes);
  EXPECT_EQ(scatter.bytes_of_first, 2 * 7 * bytes / 8);
  EXPECT_EQ(scatter.bytes_of_first, 7340032);
  EXPECT_EQ(
      exchange("plain", rule_of(OperationKind::kReduceScatter, "reduce-scatter"), 8, bytes).bytes_of_first,
      7 * bytes / 8);
}

// Everything is posted at once: one round trip, and what leaves a host leaves side by side.
TEST(Gloo, AnAllToAllIsOneRoundTrip) {
  const Took took = exchange("gloo", rule_of(OperationKind::kAllToAll, "pairwise"), 8, 1024);
  EXPECT_NEAR(took.s, 2 * kLatency, 2e-3);
}

// A member that comes late is announced late: its neighbours' segments wait for it, and nothing is lost.
TEST(Libraries, FinishWhoeverComesLate) {
  for (const Library& library : libraries())
    for (const int members : {2, 3, 5, 8}) {
      std::vector<double> posted_s;
      for (int member = 0; member < members; ++member) posted_s.push_back(0.37 * (member * 5 % members));
      for (const std::int64_t bytes : {std::int64_t{1}, std::int64_t{999}, std::int64_t{3000001}}) {
        const Took took = exchange(library.name, kAverage, members, bytes, posted_s);
        EXPECT_GT(took.s, 0) << library.name;
      }
    }
}

// First sizes of each algorithm between interfaces of 10 Gb/s, by hand from the model's constants.
TEST(Nccl, ChoosesByItsOwnModelWhateverTheDistance) {
  struct Choice {
    int members;
    std::int64_t from;
    const char* collective;
    int wire;  // bytes for each of the payload: 2 of protocol LL
  };
  const Choice choices[] = {{2, 4, "ring", 2},
                            {2, 64 << 10, "ring", 1},
                            {4, 2 << 10, "ring", 2},
                            {4, 128 << 10, "ring", 1},
                            {8, 8 << 10, "ring", 2},
                            {8, 256 << 10, "ring", 1},
                            {16, 128 << 10, "ring", 2},
                            {16, 512 << 10, "ring", 1},
                            {4, 1 << 10, "double-tree", 1},
                            {8, 4 << 10, "double-tree", 1},
                            {16, 64 << 10, "double-tree", 1},
                            {64, 2 << 20, "ring", 1},
                            {64, 256 << 10, "double-tree", 1}};
  NetworkSpec network;
  network.library = "nccl";
  for (const Choice& choice : choices) {
    const GroupExchange exchange{choice.members, choice.from};
    const Lowering lowering = lowered(network, kAverage, exchange);
    EXPECT_EQ(lowering.collective->name(), choice.collective) << choice.members << ": " << choice.from;
    if (lowering.collective->name() != "ring") continue;
    EXPECT_EQ(lowering.rules.wire_factor, choice.wire) << choice.members << ": " << choice.from;
  }
}

// Two channels hold four slices of 1 MiB: a round of a loop lasts max(2 s, L + s), s of two slices at once.
TEST(Nccl, ItsBuffersBoundTheRate) {
  const int members = 2;
  const std::int64_t bytes = std::int64_t{8} * 2 * 4 << 20;  // eight loops of two channels of 2 MiB a member
  const double slice_s = wire_s(2 << 20);
  ASSERT_LT(slice_s, 2 * kLatency * 2);
  const Took took = exchange("nccl", kAverage, members, bytes);
  const double round_s = std::max(2 * slice_s, kLatency + slice_s);
  // A loop has 2 (n − 1) rounds; what ends it is the second slice of the last one.
  const double loop_s = 2 * round_s + std::min(slice_s, kLatency);
  EXPECT_NEAR(took.s, 8 * loop_s, 0.005 * took.s);
}

// One operation on an idle star, with the parts of what each member waited.
struct Timed {
  double s = 0;
  std::vector<SyncParts> parts;
};

Timed timed(const NetworkSpec& how, const OperationRule& rule, int members, std::int64_t bytes,
            double last_s = 0) {
  Case config = star_case(members, kRate, 2 * kLatency);
  config.network.library = how.library;
  config.network.barrier = how.barrier;
  config.network.operation_overhead_s = how.operation_overhead_s;
  config.network.host_rate = how.host_rate;
  const Topology topology = build_topology(config);
  EventQueue clock;
  AnalyticNetwork network(config.network, topology, 1, clock);
  const ExchangeContext context{clock, network, {}, config.network};
  std::vector<int> group(as_index(members));
  std::iota(group.begin(), group.end(), 0);
  const auto run = make_exchange_run(context, {rule, 0, 1, group, bytes}, [](int) {});
  for (const int member : group)
    clock.after(member == members - 1 ? last_s : 0, [&run, member] { run->post(member); });
  clock.run();
  EXPECT_TRUE(run->is_finished());
  Timed took{run->done_s() - run->start_s(), {}};
  for (const int member : group) {
    took.parts.push_back(run->times(member).parts);
    EXPECT_NEAR(took.parts.back().total_s(), run->times(member).done_s - run->start_s(), 1e-9);
  }
  return took;
}

// Whoever comes last, and whether a host wakes, opens a connection or takes in: what a member waited is the
// sum of its parts (timed), and what a library's host takes is waiting.
TEST(LibraryParts, AddUpToTheTimeOfEachMember) {
  for (const Library& library : libraries()) {
    NetworkSpec how;
    how.library = library.name;
    for (const int members : {2, 3, 4, 8})
      for (const std::int64_t bytes : {1 << 10, 300 << 10, 4 << 20})
        for (const double last_s : {0., 0.013, 2.}) {
          how.host_rate = bytes > 1 << 20 ? std::optional(1e8) : std::nullopt;
          SCOPED_TRACE(
              fmt::format("{}: {} members, {} B, the last after {} s", library.name, members, bytes, last_s));
          timed(how, kAverage, members, bytes, last_s);
        }
  }
  // On the way around Gloo's ring a host wakes once a round before it announces the next; at the end the
  // second segment, 0.09 ms behind the first, comes while it does.
  NetworkSpec gloo;
  gloo.library = "gloo";
  for (const SyncParts& parts : timed(gloo, kAverage, 4, 1 << 10).parts)
    EXPECT_NEAR(parts.waiting_s, 2 * 3 * kWake_s, 1e-4);
}

// An operation's fixed time comes before its first message, once, at each member; it counts as waiting.
TEST(OperationOverhead, IsPaidOnceAnOperation) {
  for (const char* library : {"plain", "gloo", "nccl"})
    for (const bool barrier : {false, true}) {
      NetworkSpec how;
      how.library = library;
      how.barrier = barrier;
      const double without_s = timed(how, kAverage, 4, 1 << 20).s;
      how.operation_overhead_s = 0.25;
      const Timed with = timed(how, kAverage, 4, 1 << 20);
      EXPECT_NEAR(with.s, without_s + 0.25, 1e-6) << library;
      for (const SyncParts& parts : with.parts) EXPECT_GE(parts.waiting_s, 0.25 - 1e-6);
    }
}

// Who began long before the last one has paid it by then.
TEST(OperationOverhead, OfTheLastMemberAloneCounts) {
  NetworkSpec how;
  how.operation_overhead_s = 0.25;
  const double together_s = timed(how, kAverage, 4, 1 << 20).s;
  EXPECT_LE(timed(how, kAverage, 4, 1 << 20, 3).s, together_s + 1e-6);
  EXPECT_GE(timed(how, kAverage, 4, 1 << 20, 3).s, 0.25);
}

// An all-to-all of Gloo posts everything at once: the n − 1 parts come together, and the host takes them in
// one after another.
TEST(HostRate, TakesMessagesInOneAfterAnother) {
  const OperationRule all_to_all = rule_of(OperationKind::kAllToAll, "pairwise");
  const std::int64_t bytes = 8 << 20;
  NetworkSpec how;
  how.library = "gloo";
  const double without_s = timed(how, all_to_all, 8, bytes).s;
  how.host_rate = 1e8;
  EXPECT_NEAR(timed(how, all_to_all, 8, bytes).s, without_s + 7. / 8 * static_cast<double>(bytes) / 1e8,
              2e-3);
}

// A ring of Gloo has two segments under way: of a round each but the second one's time on the wire is hidden.
TEST(HostRate, OfARingIsPaidInEachRound) {
  const std::int64_t bytes = 4 << 20;
  NetworkSpec how;
  how.library = "gloo";
  const double without_s = timed(how, kAverage, 4, bytes).s;
  how.host_rate = 1e8;
  const double segment_s = static_cast<double>(bytes) / 8 / 1e8, rounds = 2 * 3;
  const double more_s = timed(how, kAverage, 4, bytes).s - without_s;
  EXPECT_GE(more_s, rounds * segment_s - 1e-6);
  EXPECT_LE(more_s, 2 * rounds * segment_s + 1e-6);
}

TEST(Libraries, RefuseWhatTheyDecideThemselves) {
  NetworkSpec network;
  network.library = "glou";
  EXPECT_SAYS(said_by([&] { lowered(network, kAverage, {4, 100}); }), "network.library");
}

}  // namespace longhaul::library_test
