#include "net/fifo.h"

#include <algorithm>
#include <cmath>

#include "net/framing.h"

namespace longhaul {

std::int64_t fifo_bytes(const TcpSpec& tcp, double rate, double rtt_s) {
  constexpr std::int64_t kLeastSegments = 20, kEverything = std::int64_t{1} << 30;
  if (tcp.queue_bytes) return std::llround(*tcp.queue_bytes);
  const double bytes = tcp.queue_products * rate / 8 * rtt_s;
  const std::int64_t least = kLeastSegments * (tcp.segment + kHeaderBytes);
  return std::isfinite(bytes) ? std::max(least, static_cast<std::int64_t>(bytes)) : kEverything;
}

double fifo_payload(const TcpSpec& tcp, double rate, double rtt_s) {
  const double packet = tcp.segment + kIpTcpBytes;
  return static_cast<double>(fifo_bytes(tcp, rate, rtt_s)) * tcp.segment / packet;
}

}  // namespace longhaul
