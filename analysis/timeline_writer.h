// The events of timeline.json in the Trace Event Format, which chrome://tracing and Perfetto read.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <string>

#include "core/options.h"

namespace longhaul {

// Whole nanoseconds, so that slices which touch in the replay touch in the file and do not overlap by a
// rounding.
using Nanoseconds = std::int64_t;
Nanoseconds nanoseconds(double seconds);

// The threads of a replica. Messages may overlap, and slices of one thread must not: there are as many lanes
// from kSend and kReceive on as messages of a replica are under way at once.
enum Lane { kCompute = 1, kWait, kExchange, kOverlapped, kSend = 1000, kReceive = 10000 };

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

  // Nothing where it takes no time.
  void slice(std::int64_t replica, int lane, const std::string& name, Nanoseconds start, Nanoseconds end,
             const Json& arguments);
  // From the slice of `from` that encloses `start` to that of `to` that encloses `end`.
  void arrow(std::int64_t id, std::int64_t from, int from_lane, Nanoseconds start, std::int64_t to,
             int to_lane, Nanoseconds end);
  void counter(std::int64_t replica, const std::string& name, Nanoseconds at, double value);
  void name_lane(std::int64_t replica, int lane, const std::string& name);
  void finish();  // throws RunError if the disk is full

 private:
  void name_replica(std::int64_t replica);
  // `times`: members that are written as they are, since their decimals are exact and a double's need not be.
  void event(const Json& json, const std::string& times = "");
  void write(const std::string& text);

  std::string file_;
  gzFile out_;
  bool first_ = true, failed_ = false;
};

}  // namespace longhaul
