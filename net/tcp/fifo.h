// The FIFO in front of a link: how much it holds, so that both fidelities mean the same, and which FIFOs
// fidelity flow accepts.
//
// Flow accepts those that hold at once all that may be in flight through them. Nothing is lost there, in
// packets either; where FIFOs overflow, a packet more or less decides about a time-out, and flow is up to
// several times off (results/reference/residuals/fifo.md).
#pragma once

#include <cstdint>

#include "core/scenario/case.h"
#include "net/collectives/collective.h"
#include "net/topology.h"

namespace longhaul {

// Bytes of IP packets (what ns-3's queue discs count) in the FIFO of a link of `rate` bit/s over which the
// longest round trip is `rtt_s`: network.tcp.queue_size, at least 20 packets where that is a number of
// bandwidth-delay products. An infinite rate has room for everything.
std::int64_t fifo_bytes(const TcpSpec& tcp, double rate, double rtt_s);

// The same in bytes of payload of full segments.
double fifo_payload(const TcpSpec& tcp, double rate, double rtt_s);

// The most members that one member of a group hears from, or sends to, at the same time: their windows meet
// in the queue of its link. Counted over all rounds of the program, because members may be ahead of each
// other, or over one where a message awaits its receiver. Of more than 64 members as many, evenly chosen, are
// looked at.
int peers_at_once(const Collective& collective, int members);

// What windows of `window` bytes of payload, on all connections of a replica with `peers` others, may have in
// one FIFO: IP packets of full segments, and the acknowledgements of as much data the other way. Bytes.
double fifo_need(const TcpSpec& tcp, double window, int peers);

// Throws InputError where a FIFO holds less than that, or where links between routers that the replicas can
// fill have one. Of more than 64 replicas as many, evenly chosen, are looked at.
void check_fifo_for_flow(const TcpSpec& tcp, const Topology& topology, int peers = 1);

// Throws InputError where a FIFO may lose packets of ns-3's BBR, which does not recover from that: where it
// holds less than 1.5 bandwidth-delay products.
void check_fifo_for_bbr(const TcpSpec& tcp, const Topology& topology);

}  // namespace longhaul
