// The events of timeline.json in the Trace Event Format, which chrome://tracing and Perfetto read.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <string>
#include <vector>

namespace longhaul {

// Whole nanoseconds, so that slices which touch in the replay touch in the file and do not overlap by a
// rounding.
using Nanoseconds = std::int64_t;
Nanoseconds nanoseconds(double seconds);

// The threads of a replica. Messages may overlap, and slices of one thread must not: there are as many lanes
// from kSend and kReceive on as messages of a replica are under way at once.
enum Lane { kCompute = 1, kWait, kExchange, kOverlapped, kFault = 100, kSend = 1000, kReceive = 10000 };

struct TimelineNotes {
  std::int64_t outer_steps = 0, last_step = 0;
  std::string sampled, transfers;  // what is left out; empty: nothing
};

class TimelineWriter {
 public:
  // Compressed where `file` ends in .gz. Throws RunError if it cannot be written.
  TimelineWriter(const std::string& file, const TimelineNotes& notes, std::int64_t replicas);
  ~TimelineWriter();
  TimelineWriter(const TimelineWriter&) = delete;
  TimelineWriter& operator=(const TimelineWriter&) = delete;

  // Nothing where it takes no time. `arguments`: the members of an object in JSON.
  void slice(std::int64_t replica, int lane, const std::string& name, Nanoseconds start, Nanoseconds end,
             const std::string& arguments);
  // From the slice of `from` that encloses `start` to that of `to` that encloses `end`.
  void arrow(std::int64_t id, std::int64_t from, int from_lane, Nanoseconds start, std::int64_t to,
             int to_lane, Nanoseconds end);
  void counter(std::int64_t replica, const std::string& name, Nanoseconds at, double value);
  void name_lane(std::int64_t replica, int lane, const std::string& name);
  // Of one behind the replicas.
  void name_process(std::int64_t process, const std::string& name);
  void finish();  // throws RunError if the disk is full

 private:
  void name_replica(std::int64_t replica);
  void event(const std::string& members);
  void write(const std::string& text);

  std::string file_;
  gzFile out_;
  bool first_ = true, failed_ = false;
};

// The single messages of a replay in its timeline: slices with arrows, and the rates of the access links.
struct DrawnTransfer {
  std::int64_t step = 0, from = 0, to = 0, bytes = 0;
  std::string exchange;
  Nanoseconds start = 0, end = 0;
};

// The rows of CASE_FOLDER/transfers.csv; empty without it (fidelity analytic). Throws RunError.
std::vector<DrawnTransfer> read_transfers(const std::string& case_folder);

// Says how many of the messages that replay.json counts are not in the table; "" if none.
std::string transfers_note(const std::string& case_folder, std::size_t read);

// The rows of CASE_FOLDER/faults.csv: a slice at the replica that is slow, and in a process "network" behind
// the `replicas` for links and sites. Each subject has a lane of its own for each fault. Throws RunError.
void draw_faults(const std::string& case_folder, std::int64_t replicas, TimelineWriter& out);

// A slice in a lane of the sender and one in a lane of the receiver, from the moment both were ready until
// the last byte is there, with an arrow from the one's beginning to the other's end; and for each replica
// counters "sending" and "receiving": the sum over the messages under way of bytes over duration, the load
// that these messages put on its access link.
void draw_transfers(std::vector<DrawnTransfer> transfers, TimelineWriter& out);

}  // namespace longhaul
