// CoDel (RFC 8289) on one flow's queue: it marks or drops the packet that leaves once packets have waited
// longer than the target for a whole interval, and again interval / sqrt(count) after each signal until the
// wait is short again. Target and interval are those of fq_codel (RFC 8290): 5 ms and 100 ms.
#pragma once

#include "net/congestion_signals.h"

namespace longhaul {

class CoDel : public QueueSignals {
 public:
  static constexpr double kTarget_s = 0.005, kInterval_s = 0.1;

  explicit CoDel(bool marks) : marks_(marks) {}

  double watched_level(double rate) const override { return rate * kTarget_s; }
  void above(double since_s) override;
  void below(double) override { is_above_ = false; }
  double next_s(double from_s) override;
  bool drops() const override { return !marks_; }

 private:
  void signal();
  void newton_step() { inverse_root_ *= (3 - count_ * inverse_root_ * inverse_root_) / 2; }

  bool marks_;
  bool is_above_ = false;
  bool is_signalling_ = false;  // the first signal of this stay above the target has come
  double next_s_ = kNoSignal;
  double latest_next_s_ = -kNoSignal;  // when the stay before would have signalled next
  double inverse_root_ = 1;            // of count; one Newton step a signal, as in the RFC's appendix
  unsigned count_ = 0, first_count_ = 0;
};

}  // namespace longhaul
