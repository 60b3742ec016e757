#include "net/variation/link_trace.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "core/base/errors.h"
#include "core/base/files.h"
#include "core/base/trace_lines.h"
#include "core/base/units.h"

namespace longhaul {
namespace {

const std::vector<std::string> kColumns = {"time_s", "rate_bps", "delay_s"};
constexpr double kLongest_s = 4e9;  // nanoseconds in 63 bits, with room

double seconds(std::int64_t ns) {
  return static_cast<double>(ns) / 1e9;
}

void check_header(const TraceLine& header) {
  check_trace_header(header, kColumns);
  if (!has_column(header, "time_s") || !(has_column(header, "rate_bps") || has_column(header, "delay_s")))
    header.refuse("", "found the columns " + join(header.cells), "time_s and rate_bps, delay_s or both");
}

LinkTrace::Row row_of(const TraceLine& line, const TraceLine& header) {
  check_trace_cells(line, header);
  const std::optional<double> time_s = trace_number(line, header, "time_s");
  if (!time_s) line.refuse("time_s", "the cell is empty", "a time in seconds");
  if (*time_s < 0 || *time_s > kLongest_s)
    line.refuse("time_s", "found " + format_number(*time_s),
                "seconds from 0 to " + format_number(kLongest_s));
  LinkTrace::Row row;
  row.time_ns = std::llround(*time_s * 1e9);
  row.rate = trace_number(line, header, "rate_bps");
  row.delay_s = trace_number(line, header, "delay_s");
  if (row.rate && *row.rate != 0 && *row.rate < 1)
    line.refuse("rate_bps", "found " + format_number(*row.rate), "at least 1 bit/s, or 0 for an outage");
  if (row.delay_s && (*row.delay_s < 0 || *row.delay_s > kLongest_s))
    line.refuse("delay_s", "found " + format_number(*row.delay_s), "seconds of at least 0");
  return row;
}

// Cells that are empty hold what the row before said.
std::vector<LinkTrace::Row> rows_of(const std::vector<TraceLine>& lines) {
  std::vector<LinkTrace::Row> rows;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    LinkTrace::Row row = row_of(lines[i], lines[0]);
    if (!rows.empty()) {
      const LinkTrace::Row& before = rows.back();
      if (row.time_ns <= before.time_ns)
        lines[i].refuse("time_s", "found " + format_number(seconds(row.time_ns)),
                        "more than in the row before: " + format_number(seconds(before.time_ns)));
      if (!row.rate) row.rate = before.rate;
      if (!row.delay_s) row.delay_s = before.delay_s;
    }
    rows.push_back(row);
  }
  return rows;
}

// The last row is where the trace begins again: whatever else it said would never hold.
bool says_something_new(const std::vector<LinkTrace::Row>& rows) {
  const auto says_the_same = [&](const LinkTrace::Row& other) {
    return rows.back().rate == other.rate && rows.back().delay_s == other.delay_s;
  };
  return !says_the_same(rows.front()) && (rows.size() < 2 || !says_the_same(rows[rows.size() - 2]));
}

std::int64_t period_of(const std::vector<LinkTrace::Row>& rows, const TraceSpec& spec, const TraceLine& last,
                       const std::string& path) {
  constexpr std::int64_t kShortest_ns = 1000000;
  if (!spec.repeats) return 0;
  const std::int64_t end_ns = rows.back().time_ns;
  if (!spec.period_s) {
    if (rows.size() < 2 || end_ns < kShortest_ns || says_something_new(rows))
      last.refuse("", "is where the trace repeats, so that its values never hold",
                  "the values of the first row again, or empty cells, at 0.001 s or later; or a longer "
                  "period in repeat");
    return end_ns;
  }
  const std::int64_t period_ns = std::llround(*spec.period_s * 1e9);
  if (period_ns <= end_ns)
    throw InputError(path + ".repeat", fmt::format("found a period of {} s", format_number(*spec.period_s)),
                     fmt::format("more than the time of the last row, {} s", format_number(seconds(end_ns))));
  return period_ns;
}

}  // namespace

LinkTrace LinkTrace::parse(const std::string& text, const std::string& name, const TraceSpec& spec,
                           const std::string& path) {
  const std::vector<TraceLine> lines = trace_lines(text, name);
  if (lines.size() < 2)
    throw InputError({name, "", "has no rows", "a header line, time_s,rate_bps,delay_s, and rows", ""});
  check_header(lines[0]);
  LinkTrace trace;
  trace.rows_ = rows_of(lines);
  trace.has_rates_ = trace.rows_.back().rate.has_value();
  trace.has_delays_ = trace.rows_.back().delay_s.has_value();
  if (!trace.has_rates_ && !trace.has_delays_)
    throw InputError(
        {name, "", "has neither rates nor delays in its rows", "numbers in rate_bps or delay_s", ""});
  trace.period_ns_ = period_of(trace.rows_, spec, lines.back(), path);
  if (spec.repeats && !spec.period_s) trace.rows_.pop_back();
  return trace;
}

LinkTrace::Row LinkTrace::at(std::int64_t time_ns) const {
  if (period_ns_ > 0) time_ns %= period_ns_;
  const auto later = std::upper_bound(rows_.begin(), rows_.end(), time_ns,
                                      [](std::int64_t time, const Row& row) { return time < row.time_ns; });
  return later == rows_.begin() ? Row{} : *std::prev(later);
}

std::int64_t LinkTrace::next_change_ns(std::int64_t time_ns) const {
  const std::int64_t within = period_ns_ > 0 ? time_ns % period_ns_ : time_ns, begin = time_ns - within;
  const auto later = std::upper_bound(rows_.begin(), rows_.end(), within,
                                      [](std::int64_t time, const Row& row) { return time < row.time_ns; });
  if (begin > kNever - period_ns_) return kNever;  // after 292 years
  if (later != rows_.end()) return begin + later->time_ns;
  return period_ns_ > 0 ? begin + period_ns_ : kNever;
}

std::int64_t LinkTrace::outage_end_ns(std::int64_t time_ns) const {
  for (std::size_t step = 0; step <= rows_.size() + 1 && time_ns != kNever; ++step) {
    if (at(time_ns).rate != 0.) return time_ns;
    time_ns = next_change_ns(time_ns);
  }
  return kNever;
}

LinkTrace read_link_trace(const TraceSpec& spec, const std::string& path) {
  const std::optional<std::string> text = read_file(spec.file);
  if (!text)
    throw InputError(path + ".file", fmt::format("\"{}\" {}", spec.file, why_unreadable(spec.file)),
                     "a CSV file, relative to the scenario's folder");
  return LinkTrace::parse(*text, spec.file, spec, path);
}

}  // namespace longhaul
