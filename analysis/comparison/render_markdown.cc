#include "analysis/comparison/render.h"
#include "analysis/comparison/words.h"

namespace longhaul {
namespace {

// A bar would end the cell.
std::string cell(const std::string& text) {
  std::string safe;
  for (const char c : text) safe += c == '|' ? std::string("\\|") : std::string(1, c);
  return safe + " | ";
}

std::string line(const std::vector<std::string>& cells) {
  std::string text = "| ";
  for (const std::string& one : cells) text += cell(one);
  text.back() = '\n';
  return text;
}

std::string rule(const std::string& marks) {
  std::string text = "|";
  for (const char mark : marks) text += mark == 'r' ? "---:|" : "---|";
  return text + "\n";
}

std::string means_table(const MetricComparison& metric, const std::string& by, bool rows_differ) {
  std::vector<std::string> heading = {by, "seeds", "mean", "95 % interval"};
  if (rows_differ) heading.insert(heading.begin(), "at");
  std::string text = line(heading) + rule(rows_differ ? "llrrl" : "lrrl");
  for (const ComparisonRow& row : metric.rows)
    for (const Group& group : row.groups) {
      const std::size_t count = group.missed_target() ? group.cases : group.values.size();
      std::vector<std::string> cells = {group.name, std::to_string(count), mean_text(metric.metric, group),
                                        interval_text(metric.metric, group)};
      if (rows_differ) cells.insert(cells.begin(), row_text(row));
      text += line(cells);
    }
  return text;
}

std::string verdicts_table(const MetricComparison& metric, bool rows_differ) {
  std::string text;
  for (const ComparisonRow& row : metric.rows)
    for (const Comparison& one : row.comparisons) {
      const std::string verdict = outcome_word(one.outcome);
      std::vector<std::string> cells = {
          row.groups[one.a].name, row.groups[one.b].name,
          one.outcome == Comparison::Outcome::kNone ? verdict : "**" + verdict + "**",
          grounds_text(metric.metric, one)};
      if (rows_differ) cells.insert(cells.begin(), row_text(row));
      text += line(cells);
    }
  if (text.empty()) return "";
  std::vector<std::string> heading = {"", "against", "verdict", "grounds"};
  if (rows_differ) heading.insert(heading.begin(), "at");
  return "\n" + line(heading) + rule(rows_differ ? "lllll" : "llll") + text;
}

}  // namespace

std::string comparison_markdown(const ComparisonTable& table) {
  std::string text;
  for (const MetricComparison& metric : table.metrics) {
    const bool rows_differ = metric.rows.size() > 1;
    text += "### " + metric_text(metric.metric) + "\n\n" + means_table(metric, table.by, rows_differ) +
            verdicts_table(metric, rows_differ) + "\n";
  }
  text += method_note(table) + "\n";
  for (const std::string& note : table.notes) text += "\n*Note:* " + note + "\n";
  return text;
}

}  // namespace longhaul
