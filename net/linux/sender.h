// The sending end of one connection in fidelity `linux`: which segment leaves when, as Linux's TCP has it
// (net/ipv4/tcp_output.c, tcp_input.c, tcp_recovery.c, tcp_timer.c of 6.18, described in our words).
//
// Selective acknowledgements (RFC 2018), loss detection by time (RACK-TLP, RFC 8985), proportional rate
// reduction (RFC 6937), time-outs (RFC 6298 with Linux's floor of 200 ms over the round trip) and their undo
// by F-RTO (RFC 5682), windows that restart after idling (RFC 2861) and do not grow unused (RFC 7661), TCP
// small queues. BBR's segments are paced by a timer of the socket, those of each control by the host's queue
// if that is fq. The application is blocked, or waits for the socket to be writable, while the send buffer is
// full; that grows with the window (tcp_sndbuf_expand).
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "net/linux/congestion_control.h"
#include "net/linux/delivery_rate.h"
#include "net/linux/pacer.h"
#include "net/linux/packet.h"
#include "net/linux/round_trips.h"

namespace longhaul::linux_tcp {

// That a connection can number.
constexpr std::int64_t kMostSegments = 1 << 30;
constexpr char kTooManySegments[] =
    "a connection would carry more than 2^30 segments; use more connections, or less time";

// Memory of a socket for what is written and not acknowledged.
struct SendBuffer {
  std::int64_t first = 16384;     // tcp_wmem's default; a buffer is at least twice the first window
  std::int64_t most = 1LL << 40;  // net.ipv4.tcp_wmem's last number
  // Of the kernel's bookkeeping for a segment: 832 bytes for each buffer, of which one holds several segments
  // where the device segments itself (78 kB in seven of them were seen).
  int overhead = 108;
};

struct SenderRules {
  std::string congestion_control = "cubic";
  int segment = 1448;                 // bytes of payload
  int window_limit = 1 << 30;         // segments in flight that the send buffer allows
  bool slow_start_after_idle = true;  // net.ipv4.tcp_slow_start_after_idle
  bool has_fq = false;                // the host's queue (qdisc) is fq, which paces
  bool has_small_queues = true;       // the host's own queue is a bottleneck of its data
  SendBuffer buffer;
  Nanoseconds phase_ns = 0;           // of the host's jiffies
  std::uint64_t seed = 1;
  int connection = 0;  // draws of the seed differ by it
};

// Why a segment is pushed (PSH).
enum class Push : std::uint8_t {
  kNone,
  kFull,     // the send buffer was full behind it
  kMessage,  // it is the last one of a message
};

// Where a sender's segments go. The host passes them to its queue.
class SegmentOutput {
 public:
  virtual ~SegmentOutput() = default;
  // `number` leaves; `missing`: bytes that it is short of a full segment.
  virtual void transmit(std::int32_t number, int missing, Push push, bool is_again, Nanoseconds now) = 0;
};

class Sender {
 public:
  // `rtt`: measured when the connection was made.
  Sender(const SenderRules& rules, Nanoseconds rtt, SegmentOutput& output);

  // The application writes a message of `bytes` > 0, behind what it has not been able to write yet.
  void write(std::int64_t bytes, Nanoseconds now);
  // What it has not sent yet it will not send.
  void drop_unsent();
  void acknowledged(const Packet& ack, Nanoseconds now);
  // One of its segments left the host's own queue.
  void left_queue(Nanoseconds now);
  // When timer_fired() is due; kNever if nothing is.
  Nanoseconds timer_ns() const { return std::min(timer_ns_, pace_ns_); }
  void timer_fired(Nanoseconds now);

  bool is_idle() const { return unwritten_.empty() && next_ == written_ && first_ == next_; }
  Nanoseconds echo_ns() const { return echo_ns_; }
  // Whether the next new segment tells the receiver that the window was cut for a mark (RFC 3168).
  bool take_cut() { return std::exchange(tells_cut_, false); }
  int window() const { return state_.window; }
  int threshold() const { return state_.threshold; }
  double pacing_rate() const { return state_.pacing_rate; }  // bytes of payload a second
  const CongestionControl& control() const { return *control_; }
  std::int32_t next() const { return next_; }  // the first one that it never sent
  int buffered() const { return written_ - first_; }     // segments in the socket
  std::int64_t buffer_bytes() const { return buffer_; }  // that it has for them
  std::int64_t sent() const { return sent_; }
  std::int64_t sent_again() const { return sent_again_; }
  std::int64_t time_outs() const { return time_outs_; }

 private:
  enum class Phase { kOpen, kDisorder, kReduced, kRecovery, kLoss };  // kReduced: Linux's CWR
  enum class Timer { kNone, kTimeOut, kProbe, kReorder };

  // A segment that was sent and is not acknowledged.
  struct Sent {
    Nanoseconds sent_ns = 0;
    bool is_sacked = false, is_lost = false;
    bool is_sent_again = false;   // and under way
    bool was_sent_again = false;  // ever
  };
  struct Resent {
    std::int32_t number;
    Nanoseconds sent_ns;
  };
  struct End {
    std::int32_t number;  // of a segment that is pushed
    int missing;          // bytes
    Push push;
  };
  // What one acknowledgement says.
  struct News {
    bool advances = false, has_sacks = false, is_duplicate = false, has_window = false, has_mark = false;
    bool covers_resent = false, covers_original = false;  // below the mark of recovery, never sent again
    bool sets_timer = false;
    int delivered = 0;
    Nanoseconds first_ns = -1, last_ns = -1;  // when the first and last one covered were sent
    Nanoseconds first_sacked_ns = -1, last_sacked_ns = -1;
    Nanoseconds rtt = -1;   // of the latest segment covered
    bool is_short = false;  // it covers one segment that was not full
  };
  // A segment in the host's fq, until it leaves.
  struct Held {
    Nanoseconds leaves_ns;
    std::int32_t number;
    int missing;
    Push push;
    bool is_again;
  };

