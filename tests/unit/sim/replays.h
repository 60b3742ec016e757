// Replays on ns-3 run in a test.
#pragma once

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "net/tcp/framing.h"
#include "sim/simulated_replay.h"
#include "tests/unit/replay/replayed.h"

namespace longhaul {

// Over a network of the test's own.
inline Replayed run_replay(const Case& config, const Trace& trace, const NetworkMaker& network_of) {
  return run_with([&](auto&&... arguments) { return simulated_replay(arguments..., network_of); }, config,
                  trace);
}

// Over that of the case. Fidelity flow has two clocks, which give the same bytes: ns-3's and its own.
inline Replayed run_replay(const Case& config, const Trace& trace) {
  const Replayed replayed = run_replay(config, trace, make_network);
  if (config.network.fidelity != "flow") return replayed;
  const Replayed alone = run_with(flow_replay, config, trace);
  EXPECT_EQ(alone.report, replayed.report);
  EXPECT_EQ(alone.files, replayed.files);
  return replayed;
}

// An exchange of `bytes` among all at each step.
inline Replayed exchanged(const Case& config, const std::string& collective, double bytes, int steps = 1) {
  const auto whole_bytes = static_cast<std::int64_t>(bytes);
  return run_replay(config, single_exchange(collective, config.replicas, whole_bytes, steps));
}
inline double in_packets_s(Case config, const std::string& collective, double bytes) {
  config.network.fidelity = "packet";
  return exchanged(config, collective, bytes).sync_time_s();
}

inline void expect_as_packets(double flow_s, double packet_s, double tolerance, const std::string& what) {
  fmt::print("{}: packet {:.4f} s, flow {:.4f} s ({:+.1f} %)\n", what, packet_s, flow_s,
             100 * (flow_s / packet_s - 1));
  EXPECT_NEAR(flow_s / packet_s, 1, tolerance) << what;
}

// Seconds of a step's exchange in packets; as a fluid it takes as long, to within `tolerance`.
inline double expect_flow_as_packets(Case config, const Trace& trace, double tolerance,
                                     const std::string& what, int step = 1) {
  config.network.fidelity = "packet";
  config.network.tcp.loss_response = "ns3-3.37";  // what its windows do after losses and pauses
  const double packet_s = run_replay(config, trace).sync_time_s(step);
  config.network.fidelity = "flow";
  expect_as_packets(run_replay(config, trace).sync_time_s(step), packet_s, tolerance, what);
  return packet_s;
}
// Of an exchange of `bytes` among all at each step, at the last one.
inline double expect_flow_as_packets(const Case& config, const std::string& collective, double bytes,
                                     double tolerance, const std::string& what, int steps = 1) {
  const auto whole_bytes = static_cast<std::int64_t>(bytes);
  return expect_flow_as_packets(config, single_exchange(collective, config.replicas, whole_bytes, steps),
                                tolerance, what, steps);
}

// With the step times of the trace.
inline Case measured(Case config) {
  config.workload.step_time.kind = StepTime::Kind::kMeasured;
  return config;
}

// Carries what `carries` says; the rest never arrives.
class WatchedNetwork : public Network {
 public:
  WatchedNetwork(std::unique_ptr<Network> carrier, std::function<bool(const Transmission&)> carries)
      : carrier_(std::move(carrier)), carries_(std::move(carries)) {}

  void send(const Transmission& transfer, Arrival on_arrival, SyncParts* parts) override {
    if (carries_(transfer)) carrier_->send(transfer, std::move(on_arrival), parts);
  }
  bool note_equal_round(EqualRound round) override { return carrier_->note_equal_round(std::move(round)); }
  double ready_s() const override { return carrier_->ready_s(); }
  const std::vector<LinkLoad>& loads() override { return carrier_->loads(); }

 private:
  std::unique_ptr<Network> carrier_;
  std::function<bool(const Transmission&)> carries_;
};

// A star on which window effects are out of reach: with segments of 65,483 bytes the first window of ten
// covers the path (100 Mb/s x 35 ms with its serialization), and headers and acknowledgements are 0.2 % of a
// link.
constexpr double kRate = 1e8, kRtt = 0.03;
constexpr int kSegment = 65483;
// Latency: routers forward whole segments, so that the last one takes its time twice.
inline const double kLatency = kRtt / 2 + 8 * (kSegment + kHeaderBytes) / kRate;
inline const double kBytesPerSecond = kRate / 8 * payload_share(kSegment);

inline Case open_star(int replicas) {
  Case config = star_case(replicas, kRate, kRtt);
  config.network.tcp.segment = kSegment;
  return config;
}

}  // namespace longhaul
