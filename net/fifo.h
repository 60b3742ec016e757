// The FIFO in front of a link: how much it holds, so that both fidelities mean the same.
#pragma once

#include <cstdint>

#include "core/case.h"

namespace longhaul {

// Bytes of IP packets (what ns-3's queue discs count) in the FIFO of a link of `rate` bit/s over which the
// longest round trip is `rtt_s`: network.tcp.queue_size, at least 20 packets where that is a number of
// bandwidth-delay products. An infinite rate has room for everything.
std::int64_t fifo_bytes(const TcpSpec& tcp, double rate, double rtt_s);

// The same in bytes of payload of full segments.
double fifo_payload(const TcpSpec& tcp, double rate, double rtt_s);

}  // namespace longhaul
