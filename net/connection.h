// What TCP between two replicas meets: the path, its round trip, and how large a window may get. One place, so that
// both fidelities mean the same.
#pragma once

#include "net/topology.h"

namespace longhaul {

struct ConnectionFacts {
  std::vector<LinkDirection> data;  // the path
  std::vector<LinkDirection> acks;  // the way back
  double delay_s = 0;               // one way, propagation
  double rtt_s = 0;                 // of a full segment and its acknowledgement on the idle path
  double bottleneck = 0;            // bit/s on the wire, of the slowest link there
  // Largest window of one connection, bytes of payload. With an unlimited window it is what a tuned host gives all
  // connections of the pair together: two bandwidth-delay products.
  double window_limit = 0;
};

ConnectionFacts connection_facts(const Topology& topology, const TcpSpec& tcp, int source, int target);

// Seconds from the moment when the bottleneck has sent the last byte of a message to its arrival: propagation, and
// the last segment once more over every other link (routers forward whole segments).
double tail_s(const Topology& topology, const ConnectionFacts& facts, int segment, std::int64_t bytes);

// TCP's retransmission time-out with a steady round trip; a connection that idled for longer starts again from its
// initial window (RFC 2861, Linux's tcp_slow_start_after_idle).
inline double restart_after_s(double rtt_s) { return rtt_s + 0.2; }

constexpr int kInitialWindowSegments = 10;  // RFC 6928

}  // namespace longhaul
