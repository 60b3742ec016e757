#include "sim/network/host_acks.h"

#include <algorithm>

namespace longhaul {
namespace {

constexpr int kMostQuick = 16, kLeastQuick = 2;  // TCP_MAX_QUICKACKS; where the window is below two segments
constexpr double kFirstWindow = 65535;           // that a Linux host offers in its handshake at most
constexpr double kLeastDeviation_s = 0.2;        // TCP_RTO_MIN

// RFC 6298, 2.2, for the one round trip that a host measures that only receives: RTT + 4 · RTT / 2.
double timeout_of_receiver_s(double rtt_s) {
  return rtt_s + std::max(2 * rtt_s, kLeastDeviation_s);
}

int quick_acks(double receive_window, double segment) {
  const double half = receive_window / (2 * segment);
  return half < 1 ? kLeastQuick : static_cast<int>(std::min<double>(half, kMostQuick));
}

}  // namespace

HostAcks::HostAcks(int segment, double receive_buffer, double rtt_s)
    : segment_(segment), receive_buffer_(receive_buffer), timeout_s_(timeout_of_receiver_s(rtt_s)) {}

bool HostAcks::at_once(std::int64_t bytes, bool is_pushed, double now_s) {
  const auto segment = static_cast<double>(segment_);
  if (received_s_ < 0)
    quick_ = quick_acks(std::min(receive_buffer_, kFirstWindow), segment);
  else if (now_s - received_s_ > timeout_s_)
    quick_ = std::max(quick_, quick_acks(receive_buffer_, segment));
  received_s_ = now_s;
  if (quick_ > 0) {
    --quick_;
    return true;
  }
  return is_pushed || bytes < segment_;
}

void PushMarks::sent(std::int64_t begin, std::int64_t end, double now_s) {
  const bool is_together = now_s == sent_s_ && begin == end_;
  if (!is_together && !is_alone_) marks_.push_back(end_);
  is_alone_ = !is_together;
  end_ = end;
  sent_s_ = now_s;
}

bool PushMarks::take(std::int64_t end) {
  bool is_marked = !is_alone_ && end == end_;
  while (!marks_.empty() && marks_.front() <= end) {
    is_marked = is_marked || marks_.front() == end;
    marks_.pop_front();
  }
  return is_marked;
}

}  // namespace longhaul
