// What iperf 2 prints, as text or with -y C, of a client or a server (2.1.8 and 2.2.1). Its text has three
// figures.
//
// The side at the server's port receives, unless the connection is marked: `(reverse)` at the client (-R),
// `[*2]` at a server that connects back (-d, -r), `[ *1]` in a line for the other direction of --full-duplex.
// [SUM] adds both directions up with -d, -r and --full-duplex, and is not read: the lines of the streams are
// added. -y C has the sender first, at the client as at the server; without -i that of 2.1.8 has the year
// 1970, so that tests one after the other look like streams.
#include <fmt/core.h>

#include <algorithm>

#include "planner/measured/csv_rows.h"
#include "planner/measured/doubts.h"
#include "planner/measured/in_order.h"
#include "planner/measured/line_pattern.h"
#include "planner/measured/printed_rate.h"
#include "planner/measured/readers.h"
#include "planner/measured/text.h"

namespace longhaul::measured::iperf2 {
namespace {

struct Stream {
  std::string sender, receiver;  // hosts
  bool is_writers = false;       // the machine that wrote the file sent: the figure is the sender's
  double seconds = 0;
  double bps = 0;
};

const LinePattern& connection_pattern() {
  static const LinePattern pattern(
      " connected with ",
      R"(\[\s*(\*?)(\d+)\] local (\S+?)(?:%\S+)? port (\d+) connected with (\S+) port (\d+)(.*))");
  return pattern;
}

// Of streams that ran at the same time.
std::vector<Measured> measured_of(const std::string& file, const std::string& local,
                                  const std::vector<Stream>& streams, const Sites& sites) {
  InOrder<std::pair<std::string, std::string>, std::vector<Stream>> ways;
  for (const Stream& stream : streams) ways[{stream.sender, stream.receiver}].push_back(stream);
  std::vector<Measured> found;
  for (const auto& [hosts, of] : ways) {
    const auto& [sender, receiver] = hosts;
    const auto [here, there] = sites.ends(file, {local}, {sender == local ? receiver : sender});
    double seconds = of[0].seconds, together = 0;
    for (const Stream& stream : of) {
      seconds = std::max(seconds, stream.seconds);
      together += stream.bps;
    }
    refuse_short(file, seconds);
    Measured one{file, pair_of(here, there), sender == local ? here : there, together,
                 static_cast<long long>(of.size())};
    one.both_ways = ways.size() > 1;
    one.notes = short_note(file, seconds);
    if (of[0].is_writers)
      one.notes.push_back(
          file +
          ": iperf 2 at the sender says what was sent; what arrived may be less: the server's file has it");
    found.push_back(one);
  }
  return found;
}

InputError is_of_udp(const std::string& file) {
  return of_file(file, "is of UDP, which sends at the rate that -b says whatever the path carries",
                 "TCP, as iperf measures without -u");
}

std::optional<Match> stream_line(std::string_view line) {
  static const LinePattern pattern(
      "/sec",
      (std::string(R"(\[\s*(\*?)(\d+)\]\s+([\d.]+)-\s*([\d.]+) sec\s+[\d.]+ [KMGT]?Bytes\s+)") + kPrintedRate)
          .c_str());
  return pattern.in(line);
}

// The tests of a text, one after the other.
class Tests {
 public:
  Tests(const std::string& file, std::string port, const Sites& sites)
      : file_(file), port_(std::move(port)), sites_(sites) {}

  void take(std::string_view line) {
    if (const std::optional<Match> connection = connection_pattern().in(line)) {
      end_test();
      connections_[(*connection)[2]] = *connection;
    } else if (const std::optional<Match> row = stream_line(line)) {
      if (const Match* of = connections_.find((*row)[2])) take_row(*row, *of);
    }
  }

  std::vector<Measured> read() {
    end_test();
    return found_;
  }

 private:
  void take_row(const Match& row, const Match& of) {
    const bool at_port = !port_.empty() && of[4] == port_ && of[6] != port_;
    bool sends = !of[1].empty() || !(contains(of[7], "(reverse)") || at_port);
    if (!row[1].empty() && contains(of[7], "full-duplex")) sends = !sends;
    Stream stream{sends ? of[3] : of[5], sends ? of[5] : of[3], sends,
                  number_of_text(row[4]) - number_of_text(row[3]), printed_rate(row[5], row[6], row[7])};
    const std::string name = row[1] + row[2];
    const Stream* known = streams_.find(name);
    if (known == nullptr || stream.seconds > known->seconds) streams_[name] = stream;
  }

  void end_test() {
    if (streams_.empty()) return;
    const std::string local = connections_.begin()->second[3];
    for (Measured& one : measured_of(file_, local, streams_.values(), sites_))
      found_.push_back(std::move(one));
    connections_.clear();
    streams_.clear();
  }

