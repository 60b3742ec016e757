#include "analysis/table.h"

#include <fmt/core.h>

#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <vector>

#include "analysis/record_values.h"
#include "analysis/seed_rows.h"
#include "analysis/text.h"
#include "core/base/index.h"
#include "core/base/ranges.h"
#include "core/base/units.h"

namespace longhaul {
namespace {

constexpr std::size_t kUsualColumns = 8;
constexpr int kWidestNote = 100;

// "network.tcp.connections" as "connections", unless another swept key ends alike.
std::string short_key(const std::string& key, const std::vector<std::string>& all) {
  const std::string last = last_key(key);
  const auto ends_alike = [&](const std::string& other) { return last_key(other) == last; };
  return count_if(all, ends_alike) > 1 ? key : last;
}

// Cells hold plain texts, numbers and [1,2] alike; what a case does not sweep stays empty.
TextColumn swept_column(const std::vector<Json>& records, const std::string& key,
                        const std::string& heading) {
  TextColumn column{heading, {}, false, 0};
  for (const Json& record : records) {
    const Json swept = record.value("swept", Json::object());
    column.cells.push_back(swept.contains(key) ? plain(swept[key]) : "");
  }
  return column;
}

TextColumn text_column(const std::vector<Json>& records, const std::string& key, bool left) {
  TextColumn column{key, {}, left, 0};
  for (const Json& record : records) column.cells.push_back(plain(record.value(key, Json(""))));
  return column;
}

bool varies(const TextColumn& column) {
  return any_of(column.cells, [&](const auto& cell) { return cell != column.cells[0]; });
}

TextColumn number_column(const Metric& metric, const std::vector<std::string>& values,
                         const std::vector<bool>& best) {
  const bool marks = contains(best, true);
  TextColumn text{metric.heading + (marks ? " " : ""), {}, false, metric.importance, metric.meaning};
  for (std::size_t i = 0; i < values.size(); ++i)
    text.cells.push_back((values[i].empty() ? "–" : values[i]) + (best[i] ? "*" : marks ? " " : ""));
  return text;
}

bool empty(const TextColumn& column) {
  return std::all_of(column.cells.begin(), column.cells.end(),
                     [](const std::string& cell) { return cell.rfind("–", 0) == 0; });
}

std::vector<TextColumn> describing_columns(const std::vector<Json>& records) {
  std::vector<TextColumn> table = {text_column(records, "label", true)};
  table[0].heading = "method";
  const std::vector<std::string> keys = swept_keys(records);
  for (const std::string& key : keys) table.push_back(swept_column(records, key, short_key(key, keys)));
  return table;
}

std::vector<TextColumn> case_columns(const std::vector<Json>& records) {
  std::vector<TextColumn> table = describing_columns(records);
  const TextColumn seed = text_column(records, "seed", false), status = text_column(records, "status", true);
  if (varies(seed)) table.push_back(seed);
  for (const Metric& metric : columns()) {
    const auto values = each_of(records, [&](const Json& record) { return cell_text(metric, record); });
    TextColumn text = number_column(metric, values, best_values(records, metric));
    if (!empty(text)) table.push_back(std::move(text));
  }
  if (varies(status) || status.cells[0] != "done") table.push_back(status);
  return table;
}

// A line a method at a point.
std::vector<TextColumn> mean_columns(const std::vector<Json>& records, const std::vector<SeedRow>& rows) {
  std::vector<Json> firsts, means;
  TextColumn seeds{"seeds", {}, false, 0}, status{"status", {}, true, 0};
  bool all_done = true;
  for (const SeedRow& row : rows) {
    firsts.push_back(records[row.indices[0]]);
    means.push_back(means_record(row));
    const bool is_done = row.done.size() == row.indices.size();
    all_done = all_done && is_done;
    seeds.cells.push_back(std::to_string(row.done.size()));
    status.cells.push_back(is_done ? "done"
                                   : fmt::format("{} of {} done", row.done.size(), row.indices.size()));
  }
  std::vector<TextColumn> table = describing_columns(firsts);
  table.push_back(seeds);
  for (const Metric& metric : columns()) {
    const auto values = each_of(rows, [&](const SeedRow& row) { return mean_cell(row, metric); });
    TextColumn text = number_column(metric, values, best_values(means, metric));
    if (!empty(text)) table.push_back(std::move(text));
  }
  if (!all_done) table.push_back(status);
  return table;
}

std::size_t total_width(const std::vector<TextColumn>& table) {
  std::size_t width = 0;
  for (const TextColumn& column : table) {
    std::size_t widest = width_of(column.heading);
    for (const std::string& cell : column.cells) widest = std::max(widest, width_of(cell));
    width += widest + 2;
  }
  return width - 2;
}

// Leaves out one column; false if only those remain that are always shown.
bool narrow(std::vector<TextColumn>& table) {
  const auto least =
      std::max_element(table.begin(), table.end(),
                       [](const TextColumn& a, const TextColumn& b) { return a.importance < b.importance; });
  if (least->importance <= 1) return false;  // the loss stays, and the first of what describes the case
  table.erase(least);
  return true;
}

// "sync      from the moment all it needs are ready until a replica goes on", one line a column that
// measures.
std::string meanings(const std::vector<TextColumn>& table) {
  std::vector<std::vector<std::string>> rows;
  for (const TextColumn& column : table)
    if (!column.meaning.empty())
      rows.push_back({column.heading.substr(0, column.heading.find_last_not_of(' ') + 1), column.meaning});
  return aligned_rows(rows, "ll", "  ");
}

struct Competition {
  int competitors = 0;
  double lowest = std::numeric_limits<double>::infinity(), highest = -lowest;
  double rounding = 0;

