#include "net/tcp/bbr.h"

#include <algorithm>

#include "net/tcp/connection.h"

namespace longhaul {
namespace {

constexpr double kHighGain = 2.885, kMargin = 0.99;  // 2 / ln 2; one per cent less than what was seen
constexpr double kFullGrowth = 1.25;
constexpr int kFullRounds = 3, kPhases = 8;
constexpr double kRoundsKept = 10;
constexpr double kPathKept_s = 10, kProbe_s = 0.2, kProbeSegments = 4;
constexpr double kPieces = 16;  // of a round trip; the kernel has an acknowledgement for two segments
constexpr double kNoBytes = 1e-3, kSameTime_s = 2e-9, kLeastWait_s = 1e-7;
// What leaves at once (bbr_tso_segs_goal): a 1024th of a second, to 64 KiB less one and the headers.
constexpr double kQuantum_s = 1. / 1024, kMostQuantum = 65215, kOneSegmentBelow = 1.2e6 / 8;

// Less than what leaves in a tick of the clock, at `rate`: the channel sends no such rest.
double nothing(double rate) {
  return kNoBytes + kSameTime_s * rate;
}

}  // namespace

Bbr::Bbr(double segment, double rtt_s)
    : segment_(segment),
      rtt_s_(std::max(rtt_s, kLeastWait_s)),
      pacing_(kHighGain * kMargin * kInitialWindowSegments * segment / rtt_s_),
      window_(kInitialWindowSegments * segment) {}

void Bbr::follow_path(double rtt_s) {
  rtt_s_ = std::max(rtt_s, kLeastWait_s);
}

double Bbr::gain() const {
  if (is_restarting_) return 1;
  return phase_ == 0 ? 1.25 : phase_ == 1 ? 0.75 : 1;
}

// The kernel paces nothing before ten segments have left.
double Bbr::pacing() const {
  if (probing_until_s_ >= 0) return kProbeSegments * segment_ / rtt_s_;
  if (!is_starting_) return gain() * kMargin * bandwidth_;
  return sent_ < kInitialWindowSegments * segment_ - kNoBytes ? kNever : pacing_;
}

bool Bbr::is_paced(double rate) const {
  return rate >= pacing() * (1 - 1e-9);
}

double Bbr::credit() const {
  return is_starting_ ? std::max(0., window_ - in_flight_) : kNever;
}

double Bbr::wait_s(double rate, double now_s) const {
  double next_s = probing_until_s_ >= 0 ? probing_until_s_ : path_seen_s_ + kPathKept_s;
  if (is_starting_) {
    if (!under_way_.empty()) next_s = std::min(next_s, under_way_.front().acknowledged_s);
    if (credit() > nothing(rate)) {
      next_s = std::min(next_s, (piece_.bytes > 0 ? piece_.begin_s : now_s) + rtt_s_ / kPieces);
      const double unpaced = kInitialWindowSegments * segment_ - sent_;
      next_s = std::min(next_s, now_s + std::min(credit(), unpaced > kNoBytes ? unpaced : kNever) / rate);
    }
  } else if (probing_until_s_ < 0 && (phase_ > 0 || is_paced(rate))) {
    next_s = std::min(next_s, phase_began_s_ + rtt_s_);
  }
  return std::max(kLeastWait_s, next_s - now_s);
}

void Bbr::begin(double now_s) {
  if (is_starting_) {
    end_piece(last_sent_s_);
    take_acknowledgements(now_s);
    if (in_flight_ <= kNoBytes) delivered_s_ = now_s;
    app_limited_until_ = delivered_ + in_flight_;
  }
  if (probing_until_s_ >= 0 && now_s >= probing_until_s_) end_probe(now_s);
  const bool is_idle = now_s >= last_sent_s_ + rtt_s_;
  if (is_idle && now_s >= path_seen_s_ + kPathKept_s) path_seen_s_ = now_s;
  if (now_s <= last_sent_s_ + kSameTime_s) return;
  sending_since_s_ = now_s;
  if (is_idle) is_restarting_ = !is_starting_;
  if (is_idle || (phase_ == 0 && !is_restarting_)) phase_began_s_ = now_s;
}

void Bbr::advance(double bytes, double rate, double now_s) {
  if (bytes > 0) last_sent_s_ = now_s;
  if (is_starting_)
    start(bytes, rate, now_s);
  else if (bytes > 0)
    cycle(bytes, rate, now_s);
  if (probing_until_s_ >= 0 && now_s >= probing_until_s_ - kSameTime_s) {
    end_probe(now_s);
  } else if (probing_until_s_ < 0 && now_s >= path_seen_s_ + kPathKept_s - kSameTime_s) {
    probing_until_s_ = now_s + rtt_s_ + kProbe_s;
  }
}

void Bbr::end_probe(double now_s) {
  probing_until_s_ = -1;
  path_seen_s_ = now_s;
  phase_began_s_ = now_s;
  is_restarting_ = false;
  if (phase_ == 1) phase_ = 2;  // bbr_reset_probe_bw_mode never takes 0.75
}

void Bbr::start(double bytes, double rate, double now_s) {
  if (bytes > 0) {
    if (piece_.bytes == 0) piece_.begin_s = now_s - bytes / rate;
    piece_.bytes += bytes;
    in_flight_ += bytes;
    sent_ += bytes;
  }
  if (now_s >= piece_.begin_s + rtt_s_ / kPieces - kSameTime_s || credit() <= nothing(rate))
    end_piece(last_sent_s_);
  take_acknowledgements(now_s);
}

void Bbr::end_piece(double end_s) {
  if (piece_.bytes == 0) return;
  piece_.acknowledged_s = (piece_.begin_s + end_s) / 2 + rtt_s_;
  piece_.end_acknowledged_s = end_s + rtt_s_;
  piece_.delivered = delivered_;
  piece_.delivered_s = delivered_s_;
  piece_.is_app_limited = delivered_ <= app_limited_until_;
  under_way_.push_back(piece_);
  piece_ = {};
}

void Bbr::take_acknowledgements(double now_s) {
  if (probing_until_s_ >= 0) app_limited_until_ = delivered_ + in_flight_;
  while (is_starting_ && !under_way_.empty() && under_way_.front().acknowledged_s <= now_s + kSameTime_s) {
    const Piece piece = under_way_.front();
    under_way_.pop_front();
    acknowledge(piece);
  }
}

void Bbr::acknowledge(const Piece& piece) {
  in_flight_ -= piece.bytes;
  delivered_ += piece.bytes;
  delivered_s_ = piece.end_acknowledged_s;
  const double rate = (delivered_ - piece.delivered) / (delivered_s_ - piece.delivered_s);
  if (!piece.is_app_limited || rate >= bandwidth_) sample(rate);
  pacing_ = std::max(pacing_, kHighGain * kMargin * bandwidth_);
  const double least = pacing_ < kOneSegmentBelow ? segment_ : 2 * segment_;
  const double quantum = std::max(least, std::min(kMostQuantum, pacing_ * kQuantum_s));
  const double target = kHighGain * bandwidth_ * rtt_s_ + 3 * quantum;
  if (window_ < target || delivered_ < kInitialWindowSegments * segment_) window_ += piece.bytes;
  count_rounds(piece);
}

void Bbr::count_rounds(const Piece& piece) {
  if (piece.delivered < next_round_) return;
  next_round_ = delivered_;
  ++rounds_;
  if (piece.is_app_limited) return;
  if (bandwidth_ >= kFullGrowth * full_bandwidth_) {
    full_bandwidth_ = bandwidth_;
    full_rounds_ = 0;
  } else if (++full_rounds_ == kFullRounds) {
    is_starting_ = false;
    under_way_.clear();
    phase_began_s_ = delivered_s_;
  }
}

// The largest of ten round trips.
void Bbr::sample(double rate) {
  if (rate < bandwidth_ && rounds_ <= bandwidth_round_ + kRoundsKept) return;
  bandwidth_ = rate;
  bandwidth_round_ = rounds_;
}

void Bbr::cycle(double bytes, double rate, double now_s) {
  rounds_ += bytes / rate / rtt_s_;
  if (probing_until_s_ >= 0 || now_s < phase_began_s_ + rtt_s_ - kSameTime_s) return;
  const bool is_over = phase_ > 0 || (is_paced(rate) && !is_restarting_);
  // What leaves in the first round trip behind a pause is app-limited, and shows only more than was known.
  if (rate >= bandwidth_ || now_s >= sending_since_s_ + 2 * rtt_s_ - kSameTime_s) sample(rate);
  phase_began_s_ = now_s;
  is_restarting_ = false;
  if (is_over) phase_ = (phase_ + 1) % kPhases;
}

}  // namespace longhaul
