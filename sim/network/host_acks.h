// When the receiver of a Linux host acknowledges a segment at once, where RFC 5681 lets it wait for a second
// one (net/ipv4/tcp_input.c and tcp.c of Linux 6.1):
//
// - the first segments of a connection, and the first ones after a silence longer than the receiver's own
//   retransmission time-out, each by itself: 16 of them, or half of the receive window if that is less
//   (tcp_incr_quickack);
// - a segment that is not full, or that ends a write of the sender or a burst (PSH), once its reader has
//   taken everything (tcp_measure_rcv_mss, tcp_cleanup_rbuf);
// - else every second one, and a lone one after 40 ms.
//
// Not in it: a host that answers over the same connection (ping-pong), segments that the network card joins
// (GRO), the acknowledgements after marks and duplicates.
#pragma once

#include <cstdint>
#include <deque>

namespace longhaul {

class HostAcks {
 public:
  // `segment`: payload of a full one; `receive_buffer`: bytes; `rtt_s`: as the handshake measured it.
  HostAcks(int segment, double receive_buffer, double rtt_s);

  // Whether `bytes` that came in order at `now_s` are acknowledged at once. `is_pushed`: the last of them
  // carries PSH.
  bool at_once(std::int64_t bytes, bool is_pushed, double now_s);

 private:
  std::int64_t segment_;
  double receive_buffer_, timeout_s_;
  double received_s_ = -1;  // when data came last; before the first -1
  int quick_ = 0;           // acknowledgements that each segment still gets at once
};

// Which segments of a connection carry PSH besides the ends of writes: the last of two or more that leave
// together, as Linux does with every packet for segmentation offload (__tcp_transmit_skb, since 5.4). ns-3
// sets no PSH. Segments that leave at the same moment are taken as one such packet.
//
// Places are bytes since the beginning of the connection.
class PushMarks {
 public:
  // The sender has handed bytes `begin` … `end` to its network at `now_s`.
  void sent(std::int64_t begin, std::int64_t end, double now_s);
  // Whether the segment that ends at `end` carries a mark; the receiver has all before it. Forgets the marks
  // up to there.
  bool take(std::int64_t end);

 private:
  std::deque<std::int64_t> marks_;
  std::int64_t end_ = 0;  // of the segments that left together last
  double sent_s_ = -1;
  bool is_alone_ = true;
};

}  // namespace longhaul