  // What looks the same is not better: a difference below the digits that are shown marks no row.
  bool is_decided(const Metric& metric) const {
    return competitors >= 2 && highest - lowest >= rounding &&
           formatted(metric, lowest) != formatted(metric, highest);
  }
};

std::optional<double> competing_value(const Json& record, const Metric& metric) {
  if (metric.better == Metric::Better::kNeither || record.value("status", "") != "done") return std::nullopt;
  if (metric.of_exchanges && value_at(record, "exchanges").value_or(0) == 0) return std::nullopt;
  return value_at(record, metric.path);
}

std::string competition_of(const Json& record) {
  return sweep_point(record) + ", seed " + record.value("seed", Json()).dump();
}

}  // namespace

std::string summary_table(const Json& summary, const TableOptions& options) {
  const std::vector<Json> records(summary.at("cases").begin(), summary.at("cases").end());
  if (records.empty()) return "no cases\n";
  const std::vector<SeedRow> rows = seed_rows(records);
  const bool is_of_means = !options.each_seed && rows.size() < records.size();
  std::vector<TextColumn> table = is_of_means ? mean_columns(records, rows) : case_columns(records);
  const std::size_t all = table.size();
  const auto is_too_much = [&] {
    return (!options.all_columns && table.size() > kUsualColumns) ||
           (options.width > 0 && total_width(table) > as_index(options.width));
  };
  while (is_too_much() && narrow(table)) continue;
  std::string text = aligned_columns(table);
  bool marked = false;
  for (std::size_t i = 0; i < table.size(); ++i) marked = marked || table[i].heading.back() == ' ';
  text += meanings(table);
  if (marked) text += "* best of those it may be compared with\n";
  if (is_of_means)
    text += "means over seeds, ±: half the width of their 95 % interval (--seeds: a line for each seed)\n";
  const std::string sampling = sampling_note(records);
  if (!sampling.empty())
    text += wrapped(
        sampling, as_index(options.width > 0 ? std::min(options.width, kWidestNote) : kWidestNote), "", "  ");
  if (table.size() < all)
    text += fmt::format("{} more: --all-columns, the report, and summary.json\n",
                        counted(all - table.size(), "column"));
  return text;
}

const std::vector<Metric>& columns() {
  static const std::vector<Metric> all = [] {
    std::vector<Metric> shown;
    std::copy_if(metrics().begin(), metrics().end(), std::back_inserter(shown),
                 [](const Metric& metric) { return metric.importance > 0; });
    return shown;
  }();
  return all;
}

std::string formatted(const Metric& metric, const std::optional<double>& value) {
  if (!value) return "";
  switch (metric.unit) {
    case Metric::Unit::kNats:
      return fmt::format("{:.3f}", *value);
    case Metric::Unit::kNone:
      if (std::abs(*value) >= 0.1 && std::abs(*value) < 1e4) return fmt::format("{:.4g}", *value);
      return *value == 0 ? "0" : fmt::format("{:.2e}", *value);
    case Metric::Unit::kSeconds:
      return std::abs(*value) < kLeastSeconds ? "0 s" : human_duration(*value);
    case Metric::Unit::kFraction:
      return fmt::format("{:.1f} %", 100 * *value);
    case Metric::Unit::kBytes:
      return human_bytes(*value);
    case Metric::Unit::kCount:
      return fmt::format("{:.0f}", *value);
  }
  return "";
}

std::string cell_text(const Metric& metric, const Json& record) {
  const std::optional<double> value = value_at(record, metric.path);
  const bool has_goal = !metric.target.empty() && record.contains(metric.target);
  if (!value && has_goal && record.value("status", "") == "done") return "not reached";
  return formatted(metric, value);
}

std::vector<bool> best_values(const std::vector<Json>& records, const Metric& metric) {
  std::map<std::string, Competition> competitions;
  for (const Json& record : records) {
    const std::optional<double> value = competing_value(record, metric);
    if (!value) continue;
    Competition& competition = competitions[competition_of(record)];
    ++competition.competitors;
    competition.lowest = std::min(competition.lowest, *value);
    competition.highest = std::max(competition.highest, *value);
    competition.rounding = std::max(competition.rounding, rounding_of(record, metric));
  }
  std::vector<bool> best;
  for (const Json& record : records) {
    const std::optional<double> value = competing_value(record, metric);
    const Competition competition = value ? competitions[competition_of(record)] : Competition();
    best.push_back(competition.is_decided(metric) &&
                   *value ==
                       (metric.better == Metric::Better::kLower ? competition.lowest : competition.highest));
  }
  return best;
}

std::string sampling_note(const std::vector<Json>& records) {
  double lowest = std::numeric_limits<double>::infinity(), highest = -lowest;
  std::int64_t fewest = std::numeric_limits<std::int64_t>::max(), most = 0;
  for (const Json& record : records) {
    const std::optional<double> known = value_at(record, "final_loss_sampling_error");
    if (!known || !record.contains("evaluated_sequences")) continue;
    const double error = *known;
    lowest = std::min(lowest, error);
    highest = std::max(highest, error);
    const std::int64_t windows = record["evaluated_sequences"];
    fewest = std::min(fewest, windows);
    most = std::max(most, windows);
  }
  if (most == 0) return "";
  const auto range = [](const std::string& low, const std::string& high) {
    return low == high ? low : low + " to " + high;
  };
  return fmt::format(
      "losses: over {} windows of the held-out text, the same for every method and seed; the standard error "
      "of that sample is {} nats, and most of it cancels in differences",
      range(std::to_string(fewest), std::to_string(most)),
      range(fmt::format("{:.3f}", lowest), fmt::format("{:.3f}", highest)));
}

}  // namespace longhaul
