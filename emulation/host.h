// The process that is one worker on the network: it lives in the network namespace of its host, sends what it
// is told over TCP connections of its own, and says what has arrived.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/scenario/network_spec.h"

namespace longhaul {

// Host i of a world (world.h) is the namespace `lh`i with the address 10.9.0.(i + 1) on its device `wan`.
std::string address_of(int host);
// This process enters its namespace. Throws RunError.
void enter_namespace(int host);

// What is said over the socket between a host and the network, a packet each. A message is split over the
// connections; each share begins with its own HostMessage on the wire, within its bytes.
struct HostMessage {
  std::int64_t number = 0;  // of the message; from a host: a share of it has arrived
  std::int64_t bytes = 0;   // of the share
  int target = 0, connection = 0;

  static constexpr std::int64_t kConnected = -1;  // a number: all connections of the host are made
};

struct HostPlan {
  int host = 0;
  std::vector<int> targets;  // hosts to which it sends
  int incoming = 0;          // connections by which it receives
  TcpSpec tcp;
};

// Serves until the other end of the socket `control` is closed. Throws RunError.
void serve_as_host(const HostPlan& plan, int control);

}  // namespace longhaul