  Sent& at(std::int32_t number) { return ring_[static_cast<std::size_t>(number) & (ring_.size() - 1)]; }
  int in_flight() const { return next_ - first_ - sacked_ - lost_ + resent_; }
  bool is_reducing() const { return phase_ == Phase::kReduced || phase_ == Phase::kRecovery; }
  std::int64_t jiffies(Nanoseconds now) const { return jiffies_at(now, rules_.phase_ns); }

  std::int64_t buffer_used() const;
  void fill_buffer();
  void grow_buffer();
  void use_buffer(Nanoseconds now);
  void push(Nanoseconds now, bool is_probe = false);
  void send_again(std::int32_t number, Nanoseconds now);
  void send_lost(Nanoseconds now);
  bool may_queue() const;
  bool waits_for_pace(Nanoseconds now);
  void make_room();
  void pace(Nanoseconds now);
  void release(Nanoseconds now);
  void control(const News& news, int prior_in_flight, int newly_lost, Nanoseconds now);
  void update_pacing_rate();
  void tell_control();
  DeliveryRate::Stamp& stamp(std::int32_t number) {
    return stamps_[static_cast<std::size_t>(number) & (stamps_.size() - 1)];
  }
  void emit(std::int32_t number, bool is_again, Nanoseconds now);
  void restart_if_idle(Nanoseconds now);
  void note_use(bool is_limited, Nanoseconds now);
  bool is_window_used() const;

  void take_sacks(const Packet& ack, News& news, Nanoseconds now);
  void take_range(Range range, News& news, Nanoseconds now);
  void sack(std::int32_t number, News& news, Nanoseconds now);
  void take_covered(std::int32_t up_to, News& news, Nanoseconds now);
  void advance_rack(const Sent& sent, std::int32_t number, Nanoseconds now);
  void measure(News& news, Nanoseconds now);
  void take_probe_answer(const News& news, std::int32_t ack);
  void change_phase(News& news, Nanoseconds now);
  bool mark_lost(Nanoseconds now);  // by time; whether a timer waits for more
  Nanoseconds find_lost(Nanoseconds now);
  void lose(std::int32_t number);
  void begin_reduction();
  void enter_recovery();
  void reduce(int delivered, int newly_lost, bool advances);
  void end_reduction();
  void leave_loss(const News& news);
  void undo();
  void keep_open();
  void time_out(Nanoseconds now);
  void probe(Nanoseconds now);
  bool set_probe(Nanoseconds now, bool is_new);
  void set_time_out(Nanoseconds now);
  void set_timer(Timer timer, Nanoseconds wait, Nanoseconds now);
  Nanoseconds left_to_time_out(Nanoseconds now);
  Nanoseconds reordering_window() const;

  SenderRules rules_;
  SegmentOutput& output_;
  WindowState state_;
  DeliveryRate rate_;
  std::unique_ptr<CongestionControl> control_;
  bool has_control_;  // of its own: cong_control
  Phase phase_ = Phase::kOpen;

  // Segments: first_ (unacknowledged) ≤ next_ (to send) ≤ written_ (in the socket).
  std::int32_t first_ = 0, next_ = 0, written_ = 0, edge_;
  std::vector<Sent> ring_;  // of first_ … next_ − 1, by number
  std::vector<DeliveryRate::Stamp> stamps_;  // of the same, for a control that samples the rate
  std::deque<End> ends_;  // that are not acknowledged
  std::deque<std::int64_t> unwritten_;  // bytes of writes that are not whole in the socket
  std::int64_t buffer_, segment_memory_;
  bool is_blocked_ = false;  // SOCK_NOSPACE
  int sacked_ = 0, lost_ = 0, resent_ = 0;
  std::int64_t lost_ever_ = 0;
  std::vector<Range> sacked_ranges_;  // of what is unacknowledged, ascending, apart from each other
  std::int32_t to_resend_ = 0;        // no lost segment below it waits to be sent again

  // RACK.
  std::int32_t rack_number_ = -1, rack_next_ = 0;  // originals below rack_next_ are settled
  Nanoseconds rack_sent_ = 0, rack_rtt_ = 0;
  bool has_rack_advanced_ = false;
  std::deque<Resent> resent_order_;

  // Recovery.
  std::int32_t mark_ = 0;  // high_seq
  int window_before_ = 0, threshold_before_ = 0, delivered_ = 0, sent_since_ = 0;
  bool may_undo_ = false, tries_f_rto_ = false;
  std::int32_t probe_mark_ = 0;  // 0: no probe is out
  bool probed_old_ = false;

  // Use of the window.
  int most_out_ = 0, used_ = 0;
  std::int32_t use_mark_ = 0;
  bool is_limited_ = false;
  Nanoseconds use_ns_ = 0, last_sent_ns_ = 0;

  RoundTrips trips_;
  int backoff_ = 0;      // of the time-out: it doubles each time, until a round trip is measured
  int retransmits_ = 0;  // time-outs since something new was acknowledged

  Timer timer_ = Timer::kNone;
  Nanoseconds timer_ns_ = kNever;
  Pacer pacer_;
  Nanoseconds pace_ns_ = kNever;  // the pacing timer
  std::deque<Held> held_;
  bool tells_cut_ = false;
  int queued_ = 0;  // of its segments, in the host's queue
  Nanoseconds echo_ns_ = -1;
  std::int64_t sent_ = 0, sent_again_ = 0, time_outs_ = 0;
};

}  // namespace longhaul::linux_tcp
