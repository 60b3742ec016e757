// What iperf3 prints without --json, of a client or a server. Its rates have three figures.
//
// A client's text has a line `receiver` for each stream or sum; a server's has the receiver's where the
// client sent, and only the sender's where the server did (-R, and one direction of --bidir, marked [TX-S]).
#include <fmt/core.h>

#include <algorithm>

#include "planner/measured/doubts.h"
#include "planner/measured/in_order.h"
#include "planner/measured/line_pattern.h"
#include "planner/measured/printed_rate.h"
#include "planner/measured/readers.h"
#include "planner/measured/text.h"

namespace longhaul::measured::iperf3_text {
namespace {

struct Row {
  std::string stream;
  std::string way;  // TX, RX, or "" where the test has one direction
  double seconds = 0;
  double bps = 0;
  std::string end;  // sender, receiver, or "" of an interval
};

const LinePattern& connection_pattern() {
  static const LinePattern pattern(" connected to ",
                                   R"(\[\s*\d+\] local (\S+) port \d+ connected to (\S+) port \d+)");
  return pattern;
}

// Where the text of a test begins.
const LinePattern& part_pattern() {
  static const LinePattern pattern(" port",
                                   R"((?:Connecting to host|Accepted connection from) (\S+?),? port)");
  return pattern;
}

std::optional<Row> row_of(std::string_view line) {
  static const LinePattern row(
      "/sec", (std::string(R"(\[\s*(\d+|SUM)\](?:\[([TR]X)-[CS]\])?\s+([\d.]+)-\s*([\d.]+)\s+sec\s+[\d.]+\s+)"
                           R"([KMGT]?Bytes\s+)") +
               kPrintedRate + "(.*)$")
                  .c_str()),
      end("er", R"(\b(sender|receiver)\b)");
  const std::optional<Match> found = row.in(line);
  if (!found || contains((*found)[8], "(omitted)")) return std::nullopt;
  const std::optional<Match> ended = end.in((*found)[8]);
  return Row{(*found)[1], (*found)[2], number_of_text((*found)[4]) - number_of_text((*found)[3]),
             printed_rate((*found)[5], (*found)[6], (*found)[7]), ended ? (*ended)[1] : ""};
}

std::vector<Row> rows_of(std::string_view text) {
  std::vector<Row> rows;
  for (const std::string_view line : all_lines_of(text))
    if (std::optional<Row> row = row_of(line)) rows.push_back(std::move(*row));
  return rows;
}

bool has_last_lines(const std::vector<Row>& rows) {
  return std::any_of(rows.begin(), rows.end(), [](const Row& row) { return !row.end.empty(); });
}

// Of all streams of one direction.
struct Sum {
  double bps = 0, seconds = 0;
  int streams = 1;
  std::vector<std::string> notes;
};

InOrder<std::string, Row> last_rows(const std::vector<Row>& rows, const std::string& end) {
  InOrder<std::string, Row> last;
  for (const Row& row : rows)
    if (row.end == end) last[row.stream] = row;
  return last;
}

void check_intervals(const std::string& file, const std::vector<Row>& rows, const Row& total) {
  std::optional<double> most;
  for (const Row& row : rows)
    if (row.end.empty() && (row.stream == "SUM") == (total.stream == "SUM"))
      most = std::max(most.value_or(row.bps), row.bps);
  if (most && total.bps > 1.3 * *most)
    throw of_file(file, fmt::format("says {:.3g} Mb/s at its end, but no interval has more than {:.3g}: the "
                                    "test was interrupted; measure "
                                    "again, or leave the file out",
                                    total.bps / 1e6, *most / 1e6));
}

Sum one_way(const std::string& file, const std::vector<Row>& rows, bool sends, bool is_server) {
  Sum sum;
  InOrder<std::string, Row> last = last_rows(rows, "receiver");
  const InOrder<std::string, Row> sent = last_rows(rows, "sender");
  if (last.empty() && !sent.empty() && sends && is_server) {
    last = sent;
    sum.notes.push_back(file +
                        ": is the server's text of a test in which the server sent, and has no line of the "
                        "receiver; what was "
                        "sent is taken: the client's text has what arrived");
  }
  if (std::none_of(last.begin(), last.end(), [](const auto& row) { return row.second.bps > 0; }))
    throw of_file(
        file,
        "has no line of the receiver at its end: the test was cut off; measure again, better with --json");
  const Row* total = last.find("SUM");
  sum.streams = static_cast<int>(last.size()) - (total != nullptr ? 1 : 0);
  if (total == nullptr) total = &last.begin()->second;
  check_intervals(file, rows, *total);
  sum.streams = std::max(sum.streams, 1);
  sum.bps = total->bps;
  sum.seconds = total->seconds;
  return sum;
}

// One test of the text: both directions with --bidir.
void read_part(const std::string& file, std::string_view part, const Sites& sites,
               std::vector<Measured>& found) {
  const std::vector<std::string_view> lines = lines_of(part);
  const std::optional<Match> connection = connection_pattern().in_first(lines),
                             named = part_pattern().in_first(lines);
  if (!connection && named) return;
  const bool is_server = contains(all_lines_of(part).at(0), "Accepted connection");
  const auto [local, remote] = sites.ends(file, {connection ? (*connection)[1] : ""},
                                          {connection ? (*connection)[2] : "", named ? (*named)[1] : ""});
  InOrder<std::string, std::vector<Row>> ways;
  for (const Row& row : rows_of(part)) ways[row.way].push_back(row);
  const bool is_both_ways = ways.size() > 1;
  if (ways.empty()) ways[""] = {};
  for (const auto& [way, rows] : ways) {
    const bool has_receiver =
        std::any_of(rows.begin(), rows.end(), [](const Row& row) { return row.end == "receiver"; });
    const bool is_reverse = contains(part, "Reverse mode") || (is_server && !has_receiver);
    const bool sends = way.empty() ? is_server == is_reverse : way == "TX";
    const Sum sum = one_way(file, rows, sends, is_server);
    refuse_short(file, sum.seconds);
    Measured one{file, pair_of(local, remote), sends ? local : remote, sum.bps, sum.streams};
    one.is_loaded = true;
    one.both_ways = is_both_ways;
    one.notes = sum.notes;
    for (const std::string& note : short_note(file, sum.seconds)) one.notes.push_back(note);
    found.push_back(one);
  }
}

std::vector<std::size_t> beginnings(const std::string& text) {
  std::vector<std::size_t> begins;
  for (const std::string_view line : lines_of(text))
    if (part_pattern().in(line)) begins.push_back(static_cast<std::size_t>(line.data() - text.data()));
  if (begins.empty() && has_last_lines(rows_of(text))) begins = {0};  // its last lines alone
  return begins;
}

InputError without_test(const std::string& file, const std::string& text) {
  const std::string mark = "iperf3: ", error = "error - ";
  const std::size_t at = text.find(mark);
  if (at == std::string::npos)
    return of_file(file, "has no connection with its lines", "all that iperf3 printed, better with --json");
  std::string said = text.substr(at + mark.size(), text.find('\n', at) - at - mark.size());
  if (starts_with(said, error)) said.erase(0, error.size());
  return of_file(file, fmt::format("iperf3 ended with \"{}\": measure again, or leave the file out", said));
}

}  // namespace

bool is_of(const std::string& text) {
  const std::vector<std::string_view> lines = lines_of(text);
  static const LinePattern listening("Server listening on ", R"(^Server listening on \d+)");
  return connection_pattern().in_first(lines) || contains(text, "iperf3:") || listening.in_first(lines) ||
         has_last_lines(rows_of(text));
}

std::vector<Measured> read(const std::string& file, const std::string& text, const Sites& sites) {
  if (contains(text, "Lost/Total") || contains(text, "Total Datagrams"))
    throw of_file(file, "is of UDP, which sends at the rate that -b says whatever the path carries",
                  "TCP, as iperf3 measures without -u");
  std::vector<std::size_t> begins = beginnings(text);
  begins.push_back(text.size());
  std::vector<Measured> found;
  for (std::size_t i = 0; i + 1 < begins.size(); ++i)
    read_part(file, std::string_view(text).substr(begins[i], begins[i + 1] - begins[i]), sites, found);
  if (found.empty()) throw without_test(file, text);
  return found;
}

}  // namespace longhaul::measured::iperf3_text
