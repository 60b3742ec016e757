// The rate and the delay of a link as step functions of time, from a CSV file (docs/formats.md).
//
// A row holds from its time until the next one. Before the first row, and in a cell that is empty, nothing is
// said: the link's own value holds, or the one of the row before. A trace that repeats begins again, with the
// link's own values, at the end of each period. Times are whole nanoseconds, as the simulator's are.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "core/scenario/network_spec.h"

namespace longhaul {

class LinkTrace {
 public:
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

  struct Row {
    std::int64_t time_ns = 0;
    std::optional<double> rate;     // bit/s on the wire; 0 is an outage
    std::optional<double> delay_s;  // one way
  };

  // `text` of the file `name`. Throws InputError of that file that names line and column. `spec` says whether
  // and how it repeats; what is wrong with that is said of `path`, where the trace stands in the scenario.
  static LinkTrace parse(const std::string& text, const std::string& name, const TraceSpec& spec,
                         const std::string& path);

  bool has_rates() const { return has_rates_; }
  bool has_delays() const { return has_delays_; }
  const std::vector<Row>& rows() const { return rows_; }

  // What holds at a time ≥ 0; nothing: the link's own.
  Row at(std::int64_t time_ns) const;
  // The next row or beginning of a period after `time_ns`; kNever if nothing comes.
  std::int64_t next_change_ns(std::int64_t time_ns) const;
  // Where the rate is 0 at `time_ns`: when it is no more; kNever if that does not come.
  std::int64_t outage_end_ns(std::int64_t time_ns) const;

 private:
  std::vector<Row> rows_;       // cells that were empty hold what the row before said
  std::int64_t period_ns_ = 0;  // 0: does not repeat
  bool has_rates_ = false, has_delays_ = false;
};

// Reads the file of `spec`. Throws InputError, of `path` if it cannot be read.
LinkTrace read_link_trace(const TraceSpec& spec, const std::string& path);

}  // namespace longhaul
