// Windows that never cover the path, of transfers that follow one another on a connection: whole rounds of a
// window a round trip are one fluid behind an earlier transfer too (replay/flow/flow_channel.h). Against
// rounds counted by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "replay/flow/flow_clock.h"
#include "tests/unit/sim/transfers.h"

namespace longhaul::window_rounds_test {

constexpr double kSegment = 1448, kWire = 1538, kAck = 90, kRate = 1e9, kRtt = 0.1, kWindow = 1e6;

Case with_window() {
  Case config = star_case(2, kRate, kRtt);
  config.network.tcp.window = kWindow;
  return config;
}

// When byte `bytes` of a stream arrives: a window leaves at the link's rate in each round trip, which begins
// with 10 segments and doubles up to the largest one.
double by_hand_s(double bytes) {
  const double full_rtt_s = kRtt + 2 * 8 * (kWire + kAck) / kRate;
  double begin_s = 0, left = bytes;
  for (double window = 10 * kSegment; window < left; window = std::min(2 * window, kWindow)) {
    begin_s += full_rtt_s;
    left -= window;
  }
  return begin_s + left / (kRate / 8 * kSegment / kWire) + kRtt / 2;
}

struct Stream {
  std::vector<double> arrived_s;  // by transfer
  std::uint64_t events = 0;
};

// All of one connection, handed over at once.
Stream sent_together(const std::vector<std::int64_t>& transfers) {
  const Case config = with_window();
  const Topology topology = build_topology(config);
  FlowEventQueue clock;
  FlowNetwork network(config.network.tcp, topology, clock);
  Stream stream;
  stream.arrived_s.resize(transfers.size());
  const ClockScope scope{clock};
  clock.after(0, [&] {
    for (std::size_t i = 0; i < transfers.size(); ++i)
      network.send({0, 1, transfers[i]}, [&, i] { stream.arrived_s[i] = clock.now_s(); });
  });
  clock.run();
  stream.events = clock.events();
  return stream;
}

// 600, 300 and 100 windows one after another: 10 rounds more or less, of 1000, would be a second. A round
// trip costs no more events than a hundred of them do.
TEST(WindowRounds, AreTheSameBehindAnEarlierTransfer) {
  const std::vector<std::int64_t> transfers = {600200000, 300300000, 100100000};
  const Stream stream = sent_together(transfers);
  double bytes = 0;
  for (std::size_t i = 0; i < transfers.size(); ++i) {
    bytes += static_cast<double>(transfers[i]);
    EXPECT_NEAR(stream.arrived_s[i], by_hand_s(bytes), 0.02 * kRtt) << i;
  }
  EXPECT_LT(stream.events, 300u) << "of 1000 rounds";
}

// Of transfers that are too short for it each round goes as its bursts.
TEST(WindowRounds, OfShortTransfersAreBursts) {
  const std::vector<std::int64_t> transfers(50, 2500000);
  const Stream stream = sent_together(transfers);
  for (std::size_t i = 0; i < transfers.size(); ++i)
    EXPECT_NEAR(stream.arrived_s[i], by_hand_s(2.5e6 * static_cast<double>(i + 1)), 0.02 * kRtt) << i;
  EXPECT_GT(stream.events, 100u);
}

// What shares the link halfway leaves each its rounds: two windows a round trip are far below it.
TEST(WindowRounds, OfTwoReceiversDoNotMeet) {
  Case config = star_case(3, kRate, kRtt);
  config.network.tcp.window = kWindow;
  const Topology topology = build_topology(config);
  FlowEventQueue clock;
  FlowNetwork network(config.network.tcp, topology, clock);
  std::vector<double> arrived_s(4);
  const ClockScope scope{clock};
  const auto send = [&](int target, std::size_t number) {
    network.send({0, target, 100000000}, [&, number] { arrived_s[number] = clock.now_s(); });
  };
  clock.after(0, [&] {
    send(1, 0);
    send(1, 1);
  });
  clock.after(3.3, [&] {
    send(2, 2);
    send(2, 3);
  });
  clock.run();
  // A burst of 1 MB takes 8.5 ms, and may wait for the other one's.
  EXPECT_NEAR(arrived_s[0], by_hand_s(1e8), 0.02);
  EXPECT_NEAR(arrived_s[1], by_hand_s(2e8), 0.02);
  EXPECT_NEAR(arrived_s[2], 3.3 + by_hand_s(1e8), 0.02);
  EXPECT_NEAR(arrived_s[3], 3.3 + by_hand_s(2e8), 0.02);
}

// Alarms and actions of one instant come in the order in which they were set, and all are counted.
TEST(FlowEventQueue, KeepsTheOrderOfAlarmsAndActions) {
  FlowEventQueue clock;
  std::string order;
  clock.carry([&] { order += "w"; });
  clock.after_ns(5, [&] { order += "a"; });
  clock.set_alarm_ns(5);
  clock.after_ns(5, [&] { order += "b"; });
  clock.set_alarm_ns(3);
  clock.set_alarm_ns(7);
  clock.set_alarm_ns(5);
  clock.after_ns(3, [&] {
    EXPECT_TRUE(clock.has_actions());
    order += "c";
  });
  clock.run();
  EXPECT_EQ(order, "wcawbww");
  EXPECT_EQ(clock.events(), 7u);
  EXPECT_EQ(clock.now_ns(), 7);
  EXPECT_FALSE(clock.has_actions());
  EXPECT_THROW(clock.set_alarm_ns(-1), std::logic_error);
}

}  // namespace longhaul::window_rounds_test
