// What ping and fping print. The shortest round trip to a host counts: what is longer waited in queues.
// Without a summary, as where `fping -c` had its standard error elsewhere, the replies are read.
#include <fmt/core.h>

#include <algorithm>

#include "planner/measured/json_values.h"
#include "planner/measured/line_pattern.h"
#include "planner/measured/readers.h"
#include "planner/measured/round_trips.h"
#include "planner/measured/text.h"

namespace longhaul::measured::pings {
namespace {

using Lines = std::vector<std::string_view>;

RoundTrip round_trip(std::vector<std::string> hosts, double milliseconds, const std::string& source = "") {
  hosts.erase(std::remove(hosts.begin(), hosts.end(), ""), hosts.end());
  return {std::move(hosts), milliseconds * 1e-3, source};
}

std::vector<Measured> checked(const std::string& file, std::vector<RoundTrip> found, const Sites& sites) {
  found.erase(
      std::remove_if(found.begin(), found.end(), [](const RoundTrip& one) { return !(one.seconds > 0); }),
      found.end());
  if (found.empty())
    throw of_file(file, "has no reply, or none above 0 ms",
                  "what `ping -c 20 HOST` prints where HOST answers");
  return measured_between(file, found, sites);
}

// ---- fping

const LinePattern& fping_summary() {
  static const LinePattern pattern(
      "xmt/rcv/%loss", R"(^(?:\[[\d.]+\] )?(\S+)\s+: xmt/rcv/%loss = \S+ min/avg/max = ([\d.]+)/)");
  return pattern;
}
const LinePattern& fping_alive() {
  static const LinePattern pattern(" is alive (", R"(^(\S+) is alive \(([\d.]+) ms)");
  return pattern;
}
const LinePattern& fping_reply() {
  static const LinePattern pattern(" bytes, ",
                                   R"(^(?:\[[\d.]+\] )?(\S+)\s+: \[\d+\], \d+ bytes, ([\d.]+) ms)");
  return pattern;
}

// "HOST : 0.05 - 0.04", of -C: a number for each reply, and of any length. Not valid: the line is another.
struct Counts {
  std::string host;
  std::vector<std::string> times;
  bool is_valid = false;
};

Counts counts_in(std::string_view line) {
  const std::size_t colon = line.find(" : ");
  if (colon == std::string_view::npos) return {};
  const std::vector<std::string_view> hosts = words_of(line.substr(0, colon));
  if (hosts.size() != 1 || is_space(line[0])) return {};
  Counts counts;
  counts.host = hosts[0];
  for (const std::string& time : split(strip(line.substr(colon + 3)), ' ')) {
    if (time != "-" && (time.empty() || time.find_first_not_of("0123456789.") != std::string::npos))
      return {};
    if (time != "-") counts.times.push_back(time);
  }
  counts.is_valid = true;
  return counts;
}

void take_times(const Lines& lines, const LinePattern& pattern, std::vector<RoundTrip>& found) {
  for (const std::string_view line : lines)
    if (const std::optional<Match> one = pattern.in(line))
      found.push_back(round_trip({(*one)[1]}, number_of_text((*one)[2])));
}

// ---- ping

// The text of one host: its header and what follows.
struct Part {
  std::vector<std::string> hosts;
  std::string source;
  Lines lines;
};

// "PING HOST (ADDRESS) from SOURCE ...", and of macOS "PING6(...) SOURCE --> HOST".
std::optional<Part> header_in(std::string_view line) {
  static const LinePattern header("PING", R"(\bPING\s+([^\s(]+?)\s*(?:\((\S+?)\)|:?\s)(?:.*? from (\S+) )?)"),
      header_6("PING6(", R"(^PING6\(.*?\) (\S+) --> (\S+))");
  if (const std::optional<Match> found = header_6.in(line))
    return Part{{(*found)[2], (*found)[2]}, (*found)[1], {}};
  const std::optional<Match> found = header.in(std::string(line) + "\n");
  return found ? std::optional(Part{{(*found)[1], (*found)[2]}, (*found)[3], {}}) : std::nullopt;
}

// "--- HOST ping statistics ---".
std::optional<Part> end_in(std::string_view line) {
  static const LinePattern pattern("statistics ---", R"(^--- (\S+) ping6? statistics ---)");
  const std::optional<Match> found = pattern.in(line);
  return found ? std::optional(Part{{(*found)[1]}, "", {}}) : std::nullopt;
}

std::vector<Part> parts_of(const Lines& lines, std::optional<Part> (*begin_in)(std::string_view)) {
  std::vector<Part> parts;
  for (const std::string_view line : lines) {
    if (std::optional<Part> begin = begin_in(line)) parts.push_back(std::move(*begin));
    if (!parts.empty()) parts.back().lines.push_back(line);
  }
  return parts;
}

const LinePattern& summary() {
  static const LinePattern pattern("min/avg/max", R"(min/avg/max\S* = ([\d.]+)/)");
  return pattern;
}

// Of every line that has one.
std::vector<double> milliseconds_in(const Lines& lines, const LinePattern& pattern) {
  std::vector<double> times;
  for (const std::string_view line : lines)
    for (const Match& one : pattern.all_in(line)) times.push_back(number_of_text(one[1]));
  return times;
}

std::vector<double> milliseconds_in(const Lines& lines) {
  static const LinePattern reply("ms", R"((?:time|Zeit|temps|tiempo|durata)[=<]\s*([\d.]+) ?ms)",
                                 LinePattern::Letters::kAnyCase);
  const std::vector<double> of_summary = milliseconds_in(lines, summary());
  return of_summary.empty() ? milliseconds_in(lines, reply) : of_summary;
}

// ---- ping of Windows, in any language

// "    Minimum = 42ms, Maximum = 44ms, ...": the first time. The line is indented, or stands behind an empty
// one.
std::optional<Match> windows_times(const Lines& lines, std::size_t i) {
  static const LinePattern pattern("ms", R"(^\s*\S+ = (\d+) ?ms\D+= (\d+) ?ms\D+= (\d+) ?ms)");
  if (lines[i].empty() || !(is_space(lines[i][0]) || (i > 0 && strip(lines[i - 1]).empty())))
    return std::nullopt;
  return pattern.in(lines[i]);
}

bool is_windows(const Lines& lines) {
  for (std::size_t i = 0; i < lines.size(); ++i)
    if (windows_times(lines, i)) return true;
  return false;
}

std::vector<std::string> windows_hosts(const Lines& lines, std::size_t begin, std::size_t end) {
  static const LinePattern named("[", R"(\b(\S+) \[([\da-fA-F.:]+)\])"),
      plain("ing", R"(^(?:Pinging|Ping wird ausgef\S+ f\S+r) ([\da-fA-F.:]+) )");
  for (std::size_t i = begin; i < end; ++i) {
    if (const std::optional<Match> found = named.in(lines[i])) return {(*found)[1], (*found)[2]};
    if (const std::optional<Match> found = plain.in(lines[i])) return {(*found)[1]};
  }
  return {};
}

std::vector<RoundTrip> read_windows(const Lines& lines) {
  std::vector<RoundTrip> found;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < lines.size(); ++i)
    if (const std::optional<Match> times = windows_times(lines, i)) {
      found.push_back(round_trip(windows_hosts(lines, begin, i), number_of_text((*times)[1])));
      begin = i + 1;
    }
  return found;
}

}  // namespace

