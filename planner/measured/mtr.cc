// Reports of mtr. The last hop's best time is the round trip, if it is the target.
//
// Where the target does not answer, the last hop is whatever answered last: mtr 0.95 ends with its own
// address, 0 % loss and seconds of "round trip" where no machine has the target's address. As text the target
// is in none of its lines.
#include <fmt/core.h>

#include <algorithm>

#include "planner/measured/csv_rows.h"
#include "planner/measured/in_order.h"
#include "planner/measured/json_values.h"
#include "planner/measured/line_pattern.h"
#include "planner/measured/readers.h"
#include "planner/measured/round_trips.h"
#include "planner/measured/text.h"

namespace longhaul::measured::mtr {
namespace {

constexpr double kLongest_ms = 1000;  // a satellite takes 600

// `name (address)` of -b, or one of both.
std::vector<std::string> host_names(std::string_view cell) {
  std::vector<std::string> names;
  for (std::size_t at = 0; at < cell.size();) {
    const std::size_t end = std::min(cell.find_first_of(" ()", at), cell.size());
    if (end > at) names.emplace_back(cell.substr(at, end - at));
    at = end + 1;
  }
  return names;
}

// `hosts`: of the last hop; `best_ms`: 0 where it did not answer; `target`: "" where it is not known.
RoundTrip reached(const std::string& file, std::vector<std::string> hosts, double best_ms,
                  const std::string& target, const Sites& sites) {
  hosts.erase(std::remove_if(hosts.begin(), hosts.end(),
                             [](const std::string& host) { return host.empty() || host == "???"; }),
              hosts.end());
  const char* other_site = "a report whose last hop is a host of another site";
  if (hosts.empty() || best_ms == 0)
    throw of_file(file,
                  "the target did not answer mtr; measure with ping, or give the round trip with --rtt");
  if (best_ms > kLongest_ms)
    throw of_file(file,
                  fmt::format("found {:.3g} s to {}: mtr counts a machine's own word that the target is "
                              "unreachable as its answer",
                              best_ms * 1e-3, hosts[0]),
                  other_site);
  const bool is_other =
      is_address(target) && std::all_of(hosts.begin(), hosts.end(), [&](const std::string& host) {
        return is_address(host) && same_host(host) != same_host(target);
      });
  const auto named = sites.pair_in_name(file);
  const bool is_unknown =
      target.empty() && sites.of_host(hosts).empty() && (!named || sites.have_hosts(*named));
  if (is_other || is_unknown)
    throw of_file(file,
                  fmt::format("ends at {}, which is {}", hosts[0],
                              target.empty() ? "a host of no site" : "not " + target),
                  other_site);
  if (!target.empty()) hosts.push_back(target);
  return {hosts, best_ms * 1e-3};
}

// Digits, perhaps with a point and more of them.
double milliseconds_of(std::string cell) {
  while (ends_with(cell, ".")) cell.pop_back();
  const bool is_plain =
      !cell.empty() && is_digit(cell[0]) && cell.find_first_not_of("0123456789.") == std::string::npos;
  return is_plain ? decimal(cell).value_or(0) : 0;
}

// Runs of `mtr -r`, each with a line of the columns' names.
class Reports {
 public:
  Reports(const std::string& file, const Sites& sites) : file_(file), sites_(sites) {}

  void take(std::string_view line) {
    static const LinePattern hop("|--", R"(^\s*(\d+)\.\s*\|--\s+(.+?)\s+([\d.]+)%?\s+(\S.*)$)");
    if (std::optional<Match> found = hop.in(line))
      last_ = std::move(found);
    else if (starts_with(strip(line), "HOST:"))
      take_columns(line);
  }

