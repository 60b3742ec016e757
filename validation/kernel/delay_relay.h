// The wide area between hosts on one machine: every IP packet that one host sends comes to the other a fixed
// time later. No rate, no queue, no loss; rates are those of the senders' own queues.
#pragma once

#include <vector>

namespace longhaul {

// Relays between TUN devices until `stop` can be read (the other end was closed). Host i has the address
// 10.9.0.(i + 1); other packets are dropped.
void relay_packets(const std::vector<int>& tuns, double delay_s, int stop);

}  // namespace longhaul