  const std::string& file_;
  const std::string port_;
  const Sites& sites_;
  InOrder<std::string, Match> connections_;  // by number
  InOrder<std::string, Stream> streams_;     // by number, marked with * for the other direction
  std::vector<Measured> found_;
};

using Cells = std::vector<std::string>;

// Seconds since 1970 of 20260710100000 and what follows it.
double time_of_day(const std::string& cell) {
  const auto digits = [&](std::size_t at, std::size_t count) {
    return integer_of_text(cell.substr(at, count));
  };
  constexpr std::size_t kDigits = 14;
  if (cell.size() < kDigits || !std::all_of(cell.begin(), cell.begin() + kDigits, is_digit))
    throw Damaged("\"" + cell + "\" is no time of day");
  const long long month = digits(4, 2), day = digits(6, 2), hour = digits(8, 2), minute = digits(10, 2),
                  second = digits(12, 2);
  if (month < 1 || month > 12 || day < 1 || day > 31 || hour > 23 || minute > 59 || second > 59)
    throw Damaged("\"" + cell + "\" is no time of day");
  // Years begin in March, so that the day of a leap year is the last.
  const long long year = digits(0, 4) - (month <= 2 ? 1 : 0),
                  of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  const long long days = 365 * year + year / 4 - year / 100 + year / 400 + of_year;
  return static_cast<double>(((days * 24 + hour) * 60 + minute) * 60 + second);
}

// The tests of -y C, one after the other.
class CsvTests {
 public:
  CsvTests(const std::string& file, const Sites& sites) : file_(file), sites_(sites) {}

  void take(const Cells& cells) {
    const Cells times = split(cells[6], '-');
    if (times.size() != 2) throw Damaged("\"" + cells[6] + "\" is no interval");
    const double begin = number_of_text(times[0]), end = number_of_text(times[1]);
    // Streams are told apart by the port that is not the server's: a client's is the larger.
    const std::string& port = integer_of_text(cells[4]) > integer_of_text(cells[2]) ? cells[4] : cells[2];
    if (begins_test(cells, port, begin, end)) {
      end_test(cells[1]);
      ports_.clear();
    }
    check_time_of_day(cells, port);
    ended_ = cells[0];
    ports_[cells[5]] = port;
    const Stream stream{cells[1], cells[3], false, end - begin,
                        number_of_text(cells[8])};  // the sender stands first
    const Stream* known = streams_.find(port);
    if (known == nullptr || stream.seconds > known->seconds) streams_[port] = stream;
  }

  void end_test(const std::string& local) {
    for (Measured& one : measured_of(file_, local, streams_.values(), sites_))
      found_.push_back(std::move(one));
    streams_.clear();
  }

  const std::vector<Measured>& found() const { return found_; }

 private:
  bool begins_test(const Cells& cells, const std::string& port, double begin, double end) const {
    const std::string* known = ports_.find(cells[5]);
    if (known != nullptr && *known != port) return true;
    if (begin != 0) return false;
    const Stream* stream = streams_.find(port);
    return stream == nullptr ? is_later(cells, end) : end <= stream->seconds;
  }

  // Whether the row's stream ran after those of the test: as long as it took has passed.
  bool is_later(const Cells& cells, double seconds) const {
    if (streams_.empty() || cells[0] == ended_) return false;
    return time_of_day(cells[0]) - time_of_day(ended_) >= std::max(1., 0.8 * seconds);
  }

  void check_time_of_day(const Cells& cells, const std::string& port) const {
    if (!starts_with(cells[0], "1970")) return;
    if (std::any_of(streams_.begin(), streams_.end(), [&](const auto& other) {
          return other.first != port && other.second.sender == cells[1];
        }))
      throw of_file(file_,
                    "has streams without the time of day, as iperf 2.1.8 writes without -i, and does not say "
                    "whether they ran "
                    "together; give its text (without -y C), or measure with -i 1");
  }

  const std::string& file_;
  const Sites& sites_;
  InOrder<std::string, Stream> streams_;     // by port
  InOrder<std::string, std::string> ports_;  // by number of the stream
  std::string ended_;
  std::vector<Measured> found_;
};

}  // namespace

bool is_of(const std::string& text) {
  static const LinePattern begin("port ", R"(^(Client connecting to|Server listening on) .*port \d+)");
  const std::vector<std::string_view> lines = lines_of(text);
  return connection_pattern().in_first(lines) || begin.in_first(lines);
}

bool is_csv(const std::string& text) {
  static const LinePattern row(",", R"(^\d{14}(?:\.\d+)?,[^,]+,\d+,[^,]+,\d+,-?\d+,[\d.]+-[\d.]+,\d+,\d+)");
  return row.in_first(lines_of(text)).has_value();
}

std::vector<Measured> read(const std::string& file, const std::string& text, const Sites& sites) {
  if (contains(text, "UDP port")) throw is_of_udp(file);
  static const LinePattern port(
      "TCP port", R"((?:Server listening on TCP port|Client connecting to \S+ TCP port) (\d+))");
  const std::optional<Match> listening = port.in_first(lines_of(text));
  Tests tests(file, listening ? (*listening)[1] : "", sites);
  for (const std::string_view line : all_lines_of(text)) tests.take(line);
  std::vector<Measured> found = tests.read();
  if (found.empty())
    throw of_file(file, "has no connection with its lines",
                  "all that `iperf -c HOST` printed where the server answered, better iperf3 --json");
  return found;
}

std::vector<Measured> read_csv(const std::string& file, const std::string& text, const Sites& sites) {
  std::vector<Cells> rows;
  for (Cells& cells : csv_rows(all_lines_of(text)))
    if (cells.size() >= 9 && !starts_with(cells[5], "-")) rows.push_back(std::move(cells));  // not the sums
  if (std::any_of(rows.begin(), rows.end(),
                  [](const Cells& cells) { return cells.size() > 9 && !cells[9].empty(); }))
    throw is_of_udp(file);
  if (rows.empty()) throw Damaged("no row is of a stream");
  CsvTests tests(file, sites);
  for (const Cells& cells : rows) tests.take(cells);
  tests.end_test(rows[0][1]);
  return tests.found();
}

}  // namespace longhaul::measured::iperf2