bool is_fping(const std::string& text) {
  const Lines lines = lines_of(text);
  if (contains(text, "xmt/rcv/%loss") || fping_reply().in_first(lines) || fping_alive().in_first(lines))
    return true;
  return std::any_of(lines.begin(), lines.end(),
                     [](std::string_view line) { return counts_in(line).is_valid; });
}

bool is_ping(const std::string& text) {
  const Lines lines = lines_of(text);
  return summary().in_first(lines) || is_windows(lines) ||
         std::any_of(lines.begin(), lines.end(),
                     [](std::string_view line) { return header_in(line).has_value(); });
}

bool is_fping_document(const Json& document) {
  if (!has(document, "resp") && !has(document, "summary") && !has(document, "timeout")) return false;
  return std::any_of(document.begin(), document.end(), [](const Json& one) { return has(one, "host"); });
}

std::vector<Measured> read_fping(const std::string& file, const std::string& text, const Sites& sites) {
  const Lines lines = lines_of(text);
  std::vector<RoundTrip> found;
  take_times(lines, fping_summary(), found);
  take_times(lines, fping_alive(), found);
  if (found.empty()) take_times(lines, fping_reply(), found);
  for (const std::string_view line : lines) {
    const Counts counts = counts_in(line);
    for (const std::string& time : counts.times)
      found.push_back(round_trip({counts.host}, number_of_text(time)));
  }
  return checked(file, found, sites);
}

std::vector<Measured> read_fping_documents(const std::string& file, const Documents& documents,
                                           const Sites& sites) {
  std::vector<RoundTrip> found;
  for (const Json& document : documents)
    for (const Json& body : document) {
      if (!body.is_object()) continue;
      for (const char* key : {"rttMin", "rtt"})
        if (const Json& milliseconds = get(body, key); !milliseconds.is_null())
          found.push_back(round_trip({measured::text(need(body, "host"))}, number_in(milliseconds)));
    }
  return checked(file, found, sites);
}

std::vector<Measured> read_ping(const std::string& file, const std::string& text, const Sites& sites) {
  const Lines lines = lines_of(text);
  if (is_windows(lines)) return checked(file, read_windows(lines), sites);
  std::vector<Part> parts = parts_of(lines, header_in);
  const std::string first_target = parts.empty() ? "" : parts[0].hosts[0];
  if (parts.empty()) parts = parts_of(lines, end_in);  // the ends alone
  if (parts.empty() && milliseconds_in(lines, summary()).size() > 1)
    throw of_file(file, "has several summaries without their hosts",
                  "all that ping printed, or a file for each");
  if (parts.empty()) parts = {{{}, "", lines}};
  std::vector<RoundTrip> found;
  for (const Part& part : parts)
    for (const double milliseconds : milliseconds_in(part.lines))
      found.push_back(round_trip(part.hosts, milliseconds, part.source));
  if (found.empty() && !first_target.empty())
    throw of_file(file, "has no reply of " + first_target,
                  "what `ping -c 20 HOST` prints where HOST answers");
  return checked(file, found, sites);
}

}  // namespace longhaul::measured::pings
