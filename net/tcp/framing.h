// What a segment of payload costs on the wire, computed from the segment size: Ethernet frames in every
// fidelity.
#pragma once

namespace longhaul {

// IPv4 20, TCP 20, timestamps 12; Ethernet header and check sequence 18, preamble 8, gap 12.
constexpr int kIpTcpBytes = 52;
constexpr int kEthernetBytes = 38;
constexpr int kHeaderBytes = kIpTcpBytes + kEthernetBytes;
constexpr int kSegmentsPerAck = 2;  // delayed acknowledgements

// Payload over bytes on the wire: 1448 / 1538 for the default segment.
inline double payload_share(int segment) {
  return static_cast<double>(segment) / (segment + kHeaderBytes);
}

// Bytes of payload a second of a rate on the wire, bit/s.
inline double payload_rate(double rate, int segment) {
  return rate * payload_share(segment) / 8;
}

// Bytes of acknowledgements on the reverse path, for each byte of data on the wire.
inline double ack_share(int segment) {
  return static_cast<double>(kHeaderBytes) / (kSegmentsPerAck * (segment + kHeaderBytes));
}

}  // namespace longhaul
