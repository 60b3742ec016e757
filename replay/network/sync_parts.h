// Where the time of a synchronization goes: the parts of done − start of one replica in one exchange.
//
// They are those of its critical chain. A message continues the chain of whichever of its ends was ready
// last, and a replica that continues because of a message continues that message's chain; so the parts of a
// ring are those of 2(n − 1) messages one after another, and a peer that is late shows as what the peer was
// busy with. Only what lies after `start` counts. The parts of every message add up to its time, and so do
// the chain's.
#pragma once

#include <string>
#include <vector>

#include "core/scenario/case.h"
#include "net/tcp/connection.h"

namespace longhaul {

// Seconds.
struct SyncParts {
  double bytes_s = 0;       // payload and headers at the rate that the path alone would give
  double latency_s = 0;     // propagation, and the last segment once more over every link but the slowest
  double startup_s = 0;     // waiting for acknowledgements while the window is smaller than the path holds
  double sharing_s = 0;     // sending slower than the path alone, because others use its links too
  double congestion_s = 0;  // what marks, losses and full queues cost besides
  double waiting_s = 0;     // outages, what was sent ahead and is not there yet, order of arrival

  double total_s() const { return bytes_s + latency_s + startup_s + sharing_s + congestion_s + waiting_s; }
};
inline constexpr double SyncParts::*kSyncParts[] = {&SyncParts::bytes_s,      &SyncParts::latency_s,
                                                    &SyncParts::startup_s,    &SyncParts::sharing_s,
                                                    &SyncParts::congestion_s, &SyncParts::waiting_s};
inline SyncParts& operator+=(SyncParts& parts, const SyncParts& other) {
  for (const auto part : kSyncParts) parts.*part += other.*part;
  return parts;
}
inline SyncParts& operator-=(SyncParts& parts, const SyncParts& other) {
  for (const auto part : kSyncParts) parts.*part -= other.*part;
  return parts;
}

// The last `kept_s` seconds of a message: latency is what comes last, the rest is taken evenly.
SyncParts last_seconds(const SyncParts& message, double kept_s);

// The parts of a message's time that are known without a model of TCP: its bytes at the rate of the path
// alone, and latency. The rest has causes that packets do not tell apart, and is `rest` (congestion_s).
SyncParts known_parts(const Topology& topology, const ConnectionFacts& facts, const TcpSpec& tcp,
                      std::int64_t bytes, double took_s);

// The parts that a case tells apart, by the names that they have in its files. With drawn message times
// `message` is what bytes are otherwise; `packet` and `linux` cannot say what kept a message longer than
// bytes and latency: `rest`.
struct NamedPart {
  std::string name;
  double SyncParts::*seconds;
};
std::vector<NamedPart> named_parts(const NetworkSpec& network);

}  // namespace longhaul
