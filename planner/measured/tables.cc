// Tables: a row for each two sites (from,to,rate_mbps,rtt_ms), or a square of round trips or rates.
//
// Commas, semicolons or tabs; with the last two a decimal comma too. The units stand in the header:
// rate_mbps, rate_gbps, rtt_ms, rtt_us, and so on. `streams` (or `connections`) says how many carried the
// rate together; 1 where it is absent. The corner of a square says what is in it, as rate_mbps or rtt_ms;
// empty: round trips in milliseconds. Its rows are senders.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "planner/measured/csv_rows.h"
#include "planner/measured/in_order.h"
#include "planner/measured/readers.h"
#include "planner/measured/text.h"

namespace longhaul::measured::tables {
namespace {

using Units = std::map<std::string, double>;

const Units& rates() {
  static const Units units = {{"rate_bps", 1}, {"rate_kbps", 1e3}, {"rate_mbps", 1e6}, {"rate_gbps", 1e9}};
  return units;
}
const Units& round_trips() {
  static const Units units = {{"rtt_us", 1e-6}, {"rtt_ms", 1e-3}, {"rtt_s", 1}};
  return units;
}

// What the corner of a square may say instead of a column's name.
std::string unit_of_corner(const std::string& corner) {
  static const std::set<std::string> of_ms = {"",    "from", "to",   "from_to", "site",    "sites",
                                              "rtt", "ms",   "ping", "ping_ms", "latency", "latency_ms"},
                                     of_mbps = {"mbps", "mb_s", "mbit_s", "throughput_mbps",
                                                "bandwidth_mbps"},
                                     of_gbps = {"gbps", "gb_s", "gbit_s", "throughput_gbps",
                                                "bandwidth_gbps"};
  if (of_ms.count(corner) > 0) return "rtt_ms";
  if (of_mbps.count(corner) > 0) return "rate_mbps";
  return of_gbps.count(corner) > 0 ? "rate_gbps" : corner;
}

bool is_nothing(const std::string& cell) {
  static const std::set<std::string> words = {"",    "-",  "\xe2\x80\x93", "\xe2\x80\x94", "x",
                                              "n/a", "na", "nan",          "none",         "null"};
  return words.count(lower_case(cell)) > 0;
}

struct Line {
  std::size_t number = 0;
  std::vector<std::string> cells;
};

struct Table {
  std::vector<Line> lines;
  char delimiter = ',';
};

// The one that the first line has most of; names may have commas of their own in quotes.
char delimiter_of(std::string_view first) {
  std::string plain;
  for (std::size_t at = 0; at < first.size(); ++at) {
    const std::size_t end = first[at] == '"' ? first.find('"', at + 1) : std::string_view::npos;
    if (end != std::string_view::npos)
      at = end;
    else
      plain += first[at];
  }
  const auto count = [&](char c) { return std::count(plain.begin(), plain.end(), c); };
  char most = ',';
  for (const char c : {';', '\t'})
    if (count(c) > count(most)) most = c;
  return most;
}

// Neither empty, nor a comment, nor what Excel says of its delimiter.
bool has_cells(std::string_view line) {
  const bool is_excels = starts_with(line, "sep=") && characters_in(line) > 4 && strip(line).size() <= 5;
  const std::size_t begin = line.find_first_not_of(" \"");
  const bool is_comment = begin != std::string_view::npos && line[begin] == '#';
  return line.find_first_not_of(" ,;\t") != std::string_view::npos && !is_comment && !is_excels;
}

Table table_of(std::string_view text) {
  Table table;
  std::vector<std::string_view> lines;
  std::vector<std::size_t> numbers;
  std::size_t number = 0;
  for (const std::string_view line : all_lines_of(text)) {
    ++number;
    if (!has_cells(line)) continue;
    lines.push_back(line);
    numbers.push_back(number);
  }
  table.delimiter = delimiter_of(lines.empty() ? "" : lines[0]);
  const auto rows = csv_rows(lines, table.delimiter, Blanks::kSkipped);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Line line{numbers[i], {}};
    for (const std::string& cell : rows[i]) line.cells.emplace_back(strip(cell));
    table.lines.push_back(std::move(line));
  }
  return table;
}

// Above 0, perhaps with an exponent.
double number_of(const std::string& cell, char delimiter, const std::string& file, const std::string& place) {
  std::string plain = cell;
  const bool is_decimal_comma =
      delimiter != ',' && std::count(cell.begin(), cell.end(), ',') == 1 && !contains(cell, ".");
  if (is_decimal_comma) plain[plain.find(',')] = '.';
  const std::optional<double> number = decimal(plain);
  if (!number || !(*number > 0) || std::isinf(*number))
    throw of_file(file, fmt::format("{}: found \"{}\"", place, cell), "a number above 0");
  return *number;
}

std::string site_of(const std::string& cell, const Sites& sites) {
  return sites.has_name(cell) ? cell : sites.of_host({cell});
}

// ---- a row for each direction

struct Columns {
  std::vector<std::string> names;
  std::string rate, rtt;  // "": there is none
};

// The column of a rate, or of a round trip.
std::string column_of(const std::vector<std::string>& header, const Units& kinds, const std::string& file,
                      std::size_t line) {
  std::vector<std::string> found;
  for (const std::string& name : header)
    if (kinds.count(name) > 0) found.push_back(name);
  if (found.size() > 1)
    throw of_file(file, fmt::format("line {}: found the columns {}", line, join(found, " and ")),
                  "one of them");
  return found.empty() ? "" : found[0];
}

Columns columns_of(const std::string& file, const std::vector<Line>& lines) {
  const std::size_t first = lines.empty() ? 1 : lines[0].number;
  Columns columns;
  if (!lines.empty())
    for (const std::string& cell : lines[0].cells) columns.names.push_back(identifier(cell));
  columns.rate = column_of(columns.names, rates(), file, first);
  columns.rtt = column_of(columns.names, round_trips(), file, first);
  const auto lacks = [&](const char* name) {
    return std::find(columns.names.begin(), columns.names.end(), name) == columns.names.end();
  };
  if ((columns.rate.empty() && columns.rtt.empty()) || lacks("from") || lacks("to"))
    throw of_file(file,
                  fmt::format("line {}: there is no column {}", first,
                              lacks("from") ? "from"
                              : lacks("to") ? "to"
                                            : "rate_mbps"),
                  "from,to,rate_mbps and, where it was measured, rtt_ms; or a square with the sites as its "
                  "first line and its first "
                  "column");
  if (unique(columns.names).size() < columns.names.size())
    throw of_file(file, fmt::format("line {}: found a column twice: {}", first, join(columns.names)),
                  "each once");
  return columns;
}

class RowReader {
 public:
  RowReader(const std::string& file, const Table& table, const Sites& sites)
      : file_(file), delimiter_(table.delimiter), sites_(sites), columns_(columns_of(file, table.lines)) {}

