// What a replay will carry and about how long it takes, before it starts; and whether the network of a case
// can be built at all. Needs no ns-3.
#pragma once

#include <cstdint>
#include <string>

#include "core/plan/trace.h"
#include "core/scenario/case.h"

namespace longhaul {

struct ReplayEstimate {
  std::int64_t transfers = 0;
  std::int64_t payload_bytes = 0;
  // Of the flow fidelity: the end of sending and the arrival of each transfer, and the end and the
  // acknowledgement of each round in which a window that was idle before the exchange doubles (with queue
  // `fifo` of every round). Where the paths of a group differ each message begins again: a slower path sets
  // the pace. Not counted: marks and losses.
  std::int64_t events = 0;
  // Of fidelity `linux`, else 0: segments with payload, without those that are lost and sent again; and those
  // of others, which send for as long as compute and exchanges take, at least so many
  // (replay/predict/segment_estimate.h).
  std::int64_t segments = 0, segments_of_others = 0;
  double beside_others_s = 0;  // that time, simulated; 0: there are no others
  // Of processor time for the case's fidelity; mostly right within a factor of about three. Where members
  // send to many at a time, an event of `flow` changes the rates of all.
  double seconds = 0;
};

// Throws InputError for a collective that does not exist, and for slices of which there would be too many.
ReplayEstimate estimate(const Case& config, const Trace& trace);

// "4.3 M segments", "4.3 M segments, and 12 M or more of others in 40 s"; "" where there are none.
std::string segments_in_words(const ReplayEstimate& estimate);

// Builds the topology. Throws InputError (without a file) for whatever cannot be, and for losses beyond what
// was measured (net/variation/path_losses.h), unless the kernel itself carries the messages.
void check_network(const Case& config, bool is_emulated = false);

// Throws InputError where a collective of the plan needs sites and the topology has none.
void check_collectives(const Case& config, const OperationPlan& plan);

}  // namespace longhaul
