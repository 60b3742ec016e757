// The section `recovery`: what the others do about a replica that is gone (core/scenario/fault.h), and what
// it begins with when it is back.
#pragma once

#include <optional>

#include "core/base/json.h"
#include "core/base/options.h"

namespace longhaul {

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
