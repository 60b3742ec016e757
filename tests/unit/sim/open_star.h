// A star on which window effects are out of reach: with segments of 65,483 bytes the first window of ten
// covers the path (100 Mb/s x 35 ms with its serialization), and headers and acknowledgements are 0.2 % of a
// link.
#pragma once

#include "net/tcp/framing.h"
#include "tests/unit/sim/replays.h"

namespace longhaul {

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
