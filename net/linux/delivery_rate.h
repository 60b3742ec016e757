// How fast a connection delivers: a sample for each acknowledgement (Cheng et al.,
// draft-cheng-iccrg-delivery-rate-estimation-00; net/ipv4/tcp_rate.c of Linux 6.18, in our words).
//
// A segment carries what had been delivered when it left. Once it is delivered, the difference over the time
// that it took is the rate: the longer of the time to send that data and the time to acknowledge it, so that
// neither acknowledgements that arrive in bunches nor a burst of the sender make it too large. Samples of
// segments that left while the application had nothing more to send say so.
#pragma once

#include <algorithm>
#include <cstdint>

#include "net/linux/packet.h"

namespace longhaul::linux_tcp {

// What one acknowledgement says. Segments, nanoseconds.
struct RateSample {
  std::int64_t delivered = -1;       // during `interval`; −1: no sample
  Nanoseconds interval = -1;         // −1: shorter than the least round trip, so wrong
  std::int64_t prior_delivered = 0;  // when the segment left that the sample is about
  bool is_app_limited = false;
  int newly_delivered = 0, newly_lost = 0, prior_in_flight = 0;
  Nanoseconds rtt = -1;         // of the latest segment; −1: none was measured
  bool is_ack_delayed = false;  // it answers one short segment: the receiver may have waited for another one
};

class DeliveryRate {
 public:
  // What a segment remembers of the moment when it was sent.
  struct Stamp {
    std::int64_t delivered = 0;
    Nanoseconds delivered_ns = -1, first_sent_ns = 0;  // delivered_ns −1: counted already
    bool is_app_limited = false;
  };

  // A segment leaves at `sent_ns`. `is_first`: nothing unacknowledged before it.
  Stamp sent(Nanoseconds sent_ns, bool is_first) {
    if (is_first) first_sent_ns_ = delivered_ns_ = sent_ns;
    return {delivered_, delivered_ns_, first_sent_ns_, app_limited_until_ > 0};
  }

  // An acknowledgement begins: of the segments that it covers, passed to covers(), the latest sent counts.
  void begin() {
    latest_ = {};
    latest_sent_ns_ = latest_number_ = -1;
  }
  void covers(Stamp& stamp, Nanoseconds sent_ns, std::int32_t number) {
    if (stamp.delivered_ns < 0) return;
    if (latest_.delivered_ns < 0 || sent_ns > latest_sent_ns_ ||
        (sent_ns == latest_sent_ns_ && number > latest_number_)) {
      latest_ = stamp;
      latest_sent_ns_ = first_sent_ns_ = sent_ns;
      latest_number_ = number;
    }
    stamp.delivered_ns = -1;
  }
  // The sample of that acknowledgement: `count` segments were newly delivered.
  RateSample sample(int count, Nanoseconds least_rtt, Nanoseconds now) {
    delivered_ += count;
    if (app_limited_until_ > 0 && delivered_ > app_limited_until_) app_limited_until_ = 0;
    if (count > 0) delivered_ns_ = now;
    RateSample sample;
    sample.newly_delivered = count;
    if (latest_.delivered_ns < 0) return sample;
    sample.delivered = delivered_ - latest_.delivered;
    sample.prior_delivered = latest_.delivered;
    sample.is_app_limited = latest_.is_app_limited;
    const Nanoseconds sending = latest_sent_ns_ - latest_.first_sent_ns,
                      acknowledging = now - latest_.delivered_ns;
    sample.interval = std::max(sending, acknowledging);
    if (sample.interval < least_rtt) sample.interval = -1;
    return sample;
  }

  // The application, or a probe of the round trip, keeps the sender from filling the path until all that is
  // in flight has been delivered.
  void limit(int in_flight) { app_limited_until_ = std::max<std::int64_t>(1, delivered_ + in_flight); }
  bool is_app_limited() const { return app_limited_until_ > 0; }
  std::int64_t delivered() const { return delivered_; }
  Nanoseconds delivered_ns() const { return delivered_ns_; }

 private:
  std::int64_t delivered_ = 1;  // the handshake
  Nanoseconds delivered_ns_ = 0, first_sent_ns_ = 0;
  std::int64_t app_limited_until_ = 0;  // delivered; 0: not limited
  Stamp latest_;
  Nanoseconds latest_sent_ns_ = -1;
  std::int32_t latest_number_ = -1;
};

}  // namespace longhaul::linux_tcp
