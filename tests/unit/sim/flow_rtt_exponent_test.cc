// Shares of a trunk between unequal round trips, against closed forms.
#include <gtest/gtest.h>
#include <ns3/simulator.h>

#include "sim/network/clock.h"
#include "sim/network/flow_network.h"

namespace longhaul {
namespace {

struct Arrivals {
  double near_s = -1, far_s = -1;
};

// Two senders over one trunk of `rate`, round trips of 2 and 4 ms, `bytes` from each at the same time.
Arrivals share_trunk(double rtt_exponent, double rate, std::int64_t bytes) {
  Topology topology(4);
  const int left = topology.add_router("left"), right = topology.add_router("right");
  topology.add_link({"trunk", left, right, rate, rate, 0.0005});
  const double delays_s[] = {0.00025, 0.00075, 0.00025, 0.00075};
  for (int i = 0; i < 4; ++i)
    topology.add_link({"", i, i < 2 ? left : right, 100 * rate, 100 * rate, delays_s[i]});
  TcpSpec tcp;
  tcp.congestion_control = "cubic";
  tcp.queue = "host";
  tcp.rtt_exponent = rtt_exponent;
  FlowNetwork network(tcp, topology);
  const SimulationScope scope;
  Arrivals arrivals;
  after(0, [&] {
    network.send({0, 2, bytes}, [&] { arrivals.near_s = now_s(); });
    network.send({1, 3, bytes}, [&] { arrivals.far_s = now_s(); });
  });
  ns3::Simulator::Run();
  return arrivals;
}

// Weights w and 1, B bytes each, capacity C: the nearer one is done at B (1 + 1/w) / C, and both at 2 B / C.
TEST(RttExponent, SharesFallWithTheRoundTripToThatPower) {
  const double rate = 1e9, payload_rate = rate / 8 * 1448 / 1538;
  const std::int64_t bytes = 250000000;
  for (const auto& [exponent, weight] : {std::pair<double, double>{0, 1}, {1, 2}, {2, 4}}) {
    const Arrivals arrivals = share_trunk(exponent, rate, bytes);
    const double alone_s = static_cast<double>(bytes) / payload_rate;
    // Slow start of a few round trips is within half a per cent of two seconds.
    EXPECT_NEAR(arrivals.near_s, alone_s * (1 + 1 / weight), 0.005 * alone_s) << exponent;
    // The farther one's window grows from its share to the whole trunk, by at most a half every 4 ms.
    EXPECT_NEAR(arrivals.far_s, 2 * alone_s, 0.02 * alone_s) << exponent;
  }
}

}  // namespace
}  // namespace longhaul
