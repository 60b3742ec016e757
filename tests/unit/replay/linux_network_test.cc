// Replays over the network of fidelity `linux`: exchanges whose times follow by hand on idle paths, and what
// its links carried. The segments themselves: tests/unit/net/linux_tcp_test.cc and linux_kernel_test.cc.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <sstream>

#include "net/tcp/framing.h"
#include "tests/unit/net/cases.h"
#include "tests/unit/replay/replayed.h"

namespace longhaul::linux_network_test {

constexpr double kRate = 1e8, kRtt_s = 0.06;
constexpr double kSegment_s = 1538 * 8 / kRate;
// A packet waits for its host for at most so long.
constexpr double kNoise_s = 400e-6;

Case case_of(Case config) {
  config.network.fidelity = "linux";
  return config;
}

// Everyone's `segments` of payload, once, at the end of one step.
Replayed exchanged(const Case& config, const std::string& collective, int segments) {
  const std::int64_t parameters = std::int64_t{segments} * 1448 / 2;  // bf16
  OperationRule rule = rule_of(collective);
  rule.payload = whole({"delta"}, Wire::kBf16);
  const Trace trace = make_trace({{rule}}, {1, config.replicas, config.workload.steps, parameters});
  return run_with(linux_replay, config, trace);
}

// Two replicas send each other half of eight segments, add, and send each other the sum: two messages of four
// segments, which a window of ten lets leave before anything is acknowledged. On a star they cross two links,
// on a mesh one.
TEST(LinuxNetwork, AMeanOfTwoIsTwoMessages) {
  for (const bool is_mesh : {false, true}) {
    const Case config = case_of(is_mesh ? mesh_case(2, kRate, kRtt_s) : star_case(2, kRate, kRtt_s));
    const Replayed replayed = exchanged(config, "direct", 8);
    const double message_s = (is_mesh ? 4 : 5) * kSegment_s + kRtt_s / 2;
    for (int replica = 0; replica < 2; ++replica) {
      const double took_s = replayed.row(1, replica).done_s - 1;
      EXPECT_GE(took_s, 2 * message_s) << is_mesh;
      EXPECT_LE(took_s, 2 * (message_s + kNoise_s)) << is_mesh;
      EXPECT_EQ(replayed.row(1, replica).bytes, 8 * 1448);
    }
  }
}

// A ring of four: six rounds of one message of three segments each, which leave at once.
TEST(LinuxNetwork, ARingTakesItsRounds) {
  const Replayed replayed = exchanged(case_of(star_case(4, kRate, kRtt_s)), "ring", 12);
  const double round_s = 4 * kSegment_s + kRtt_s / 2;
  for (int replica = 0; replica < 4; ++replica) {
    const double took_s = replayed.row(1, replica).done_s - 1;
    EXPECT_GE(took_s, 6 * round_s);
    EXPECT_LE(took_s, 6 * (round_s + kNoise_s));
  }
}

// Every byte of a ring crosses each replica's link once up and once down, if nothing is lost: 18 segments.
TEST(LinuxNetwork, LinksCarryTheirBytes) {
  const Replayed replayed = exchanged(case_of(star_case(4, kRate, kRtt_s)), "ring", 12);
  const Rows links = rows_of(replayed, "links.csv");  // link, direction, bytes, busy_s
  ASSERT_EQ(links.size(), 8u);
  for (const Cells& link : links) EXPECT_EQ(link.at(2), std::to_string(18 * 1538));
}

// Several threads give the bytes of one, whatever the collective: windows of some hundred segments, replicas
// that lose packets, two exchanges after one another.
TEST(LinuxNetwork, ThreadsChangeNothing) {
  for (const char* collective : {"ring", "tree", "double-tree", "halving-doubling", "recursive-doubling",
                                 "direct", "parameter-server", "heap-tree", "leaf-tree"})
    for (const int replicas : {2, 3, 8}) {
      if (replicas != 8 && std::string(collective).find("doubling") != std::string::npos) continue;
      Case config = case_of(star_case(replicas, 5 * kRate, kRtt_s));
      config.network.tcp.loss = 1e-4;
      config.workload.steps = 2;
      const std::int64_t parameters = std::int64_t{4000} * 1448 / 2;
      OperationRule rule = rule_of(collective);
      rule.payload = whole({"delta"}, Wire::kBf16);
      const Trace trace = make_trace({{rule}}, {1, replicas, 2, parameters});
      const Replayed one = run_with(linux_replay, config, trace);
      const Replayed two = run_with(linux_replay_by(2), config, trace);
      for (const char* table : {"exchanges.csv", "links.csv", "replicas.csv"})
        EXPECT_EQ(one.files.at(table), two.files.at(table)) << collective << ", " << replicas << ", " << table;
    }
}

// Hosts that all have BBR are a network of BBR.
TEST(LinuxNetwork, HostsAndNetworkSayTheSame) {
  Case config = case_of(star_case(4, kRate, kRtt_s));
  config.network.tcp.loss = 1e-3;
  const Replayed cubic = exchanged(config, "ring", 4000);
  config.network.tcp.host_controls.assign(4, "bbr");
  const Replayed by_host = exchanged(config, "ring", 4000);
  config.network.tcp.host_controls.clear();
  config.network.tcp.congestion_control = "bbr";
  EXPECT_EQ(exchanged(config, "ring", 4000).files.at("exchanges.csv"), by_host.files.at("exchanges.csv"));
  EXPECT_NE(cubic.files.at("exchanges.csv"), by_host.files.at("exchanges.csv"));
}

// What a replica sends has its control: with a loss of 1 % a link Linux takes 8.5 s for 2 MB with CUBIC and
// 0.45 s with BBR (results/reference/kernel/README.md), so that the peer of the BBR sender is done first.
TEST(LinuxNetwork, AHostSendsWithItsOwnControl) {
  for (const int bbr : {0, 1}) {
    Case config = case_of(star_case(2, kRate / 2, 0.04));
    config.network.tcp.loss = 1e-2;
    config.network.tcp.host_controls = {"cubic", "cubic"};
    config.network.tcp.host_controls[as_index(bbr)] = "bbr";
    const Replayed replayed = exchanged(config, "pair", 1400);
    const double from_bbr_s = replayed.row(1, 1 - bbr).done_s - 1,
                 from_cubic_s = replayed.row(1, bbr).done_s - 1;
    EXPECT_LT(3 * from_bbr_s, from_cubic_s) << bbr;
  }
}

// Progress is in segments, of as many as the messages hold: a ring of four has 6 rounds of 3000 from each.
TEST(LinuxNetwork, ProgressIsInSegments) {
  const Case config = case_of(star_case(4, kRate, kRtt_s));
  OperationRule rule = rule_of("ring");
  rule.payload = whole({"delta"}, Wire::kBf16);
  const Trace trace = make_trace({{rule}}, {1, 4, 1, std::int64_t{12000} * 1448 / 2});
  const TemporaryFolder folder;
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  fcntl(ends[0], F_SETPIPE_SZ, 1 << 20);
  ProgressReporter reporter("test", ends[1], /*quiet=*/true);
  linux_replay(config, trace, folder.path, reporter);
  close(ends[1]);
  std::string text;
  std::array<char, 4096> chunk{};
  for (ssize_t count; (count = read(ends[0], chunk.data(), chunk.size())) > 0;)
    text.append(chunk.data(), static_cast<std::size_t>(count));
  close(ends[0]);
  std::istringstream lines(text);
  std::vector<Json> progress;
  for (std::string line; std::getline(lines, line);)
    if (const Json json = Json::parse(line); json.contains("total")) progress.push_back(json);
  ASSERT_GE(progress.size(), 2u) << text;
  double before = 0;
  for (const Json& line : progress) {
    EXPECT_EQ(line["unit"], "segments");
    // Of all that are sent the last ones may not have arrived yet: then it is not over.
    EXPECT_EQ(line["total"],
              std::max(4 * 6 * 3000, line["done"].get<int>() + (&line == &progress.back() ? 0 : 1)));
    EXPECT_GE(line["done"].get<double>(), before);
    before = line["done"];
  }
  EXPECT_EQ(before, 4 * 6 * 3000);
}

// Hosts three times as fast as the link to their peer overflow a FIFO of 20 packets in front of it. The bytes
// arrive all the same, and the same seed gives the same tables.
TEST(LinuxNetwork, AFifoCostsTimeAndTheSeedDecides) {
  Case config = case_of(star_case(2, kRate, kRtt_s));
  config.network.topology = star_spec(3 * kRate, kRate, kRtt_s);
  config.workload.steps = 3;
  config.network.tcp.connections = 4;
  const Replayed fair = exchanged(config, "direct", 3000);
  config.network.tcp.queue = "fifo";
  config.network.tcp.queue_bytes = 20 * 1500;
  const Replayed first = exchanged(config, "direct", 3000), again = exchanged(config, "direct", 3000);
  EXPECT_EQ(first.files.at("exchanges.csv"), again.files.at("exchanges.csv"));
  config.seed = 2;
  EXPECT_NE(first.files.at("exchanges.csv"), exchanged(config, "direct", 3000).files.at("exchanges.csv"));
  EXPECT_GT(first.row(1, 0).done_s, fair.row(1, 0).done_s);
  EXPECT_EQ(first.row(3, 0).bytes, fair.row(3, 0).bytes);
}

// Others leave half of each link to the exchange, and yield to nobody: its segments take twice as long on it.
TEST(LinuxNetwork, OthersTakeTheirShare) {
  Case config = case_of(star_case(2, kRate, kRtt_s));
  BackgroundSpec others;
  others.link = "*";
  others.share = 0.5;
  config.network.variation.background = {others};
  const Replayed replayed = exchanged(config, "direct", 8);
  const double message_s = 5 * 2 * kSegment_s + kRtt_s / 2;
  for (int replica = 0; replica < 2; ++replica) {
    const double took_s = replayed.row(1, replica).done_s - 1;
    EXPECT_GE(took_s, 2 * message_s);
    EXPECT_LE(took_s, 2 * (message_s + kNoise_s));
  }
}

// One connection of others on every link, and one of the exchange: each has half of what a fair queue
// carries, once both windows fill the link.
TEST(LinuxNetwork, ConnectionsOfOthersShareAFairQueue) {
  Case config = case_of(star_case(2, kRate, kRtt_s));
  config.workload.steps = 3;
  config.network.tcp.slow_start_after_idle = false;
  const auto last_s = [&] {
    const Replayed replayed = exchanged(config, "direct", 16000);
    return replayed.row(3, 0).done_s - replayed.row(2, 0).done_s - 1;
  };
  const double alone_s = last_s();
  BackgroundSpec others;
  others.link = "*";
  others.directions = {false, true};
  others.flows = 1;
  config.network.variation.background = {others};
  EXPECT_NEAR(last_s() / alone_s, 2, 0.2);
  others.congestion_control = "bbr";
  config.network.variation.background = {others};
  EXPECT_NEAR(last_s() / alone_s, 2, 0.3);
}

// What others send is not in links.csv: two messages of two segments from each replica, three times, on every
// link that others have a connection on all the time.
TEST(LinuxNetwork, LinksCountReplicasAlone) {
  Case config = case_of(star_case(2, kRate, kRtt_s));
  config.workload.steps = 3;
  BackgroundSpec others;
  others.link = "*";
  others.directions = {false, true};
  others.flows = 1;
  config.network.variation.background = {others};
  const Rows links = rows_of(exchanged(config, "direct", 4), "links.csv");
  ASSERT_EQ(links.size(), 4u);
  for (const Cells& link : links) EXPECT_EQ(link.at(2), std::to_string(3 * 2 * 2 * 1538));
}

// Of four segments two wait in the host's own queue when an outage of half a second has begun (TCP small
// queues). The time-out of some 260 ms leaves a window of one, so that the others wait for the first
// acknowledgement after it; the answer finds nothing in its way.
TEST(LinuxNetwork, NothingLeavesInAnOutage) {
  Case config = case_of(star_case(2, kRate, kRtt_s));
  Fault fault;
  fault.kind = "link";
  fault.link = "*";
  fault.rate = 0;
  fault.times.at_s = 0.5;
  fault.times.for_s = 1;
  config.network.variation.faults = {fault};
  const Replayed replayed = exchanged(config, "direct", 8);
  const double least_s = 1.5 + kRtt_s + 2 * kRtt_s / 2;
  EXPECT_GE(replayed.row(1, 0).done_s, least_s);
  EXPECT_LE(replayed.row(1, 0).done_s, least_s + 16 * kSegment_s + 4 * kNoise_s);
}

// Windows after a pause, in closed form and segment by segment: three exchanges with so long a step before
// each, of messages of so many bandwidth-delay products. 315 such points: validation/grid/pauses.py.
TEST(LinuxNetwork, FlowHasItsWindowsAfterAPause) {
  struct Point {
    const char* collective;
    int replicas;
    double rate, rtt_s, products, pause_s;
  };
  for (const Point& point : std::initializer_list<Point>{{"ring", 2, 1e8, 0.03, 1, 0.5},
                                                         {"ring", 2, 1e8, 0.03, 1, 0.9},
                                                         {"ring", 2, 5e7, 0.2, 1, 0.9},
                                                         {"ring", 2, 5e7, 0.2, 3, 1.4},
                                                         {"ring", 4, 2e8, 0.06, 3, 0.5},
                                                         {"direct", 4, 5e7, 0.1, 3, 1.4}}) {
    Case config = case_of(star_case(point.replicas, point.rate, point.rtt_s));
    config.workload.steps = 3;
    config.workload.step_time.seconds = point.pause_s;
    const bool is_ring = point.collective == std::string("ring");
    const double message = point.products * point.rate / 8 * point.rtt_s;
    const auto bytes = static_cast<std::int64_t>(message * (is_ring ? point.replicas : 2));
    OperationRule rule = rule_of(point.collective);
    rule.payload = whole({"delta"}, Wire::kInt8);
    const Trace trace = make_trace({{rule}}, {1, point.replicas, 3, bytes});
    const Replayed segments = run_with(linux_replay, config, trace);
    config.network.fidelity = "flow";
    const Replayed fluid = run_with(flow_replay, config, trace);
    for (const int step : {2, 3})
      EXPECT_NEAR(fluid.sync_time_s(step) / segments.sync_time_s(step), 1, 0.03)
          << point.collective << " of " << point.replicas << " at " << point.rate << " and " << point.rtt_s;
  }
}

}  // namespace longhaul::linux_network_test
