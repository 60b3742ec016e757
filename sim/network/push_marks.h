// Which segments of a connection carry PSH besides the ends of writes: the last of two or more that leave
// together, as Linux does with every packet for segmentation offload (__tcp_transmit_skb, since 5.4). ns-3
// sets no PSH. Segments that leave at the same moment are taken as one such packet.
//
// Places are bytes since the beginning of the connection.
#pragma once

#include <cstdint>
#include <deque>

namespace longhaul {

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
