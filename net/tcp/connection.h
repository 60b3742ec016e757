// What TCP between two replicas meets: the path, its round trip, and how large a window may get. One place,
// so that both fidelities mean the same.
#pragma once

#include "net/topology.h"

namespace longhaul {

struct ConnectionFacts {
  std::vector<LinkDirection> data;  // the path
  std::vector<LinkDirection> acks;  // the way back
  double delay_s = 0;               // one way, propagation
  double rtt_s = 0;                 // of a full segment and its acknowledgement on the idle path
  double bottleneck = 0;            // bit/s on the wire, of the slowest link there
  double ack_limit = 0;             // bit/s on the wire, of the data whose acknowledgements fill the way back
  // Largest window of one connection, bytes of payload. With an unlimited window it is what a tuned host
  // gives all connections of the pair together: two bandwidth-delay products.
  double window_limit = 0;
};

ConnectionFacts connection_facts(const Topology& topology, const TcpSpec& tcp, int source, int target);

// The same connection when its links have other rates and delays (by direction, rates above 0): its path
// stays, and so does a window that the scenario or a matrix gives; a tuned host's buffer follows.
ConnectionFacts facts_at(const Topology& topology, const TcpSpec& tcp, int source, int target,
                         const ConnectionFacts& own, const std::vector<double>& rates,
                         const std::vector<double>& delays_s);

// What `connections` of them carry with the path to themselves, bytes of payload a second: the slowest link,
// the acknowledgements on the way back, or the largest windows. `among`: so many such share the path evenly.
double alone_rate(const ConnectionFacts& facts, int segment, int connections, int among = 1);

// Seconds from the moment when a fluid at the bottleneck's rate has sent the last byte of a message to its
// arrival: propagation, and what whole segments and their headers take longer (routers forward whole ones).
double tail_s(const Topology& topology, const ConnectionFacts& facts, int segment, std::int64_t bytes);
double tail_s(const std::vector<double>& rates, const ConnectionFacts& facts, int segment,
              std::int64_t bytes);

// Linux's retransmission time-out with a steady round trip.
inline double retransmission_timeout_s(double rtt_s) {
  return rtt_s + 0.2;
}

// The part of its congestion window that a connection keeps after sending nothing for `idle_s`, at least down
// to the initial window; 1 if it idled for less than a time-out. It is halved for every whole time-out (RFC
// 2861, Linux's tcp_slow_start_after_idle). Seven of them leave the initial one of the largest windows.
double window_kept_after_idle(double idle_s, double rtt_s);
// The same with its steps smoothed, floor(x) to its mean x − 1/2: what fidelity `packet` does, and `flow`
// with ns-3's windows.
double smooth_window_kept_after_idle(double idle_s, double rtt_s);

constexpr int kInitialWindowSegments = 10;  // RFC 6928

}  // namespace longhaul
