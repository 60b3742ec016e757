// The FIFO in front of a link, in fidelity packet: how much it holds, and which FIFOs BBR can work with.
#pragma once

#include <cstdint>

#include "core/scenario/case.h"
#include "net/topology.h"

namespace longhaul {

// Bytes of IP packets (what ns-3's queue discs count) in the FIFO of a link of `rate` bit/s over which the
// longest round trip is `rtt_s`: network.tcp.queue_size, at least 20 packets where that is a number of
// bandwidth-delay products. An infinite rate has room for everything.
std::int64_t fifo_bytes(const TcpSpec& tcp, double rate, double rtt_s);

// Throws InputError where a FIFO may lose packets of ns-3's BBR, which does not recover from that: where it
// holds less than 1.5 bandwidth-delay products.
void check_fifo_for_bbr(const TcpSpec& tcp, const Topology& topology);

}  // namespace longhaul
