// The single messages of a replay in its timeline: slices with arrows, and the rates of the access links.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/timeline_writer.h"

namespace longhaul {

struct DrawnTransfer {
  std::int64_t step = 0, from = 0, to = 0, bytes = 0;
  std::string exchange;
  Nanoseconds start = 0, end = 0;
};

// The rows of CASE_FOLDER/transfers.csv; empty without it (fidelity analytic). Throws RunError.
std::vector<DrawnTransfer> read_transfers(const std::string& case_folder);

// Says how many of the messages that replay.json counts are not in the table; "" if none.
std::string transfers_note(const std::string& case_folder, std::size_t read);

// A slice in a lane of the sender and one in a lane of the receiver, from the moment both were ready until
// the last byte is there, with an arrow from the one's beginning to the other's end; and for each replica
// counters "sending" and "receiving": the sum over the messages under way of bytes over duration, the load
// that these messages put on its access link.
void draw_transfers(std::vector<DrawnTransfer> transfers, TimelineWriter& out);

}  // namespace longhaul