  void end_report() {
    if (!last_) return;
    std::string best;
    std::vector<std::string_view> cells = words_of((*last_)[4]);
    cells.insert(cells.begin(), (*last_)[3]);
    for (std::size_t i = 0; i < std::min(cells.size(), columns_.size()); ++i)
      if (columns_[i] == "Best") best = cells[i];
    found_.push_back(reached(file_, host_names((*last_)[2]), milliseconds_of(best), "", sites_));
    last_.reset();
  }

  const std::vector<RoundTrip>& found() const { return found_; }

 private:
  void take_columns(std::string_view line) {
    end_report();
    columns_.clear();
    if (!contains(line, "Loss%")) return;
    const std::vector<std::string_view> words = words_of(line);
    const auto begin = std::find(words.begin(), words.end(), "Loss%");
    if (begin == words.end()) throw Damaged("there is no column Loss%");
    columns_.assign(begin, words.end());
  }

  const std::string& file_;
  const Sites& sites_;
  std::vector<std::string> columns_;  // from Loss% on
  std::optional<Match> last_;         // hop
  std::vector<RoundTrip> found_;
};

using Row = InOrder<std::string, std::string>;  // cells by column

const std::string& cell_of(const Row& row, const char* column) {
  const std::string* cell = row.find(column);
  if (cell == nullptr) throw Damaged(std::string("there is no column ") + column);
  return *cell;
}

}  // namespace

bool is_report(const std::string& text) {
  return contains(text, "|--") && contains(text, "Loss%");
}

bool is_document(const Json& document) {
  return document.is_object() && has(get(document, "report"), "hubs");
}

bool is_csv(const std::string& text) {
  return starts_with(lower_case(strip(text).substr(0, 20)), "mtr_version,");
}

std::vector<Measured> read(const std::string& file, const std::string& text, const Sites& sites) {
  Reports reports(file, sites);
  for (const std::string_view line : all_lines_of(text)) reports.take(line);
  reports.end_report();
  if (reports.found().empty())
    throw of_file(file, "has no hop", "what `mtr -r -n -c 20 HOST` prints, to the end");
  return measured_between(file, reports.found(), sites);
}

std::vector<Measured> read_documents(const std::string& file, const Documents& documents,
                                     const Sites& sites) {
  static const Json none = Json::object();
  std::vector<RoundTrip> found;
  for (const Json& document : documents) {
    const Json& report = get(document, "report");
    const std::vector<Json>& hops = elements(get(report, "hubs"));
    const Json& last = hops.empty() ? none : hops.back();
    const std::string host = has(last, "host") ? plain_text(get(last, "host")) : "";
    const double best_ms = is_true(get(last, "Best")) ? number_in(get(last, "Best")) : 0;
    found.push_back(reached(file, host_names(host), best_ms, text(get(need(report, "mtr"), "dst")), sites));
  }
  return measured_between(file, found, sites);
}

std::vector<Measured> read_csv(const std::string& file, const std::string& text, const Sites& sites) {
  std::vector<std::string> header;
  InOrder<std::pair<std::string, std::string>, Row> last;  // hop of each run, by its target and beginning
  for (const std::vector<std::string>& cells : csv_rows(all_lines_of(text))) {
    if (cells.empty()) continue;
    if (lower_case(cells[0]) == "mtr_version") {
      header.clear();
      for (const std::string& cell : cells) header.emplace_back(strip(cell));
      continue;
    }
    Row row;
    for (std::size_t i = 0; i < std::min(header.size(), cells.size()); ++i) row[header[i]] = cells[i];
    const std::string* began = row.find("Start_Time");
    last[{cell_of(row, "Host"), began == nullptr ? "" : *began}] = row;
  }
  std::vector<RoundTrip> found;
  for (const Row& row : last.values())
    found.push_back(reached(file, {cell_of(row, "Ip")}, number_of_text(cell_of(row, "Best")),
                            cell_of(row, "Host"), sites));
  if (found.empty()) throw Damaged("no row is of a hop");
  return measured_between(file, found, sites);
}

}  // namespace longhaul::measured::mtr