  void take(const Line& line) {
    place_ = fmt::format("line {}", line.number);
    row_.clear();
    const std::size_t width = columns_.names.size();
    for (std::size_t i = 0; i < line.cells.size(); ++i) {
      if (i >= width && !line.cells[i].empty())
        throw of_file(file_, fmt::format("{}: found {} cells", place_, line.cells.size()),
                      fmt::format("{}, as in the header", width));
      if (i < width) row_[columns_.names[i]] = line.cells[i];
    }
    const std::string from = end("from"), to = end("to");
    if (from == to) return;  // a pivot's diagonal; `inside` has what is measured at one site
    Measured one{file_, pair_of(from, to), from};
    if (!columns_.rate.empty()) one.together_bps = value(columns_.rate, rates());
    if (!columns_.rtt.empty() && !is_nothing(row_[columns_.rtt]))
      one.rtt_s = value(columns_.rtt, round_trips());
    one.streams = streams();
    found_.push_back(one);
  }

  const std::vector<Measured>& found() const { return found_; }

 private:
  std::string end(const std::string& column) {
    const std::string site = site_of(row_[column], sites_);
    if (site.empty())
      throw of_file(file_, fmt::format("{}, {}: found \"{}\"", place_, column, row_[column]),
                    join(sites_.names()));
    return site;
  }

  double value(const std::string& column, const Units& units) {
    return number_of(row_[column], delimiter_, file_, place_ + ", " + column) * units.at(column);
  }

  long long streams() {
    const std::string cell = first_of({row_["streams"], row_["connections"], "1"});
    const double streams = number_of(cell, delimiter_, file_, place_ + ", streams");
    constexpr double kMost = 1e9;
    if (streams != std::floor(streams) || streams > kMost)
      throw of_file(file_, fmt::format("{}, streams: found {:.6g}", place_, streams), "a whole number");
    return static_cast<long long>(streams);
  }

