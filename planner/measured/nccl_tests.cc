// all_reduce_perf and sendrecv_perf of nccl-tests between two ranks (the source of 2.19.6).
//
// Of two ranks each sends the other `size` bytes, in an all-reduce as in sendrecv (doc/PERFORMANCE.md of
// nccl-tests), so that busbw is algbw. As text both have two decimals of a GB/s, a sixth of a path of 50
// Mb/s: the rate is that of the largest size out of place, over its time. A time of eight digits is printed
// with two of them, and does not count. -S 1 adds the time of day to each row, -I 1 the times of single
// iterations; `cputime` (-C 1) is no time of a transfer.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "planner/measured/doubts.h"
#include "planner/measured/json_values.h"
#include "planner/measured/line_pattern.h"
#include "planner/measured/readers.h"
#include "planner/measured/text.h"

namespace longhaul::measured::nccl_tests {
namespace {

struct Row {
  long long size = 0;
  double microseconds = 0;
  std::string algbw, busbw;

  double bps() const { return 8e6 * static_cast<double>(size) / microseconds; }
  bool operator<(const Row& other) const {
    return std::tie(size, microseconds, algbw, busbw) <
           std::tie(other.size, other.microseconds, other.algbw, other.busbw);
  }
};

struct Output {
  std::vector<std::string> ranks, hosts;
  std::vector<Row> rows;
  bool is_wrong = false;  // values arrived wrong
  bool is_whole = true;   // it has its summary
};

// `rows` in the order of their sizes.
std::vector<std::string> notes_on(const std::string& file, const std::vector<Row>& rows, bool is_whole) {
  std::vector<std::string> notes;
  if (!is_whole) notes.push_back(file + ": ends without its summary; the largest of its rows is taken");
  if (rows.size() < 2) return notes;
  const Row &last = rows.back(), &before = rows[rows.size() - 2];
  if (last.bps() > kStillGrowing * before.bps())
    notes.push_back(
        fmt::format("{}: {} Mb/s with {} bytes, {} with {}: larger messages may be faster still; measure "
                    "with a larger -e",
                    file, megabits(last.bps()), last.size, megabits(before.bps()), before.size));
  return notes;
}

Measured measured_by(const std::string& file, Output output, const Sites& sites) {
  if (output.ranks != std::vector<std::string>{"0", "1"})
    throw of_file(file, "is of ranks " + (output.ranks.empty() ? "(none)" : join(output.ranks)),
                  "0 and 1, one at each node, as nccl-tests that were built with MPI=1 print with mpirun -np "
                  "2 -N 1 and -g 1");
  if (output.is_wrong)
    throw of_file(file, "values arrived wrong (FAILED): measure again, or leave the file out");
  if (output.rows.empty())
    throw of_file(file, "has no row with a time in microseconds",
                  "what all_reduce_perf or sendrecv_perf prints, to the end");
  std::sort(output.rows.begin(), output.rows.end());
  const Row& row = output.rows.back();
  refuse_short(file, {}, static_cast<double>(row.size), "-e");
  const double algbw = number_of_text(row.algbw), busbw = number_of_text(row.busbw);
  if (std::abs(algbw - busbw) > 1e-3 * algbw)
    throw of_file(file, fmt::format("found {} GB/s of algbw and {} of busbw", row.algbw, row.busbw),
                  "the same, as all_reduce_perf and sendrecv_perf have between two ranks");
  const auto [here, there] = sites.ends(file, {output.hosts[0]}, {output.hosts[1]});
  Measured one{file, pair_of(here, there)};
  one.together_bps = row.bps();
  one.streams = 0;
  one.notes = notes_on(file, output.rows, output.is_whole);
  return one;
}

// The columns of times out of place, from `time` on.
std::vector<std::string> columns_of(const std::vector<std::string_view>& lines) {
  std::vector<std::string> columns;
  for (const std::string_view line : lines) {
    if (!contains(line, "algbw")) continue;
    const std::vector<std::string_view> words = words_of(line);
    const auto time = std::find(words.begin(), words.end(), "time");
    for (auto word = time == words.end() ? words.begin() : time; word != words.end(); ++word)
      if (*word != "timestamp") columns.emplace_back(*word);
    break;
  }
  return columns;
}

// Digits, perhaps with a point.
std::optional<double> time_of(std::string_view cell) {
  const bool is_plain =
      !cell.empty() && is_digit(cell[0]) && cell.find_first_not_of("0123456789.") == std::string_view::npos;
  return is_plain ? decimal(cell) : std::nullopt;
}

std::optional<Row> row_of(std::string_view line, std::size_t columns) {
  static const LinePattern row(" ", R"(^[^#]*?(\d+) +\d+ +[a-z]\w* )"),
      time_of_day("-", R"(\s+\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\s*$)");
  const std::optional<Match> found = row.in(line);
  if (!found) return std::nullopt;
  const std::optional<Match> stamp = time_of_day.in(line);
  std::vector<std::string_view> cells = words_of(stamp ? line.substr(0, stamp->begin) : line);
  if (cells.size() > columns) cells.erase(cells.begin(), cells.end() - static_cast<std::ptrdiff_t>(columns));
  constexpr std::size_t kOutOfPlace = 3;  // time, algbw, busbw
  if (cells.size() < kOutOfPlace) return std::nullopt;
  const std::optional<double> microseconds = time_of(cells[0]);
  if (!microseconds || *microseconds <= 0) return std::nullopt;
  return Row{integer_of_text((*found)[1]), *microseconds, std::string(cells[1]), std::string(cells[2])};
}

}  // namespace

bool is_of(const std::string& text) {
  return contains(text, "algbw");
}

bool is_document(const Json& document) {
  return has(document, "results") &&
         (has(document, "nccl_version") || has(document, "devices") || has(document, "config"));
}

std::vector<Measured> read(const std::string& file, const std::string& text, const Sites& sites) {
  static const LinePattern rank("Rank ", R"(Rank +(\d+) .* on +(\S+) +device)"),
      wrong("FAILED", "Out of bounds values.*FAILED");
  const std::vector<std::string_view> lines = lines_of(text);
  const std::vector<std::string> columns = columns_of(lines);
  Output output;
  for (const std::string_view line : lines) {
    if (const std::optional<Match> found = rank.in(line)) {
      output.ranks.push_back((*found)[1]);
      output.hosts.push_back((*found)[2]);
    }
    if (columns.empty() || columns[0] != "time") continue;
    if (std::optional<Row> row = row_of(line, columns.size())) output.rows.push_back(std::move(*row));
  }
  output.is_wrong = wrong.in_first(lines).has_value();
  output.is_whole = contains(text, "# Avg bus bandwidth");
  return {measured_by(file, output, sites)};
}

std::vector<Measured> read_documents(const std::string& file, const Documents& documents,
                                     const Sites& sites) {
  static const Json none = Json::object();
  std::vector<Measured> found;
  for (const Json& document : documents) {
    const Json& config = has(document, "config") ? get(document, "config") : none;
    const Json& bounds = has(document, "out_of_bounds") ? get(document, "out_of_bounds") : none;
    Output output;
    const Json& devices = get(document, "devices");
    for (const Json& device : elements(is_true(devices) ? devices : get(config, "devices"))) {
      output.ranks.push_back(plain_text(need(device, "rank")));
      output.hosts.push_back(text(need(device, "hostname")));
    }
    output.is_wrong = lower_case(plain_text(get(bounds, "okay"))) == "false";
    for (const Json& result : elements(get(document, "results"))) {
      const Json& body = first_true(get(result, "out_of_place"), none);
      output.is_wrong =
          output.is_wrong || (is_true(get(body, "nwrong")) && number_in(get(body, "nwrong")) > 0);
      const double microseconds = is_true(get(body, "time")) ? number_in(get(body, "time")) : 0;
      if (microseconds > 0)
        output.rows.push_back({integer_in(need(result, "size")), microseconds,
                               plain_text(need(body, "alg_bw")), plain_text(need(body, "bus_bw"))});
    }
    found.push_back(measured_by(file, output, sites));
  }
  return found;
}

}  // namespace longhaul::measured::nccl_tests
