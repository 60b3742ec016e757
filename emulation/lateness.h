// How late the relay of a world (delay_relay.cc) was: what it does late, because the machine has other work
// or because there is too much for it, is a delay that the emulated network does not have.
#pragma once

#include <cstdint>
#include <string>

namespace longhaul {

// Later than that a packet is late, of this machine.
constexpr std::int64_t kLate_ns = 2000000;

// Counts of packets, in memory that the relay shares with those who ask.
struct RelayCounts {
  std::int64_t taken = 0, late = 0;
};

// The counts of the world around this process: those that the relay makes, and those to read. Throws
// RunError.
RelayCounts* new_relay_counts();

struct Lateness {
  std::int64_t packets = 0, late = 0;  // that the relay took; of those, late
  std::int64_t dropped = 0;            // that it did not take, since a host's device was full
};

// Of the world around this process, which enters its hosts' namespaces for it. Throws RunError.
Lateness lateness_of_world(int hosts);

// What makes times those of the machine: more than half a per cent of the packets late, or any dropped.
// "37 % of 12,000 packets were more than 2 ms late and 40 were dropped: ..."; "" where it kept up.
std::string lateness_in_words(const Lateness& lateness);

}  // namespace longhaul
