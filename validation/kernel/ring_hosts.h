// A ring all-reduce over the Linux kernel's own TCP: each member a process in a network namespace of its own
// with a TUN device, all joined by a relay that delays every packet (delay_relay.h). The sum is real and is
// checked.
//
// The sender's token bucket is the bottleneck, as in fidelity `flow` with queue `host`. A member sends slice
// k of a round as soon as it has received slice k of the round before; nothing is sent before both ends are
// ready, which members see in shared memory, without a message.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace longhaul {

struct KernelRing {
  int members = 0;
  std::int64_t chunk = 0;  // bytes, a 1/members of the vector; a multiple of 4
  std::int64_t slice = 0;  // bytes; the chunk: whole chunks
  double rate = 0;         // bit/s on the wire, of each sender
  double rtt_s = 0;
  bool slow_start_after_idle = true;
  std::string congestion_control = "cubic";
  // By exchange and member: seconds between being done with the one before and posting this one.
  std::vector<std::vector<double>> compute_s;
};

// Why the machine cannot do this; empty if it can.
std::string why_no_kernel_rings();

// Seconds from the moment when the last member was ready until the last was done, by exchange. Throws
// std::runtime_error where an end of it died or the sum is wrong.
std::vector<double> run_kernel_ring(const KernelRing& ring);

}  // namespace longhaul
