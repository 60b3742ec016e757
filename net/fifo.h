// The FIFO in front of a link: how much it holds, so that both fidelities mean the same.
#pragma once

#include <cstdint>

#include "core/case.h"
#include "net/topology.h"

namespace longhaul {

// Bytes of IP packets (what ns-3's queue discs count) in the FIFO of a link of `rate` bit/s over which the
// longest round trip is `rtt_s`: network.tcp.queue_size, at least 20 packets where that is a number of
// bandwidth-delay products. An infinite rate has room for everything.
std::int64_t fifo_bytes(const TcpSpec& tcp, double rate, double rtt_s);

// The same in bytes of payload of full segments.
double fifo_payload(const TcpSpec& tcp, double rate, double rtt_s);

// Throws InputError where fidelity flow is not within 20 % of packets in 95 of 100 exchanges (docs/model.md):
// FIFOs on links between routers that the replicas can fill, and FIFOs of less than four bandwidth-delay
// products, or of less than one where the windows of a pair together are no more than one product. Of more
// than 64 replicas as many, evenly chosen, are looked at.
void check_fifo_for_flow(const TcpSpec& tcp, const Topology& topology);

}  // namespace longhaul
