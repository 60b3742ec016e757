#include "net/variation/trace_units.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "core/base/errors.h"
#include "core/base/files.h"
#include "core/base/index.h"
#include "core/base/trace_lines.h"
#include "core/base/units.h"
#include "core/codecs/numbers.h"
#include "net/overrides.h"
#include "net/variation/link_trace.h"

namespace longhaul {
namespace {

constexpr double kFewest = 64e3, kMuchLess = 500;            // bit/s, and how many times less
constexpr double kMostDelay_s = 0.35, kMuchMoreDelay = 500;  // one way, and how many times more

// What the links of a trace have without it: the slowest of their rates, the longest of their delays.
struct Own {
  std::string link;
  double rate = std::numeric_limits<double>::infinity(), delay_s = 0;
};

Own own_of(const Topology& topology, const TraceSpec& spec, const std::string& path) {
  Own own;
  for (const int link : links_named(topology, spec.link, path + ".link"))
    for (const LinkDirection direction : {2 * link, 2 * link + 1}) {
      const Link& written = topology.links()[as_index(link)];
      if (own.link.empty() || topology.rate(direction) < own.rate) own.link = written.name;
      own.rate = std::min(own.rate, topology.rate(direction));
      own.delay_s = std::max(own.delay_s, written.delay_s);
    }
  return own;
}

// Infinite where the steps' times are measured, or a link has no limit.
double longest_run_s(const Case& config, const Topology& topology) {
  double slowest = std::numeric_limits<double>::infinity();
  for (std::size_t direction = 0; direction < 2 * topology.links().size(); ++direction)
    slowest = std::min(slowest, topology.rate(static_cast<LinkDirection>(direction)));
  const double step_s = config.workload.step_time.mean_s();
  if (step_s == 0) return std::numeric_limits<double>::infinity();
  double slowest_factor = 1;
  for (const double factor : config.workload.step_time_factors)
    slowest_factor = std::max(slowest_factor, factor);
  const double sent_bits =
      2 * 8 * static_cast<double>(config.workload.parameters) * bytes_per_parameter(config.workload.wire);
  return 3 * config.steps() * (slowest_factor * step_s + sent_bits / slowest);
}

std::string doubtful_times(const std::vector<LinkTrace::Row>& rows, double longest_s) {
  constexpr double kThreeYears_s = 1e8;
  const auto time_s = [&](std::size_t row) { return static_cast<double>(rows[row].time_ns) / 1e9; };
  if (time_s(0) >= kThreeYears_s)
    return fmt::format(
        "begins at time_s = {}, {} years after the training began: is that since 1970? Subtract the first "
        "row's",
        fmt::format("{:.0f}", time_s(0)), std::lround(time_s(0) / (365.25 * 86400)));
  if (time_s(0) > longest_s)
    return fmt::format(
        "begins {} after the training began, which ends before: times are in seconds, from 0 on",
        human_duration(time_s(0)));
  if (rows.size() > 1 && time_s(1) > longest_s)
    return fmt::format(
        "changes first after {}, and the training ends before: times are in seconds, are these milliseconds?",
        human_duration(time_s(1)));
  return "";
}

std::string doubtful_rates(const std::vector<LinkTrace::Row>& rows, const Own& own) {
  constexpr double kMuchMore = 1000;
  double most = 0;
  for (const LinkTrace::Row& row : rows) most = std::max(most, row.rate.value_or(0));
  const bool is_slow = most > 0 && (most < own.rate / kMuchLess || most < kFewest) && most < own.rate;
  if (!is_slow && !(most > kMuchMore * own.rate)) return "";
  const std::string of_link = std::isfinite(own.rate)
                                  ? fmt::format(" on {}, which has {} itself", own.link, human_rate(own.rate))
                                  : "";
  return fmt::format("has rate_bps up to {}, {}{}: rate_bps is in bit/s{}", format_number(most),
                     human_rate(most), of_link, is_slow ? ", are these kb/s or Mb/s?" : "");
}

std::string doubtful_delays(const std::vector<LinkTrace::Row>& rows, const Own& own) {
  constexpr double kSmall_s = 0.01;
  std::vector<double> delays_s;
  for (const LinkTrace::Row& row : rows)
    if (row.delay_s) delays_s.push_back(*row.delay_s);
  if (delays_s.empty()) return "";
  const auto middle = delays_s.begin() + static_cast<std::ptrdiff_t>(delays_s.size() / 2);
  std::nth_element(delays_s.begin(), middle, delays_s.end());
  if (*middle <= kMostDelay_s &&
      !(own.delay_s > 0 && *middle > kSmall_s && *middle > kMuchMoreDelay * own.delay_s))
    return "";
  return fmt::format(
      "has a median delay_s of {}, so {} one way on {}, which has {} itself: delay_s is in "
      "seconds, are these milliseconds?",
      format_number(*middle), human_duration(*middle), own.link, human_duration(own.delay_s));
}

// "line 7, column rate_bps: 25" of one cell that is as it would be in another unit than the others; `is_odd`:
// of a value.
template <typename IsOdd>
std::string odd_cell(const std::vector<LinkTrace::Row>& rows, const TraceSpec& spec, const char* column,
                     std::optional<double> LinkTrace::Row::*value, const IsOdd& is_odd) {
  std::size_t count = 0, first = 0;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const bool is_written = row == 0 || rows[row].*value != rows[row - 1].*value;  // or the row before holds
    if (!is_written || !(rows[row].*value) || !is_odd(*(rows[row].*value))) continue;
    if (count++ == 0) first = row;
  }
  if (count == 0) return "";
  const std::vector<TraceLine> lines = trace_lines(read_file(spec.file).value_or(""), spec.file);
  return fmt::format("has {} in line {}, column {}{}", format_number(*(rows[first].*value)),
                     lines.at(first + 1).number, column,
                     count == 1 ? "" : fmt::format(" (and {} more such cells)", count - 1));
}

// Rates and delays of single cells, in a column whose others are as they should be.
std::vector<std::string> doubtful_cells(const std::vector<LinkTrace::Row>& rows, const TraceSpec& spec) {
  std::vector<std::string> doubts;
  double most = 0;
  std::vector<double> delays_s;
  for (const LinkTrace::Row& row : rows) {
    most = std::max(most, row.rate.value_or(0));
    if (row.delay_s) delays_s.push_back(*row.delay_s);
  }
  const std::string slow = odd_cell(rows, spec, "rate_bps", &LinkTrace::Row::rate, [&](double rate) {
    return rate > 0 && rate < kFewest && rate < most / kMuchLess;
  });
  if (!slow.empty())
    doubts.push_back(
        fmt::format("{}, where others go up to {}: rate_bps is in bit/s, is this in kb/s or Mb/s?", slow,
                    human_rate(most)));
  if (delays_s.empty()) return doubts;
  const auto middle = delays_s.begin() + static_cast<std::ptrdiff_t>(delays_s.size() / 2);
  std::nth_element(delays_s.begin(), middle, delays_s.end());
  const double usual_s = *middle;
  const std::string late = odd_cell(rows, spec, "delay_s", &LinkTrace::Row::delay_s, [&](double delay_s) {
    return delay_s > kMostDelay_s && usual_s > 0 && delay_s > kMuchMoreDelay * usual_s;
  });
  if (!late.empty())
    doubts.push_back(
        fmt::format("{}, where the median is {}: delay_s is in seconds, is this in milliseconds?", late,
                    human_duration(usual_s)));
  return doubts;
}

// When the outage begins that the last row is of.
std::int64_t begin_of_last_outage_ns(const std::vector<LinkTrace::Row>& rows) {
  auto row = rows.rbegin();
  while (row + 1 != rows.rend() && (row + 1)->rate == 0) ++row;
  return row->time_ns;
}

// Where the last row has rate 0 and nothing follows.
std::string doubtful_end(const LinkTrace& trace) {
  const LinkTrace::Row& last = trace.rows().back();
  if (last.rate != 0. || trace.outage_end_ns(last.time_ns) != LinkTrace::kNever) return "";
  return fmt::format(
      "ends with rate_bps 0, so that nothing is carried from {} on, for good; a row with a rate after it, or "
      "\"repeat\": true, ends the outage",
      human_duration(static_cast<double>(begin_of_last_outage_ns(trace.rows())) / 1e9));
}

}  // namespace

