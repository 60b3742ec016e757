// The section `faults` of a scenario: what goes wrong, when and for how long. Every method that is compared
// meets the same faults: a draw belongs to (seed, number of the fault, whom it strikes) and to nothing else.
//
// Times count from the beginning of the training, on the clock of the replay.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/json.h"
#include "core/base/options.h"

namespace longhaul {

// When: once, from `at_s` on for `for_s`; or again and again, each after an exponential time of mean
// `every_s` since the one before was over, and for a time of mean `for_s` (exponential, or log-normal with
// `for_sigma`).
struct FaultTimes {
  double at_s = 0, every_s = 0;  // every_s 0: once
  double for_s = std::numeric_limits<double>::infinity();
  double for_sigma = 0;  // of the logarithm; 0: exponential
};

// A replica's compute takes `factor` times as long.
struct SlowFault {
  int number = 0;                       // in the scenario's list
  std::pair<int, int> replicas{0, -1};  // workers, first and last; each by itself
  double factor = 1;
  FaultTimes times;
};

// A link has `rate` times its rate, 0 for none, and `delay` times its delay, both ways.
struct LinkFault {
  int number = 0;
  std::string link;  // a name or a glob, each link by itself; empty: all links of `site` to others, together
  std::string site;
  double rate = 1, delay = 1;
  double loss = 0;  // of a packet, besides network.tcp.loss
  FaultTimes times;
};

// A replica is gone. A crash: what it computed since its last step is lost, and its exchanges lack it. A
// replica that leaves goes behind the next step that ends with an exchange, and all know.
struct CrashFault {
  enum class Manner { kCrash, kLeave };
  int number = 0;
  std::pair<int, int> replicas{0, -1};  // first and last; each by itself
  FaultTimes times;
  Manner manner = Manner::kCrash;
  std::string file = {};  // that has replicas and times instead (replay/absence_trace.h)

  bool is_orderly() const { return manner != Manner::kCrash; }
};

struct FaultsSpec {
  std::vector<SlowFault> slow;
  std::vector<LinkFault> links;
  std::vector<CrashFault> crashes;
};

// The section `recovery`: what the others do about a replica that is gone, and what it begins with when it is
// back.
struct RecoverySpec {
  // Of an operation that lacks a member. retry: begun anew among those who are left; who has no partner left
  // goes on alone. discard: it fails for all of its group, and with gradients their step. wait: all wait for
  // it; it does its step again from its own state.
  enum class OnFailure { kRetry, kDiscard, kWait };
  OnFailure on_failure = OnFailure::kRetry;
  double detect_s = 10;                    // until the others know that it is gone
  bool downloads_state = true;             // of one who is there, drawn; else it has its own
  std::optional<double> state_bytes = {};  // a parameter; none: as the method's state needs (state_bytes_of)
};

// The declarations of `faults` and `recovery`.
Node fault_options();
Node recovery_options();
RecoverySpec parse_recovery(const Json& resolved);

// Of a resolved case, for so many workers; without the section none. Throws InputError where values
// contradict each other.
FaultsSpec parse_faults(const Json& resolved, int workers);

// When one fault strikes one subject ("replica 3", a link, a site).
class FaultWindows {
 public:
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

  struct Window {
    std::int64_t begin_ns = 0, end_ns = 0;  // at least a nanosecond; end kNever: for ever
  };

  FaultWindows(const FaultTimes& times, std::uint64_t seed, int number, const std::string& subject);
  // These, ascending; none begins before the one before is over.
  explicit FaultWindows(std::vector<Window> windows);

  bool is_on(std::int64_t time_ns) const;
  // The next begin or end after `time_ns`; kNever if none comes.
  std::int64_t next_change_ns(std::int64_t time_ns) const;
  // Where it is on at `time_ns`: when it is no more.
  std::int64_t end_ns(std::int64_t time_ns) const;
  // All that begin before `until_ns`.
  std::vector<Window> until(std::int64_t until_ns) const;

 private:
  const Window* at(std::int64_t time_ns) const;
  void draw_until(std::int64_t time_ns) const;
  std::int64_t drawn_ns(double mean_s, double sigma) const;

  FaultTimes times_;
  std::uint64_t seed_ = 0;
  std::uint32_t number_ = 0;
  // Drawn when they are asked for: ascending, and one that begins after all times so far.
  mutable std::vector<Window> windows_;
  mutable std::uint32_t draws_ = 0;
};

}  // namespace longhaul