  const std::string& file_;
  const char delimiter_;
  const Sites& sites_;
  const Columns columns_;
  std::string place_;
  std::map<std::string, std::string> row_;  // cells by column
  std::vector<Measured> found_;
};

// ---- a square

bool is_square(const std::vector<Line>& lines, const Sites& sites) {
  if (lines.empty() || lines[0].cells.size() < 3) return false;
  std::set<std::string> columns, both;
  for (std::size_t i = 1; i < lines[0].cells.size(); ++i)
    if (const std::string site = site_of(lines[0].cells[i], sites); !site.empty()) columns.insert(site);
  for (std::size_t i = 1; i < lines.size(); ++i)
    if (const std::string site = site_of(lines[i].cells.at(0), sites); columns.count(site) > 0)
      both.insert(site);
  return columns.size() >= 2 && !both.empty();
}

using Values = InOrder<std::pair<std::string, std::string>, double>;  // by row and column

Values values_of(const std::string& file, const Table& table, double unit, const Sites& sites) {
  const std::vector<std::string>& header = table.lines[0].cells;
  std::vector<std::string> columns;
  for (const std::string& name : header) columns.push_back(site_of(name, sites));
  Values values;
  for (std::size_t i = 1; i < table.lines.size(); ++i) {
    const auto& [number, cells] = table.lines[i];
    const std::string row = site_of(cells.at(0), sites);
    for (std::size_t k = 1; k < std::min(header.size(), cells.size()); ++k) {
      if (is_nothing(cells[k]) || row == columns[k]) continue;
      if (row.empty() || columns[k].empty())
        throw of_file(file, fmt::format("line {}: found \"{}\"", number, row.empty() ? cells[0] : header[k]),
                      join(sites.names()));
      values[{row, columns[k]}] =
          number_of(cells[k], table.delimiter, file, fmt::format("line {}, {}", number, header[k])) * unit;
    }
  }
  return values;
}

// The larger of both directions.
std::vector<Measured> larger_round_trips(const std::string& file, const Values& values, const Sites& sites) {
  std::vector<Measured> found;
  const std::vector<std::string>& names = sites.names();
  for (std::size_t i = 0; i < names.size(); ++i)
    for (std::size_t k = i + 1; k < names.size(); ++k) {
      std::set<double> both;
      for (const auto& ends : {std::pair(names[i], names[k]), std::pair(names[k], names[i])})
        if (const double* seconds = values.find(ends)) both.insert(*seconds);
      if (both.empty()) continue;
      Measured one{file, pair_of(names[i], names[k])};
      one.rtt_s = *both.rbegin();
      if (both.size() > 1)
        one.notes.push_back(fmt::format("{}: {} and {}: {:.6g} and {:.6g} ms; the larger is taken", file,
                                        names[i], names[k], *both.begin() * 1e3, *both.rbegin() * 1e3));
      found.push_back(one);
    }
  return found;
}

std::vector<Measured> read_square(const std::string& file, const Table& table, const Sites& sites) {
  const std::string& corner = table.lines[0].cells[0];
  const std::string name = unit_of_corner(identifier(corner));
  const bool is_rate = rates().count(name) > 0;
  if (!is_rate && round_trips().count(name) == 0)
    throw of_file(file,
                  fmt::format("line {}: the corner of the square says \"{}\"", table.lines[0].number, corner),
                  "what is in it, as rtt_ms (or empty), rate_mbps or rate_gbps");
  const Values values = values_of(file, table, (is_rate ? rates() : round_trips()).at(name), sites);
  if (!is_rate) return larger_round_trips(file, values, sites);
  std::vector<Measured> found;
  for (const auto& [ends, bps] : values)
    found.push_back({file, pair_of(ends.first, ends.second), ends.first, bps});
  return found;
}

}  // namespace

bool is_of(const std::string& text, const Sites& sites) {
  const std::vector<Line> lines = table_of(text).lines;
  std::set<std::string> header;
  if (!lines.empty())
    for (const std::string& cell : lines[0].cells) header.insert(lower_case(cell));
  return (header.count("from") > 0 && header.count("to") > 0) || is_square(lines, sites);
}

std::vector<Measured> read(const std::string& file, const std::string& text, const Sites& sites) {
  const Table table = table_of(text);
  if (is_square(table.lines, sites)) return read_square(file, table, sites);
  RowReader reader(file, table, sites);
  for (std::size_t i = 1; i < table.lines.size(); ++i) reader.take(table.lines[i]);
  return reader.found();
}

}  // namespace longhaul::measured::tables
