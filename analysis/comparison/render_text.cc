#include <algorithm>

#include "analysis/comparison/render.h"
#include "analysis/comparison/words.h"
#include "core/index.h"

namespace longhaul {
namespace {

// Characters, not bytes.
std::size_t width_of(const std::string& text) {
  return as_index(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string padded(const std::string& text, std::size_t width) {
  return text + std::string(width - std::min(width, width_of(text)), ' ');
}

std::string groups_text(const Metric& metric, const std::vector<Group>& groups) {
  std::size_t name = 0, seeds = 0, mean = 0;
  for (const Group& group : groups) {
    name = std::max(name, width_of(group.name));
    seeds = std::max(seeds, std::to_string(group.values.size()).size());
    mean = std::max(mean, width_of(mean_text(metric, group)));
  }
  std::string text;
  for (const Group& group : groups) {
    const std::size_t count = group.missed_target() ? group.cases : group.values.size();
    std::string line = "  " + padded(group.name, name) + "  " +
                       padded(std::to_string(count) + (count == 1 ? " seed" : " seeds"), seeds + 6) + "  " +
                       padded(mean_text(metric, group), mean) + "  " + interval_text(metric, group);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string comparisons_text(const Metric& metric, const ComparisonRow& row) {
  std::size_t width = 0;
  const auto pair = [&](const Comparison& one) {
    return row.groups[one.a].name + " against " + row.groups[one.b].name + ": ";
  };
  for (const Comparison& one : row.comparisons) width = std::max(width, width_of(pair(one)));
  std::string text;
  for (const Comparison& one : row.comparisons)
    text += "  " + padded(pair(one), width) + outcome_word(one.outcome) + " (" + grounds_text(metric, one) +
            ")\n";
  return text;
}

}  // namespace

std::string comparison_text(const ComparisonTable& table) {
  std::string text;
  for (const MetricComparison& metric : table.metrics) {
    text += metric_text(metric.metric) + "\n\n";
    for (const ComparisonRow& row : metric.rows) {
      if (!row.at.empty()) text += "  at " + row_text(row) + "\n";
      text += groups_text(metric.metric, row.groups) + comparisons_text(metric.metric, row) + "\n";
    }
  }
  text += method_note(table) + "\n";
  for (const std::string& note : table.notes) text += "note: " + note + "\n";
  return text;
}

}  // namespace longhaul
