// A fault of a scenario (section `faults`): what goes wrong, when and for how long. Every method that is
// compared meets the same faults: a draw belongs to (seed, number of the fault, whom it strikes) and to
// nothing else.
//
// A kind of fault is a file of core/scenario/faults/: its options, what it strikes and does. When
// faults strike, and what follows from what they do, is the same code for all kinds.
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

struct Fault {
  int number = 0;  // in the scenario's list
  std::string kind;
  FaultTimes times;
  std::string file;  // that has replicas and times instead (replay/work/absence_trace.h)

  // What it strikes: these workers, first and last, each by itself; links of this name or glob, each by
  // itself; or together all links of this site to others.
  std::pair<int, int> replicas{0, -1};
  std::string link, site;

  // What it does to a worker, whose compute takes `compute` times as long; or to a link, both ways: so many
  // times its rate, 0 for none, and its delay, and a loss of packets besides network.tcp.loss.
  double compute = 1;
  bool absence = false;  // the worker is gone: what it computed since its last step is lost
  double rate = 1, delay = 1, loss = 0;

  bool is_of_links() const { return !link.empty() || !site.empty(); }
  // Something of it depends on the seed: who is back after an absence downloads from a replica that is drawn.
  bool is_drawn() const { return times.every_s > 0 || loss > 0 || absence; }
};

// An entry of the list as a kind reads it.
struct FaultEntry {
  const Json& json;
  std::string path;
  int workers;
  std::string folder;  // of the scenario
};

struct FaultKind {
  // A section whose key is the kind's name, without `kind` and the keys that say when.
  Node options;
  // What it strikes and does. Throws InputError where values contradict each other.
  void (*read)(const FaultEntry& entry, Fault& fault) = nullptr;

  const std::string& name() const { return options.key; }
};

// All kinds, in the order of the schema (core/scenario/faults/kinds.cc).
const std::vector<FaultKind>& fault_kinds();

// The declaration of `faults`.
Node fault_options();
// Of a resolved case, for so many workers; without the section none. Throws InputError where values
// contradict each other.
std::vector<Fault> parse_faults(const Json& resolved, int workers);

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

  bool is_on(std::int64_t time_ns) const { return at(time_ns) != nullptr; }
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

Node recovery_options();
// Of a resolved case; without the section the defaults.
RecoverySpec parse_recovery(const Json& resolved);

}  // namespace longhaul