std::vector<std::string> doubtful_traces(const Case& config, const Topology& topology) {
  std::vector<std::string> doubts;
  const std::vector<TraceSpec>& traces = config.network.variation.traces;
  const double longest_s = traces.empty() ? 0 : longest_run_s(config, topology);
  for (std::size_t i = 0; i < traces.size(); ++i) {
    const std::string path = element_path("network.variation.traces", i);
    const LinkTrace trace = read_link_trace(traces[i], path);
    const Own own = own_of(topology, traces[i], path);
    for (const std::string& doubt :
         {doubtful_times(trace.rows(), longest_s), doubtful_rates(trace.rows(), own),
          doubtful_delays(trace.rows(), own), doubtful_end(trace)})
      if (!doubt.empty()) doubts.push_back(fmt::format("{}: {} {}", path, traces[i].file, doubt));
    for (const std::string& doubt : doubtful_cells(trace.rows(), traces[i]))
      doubts.push_back(fmt::format("{}: {} {}", path, traces[i].file, doubt));
  }
  return doubts;
}

std::vector<std::string> endless_outages(const Case& config) {
  std::vector<std::string> found;
  const std::vector<TraceSpec>& traces = config.network.variation.traces;
  for (std::size_t i = 0; i < traces.size(); ++i) {
    const std::string path = element_path("network.variation.traces", i);
    const std::string end = doubtful_end(read_link_trace(traces[i], path));
    if (!end.empty()) found.push_back(fmt::format("{}: {} {}", path, traces[i].file, end));
  }
  return found;
}

}  // namespace longhaul
