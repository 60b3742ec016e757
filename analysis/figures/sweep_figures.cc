// A metric against each swept number: a line a method, one figure for each value of everything else.
#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "analysis/figures/figure.h"
#include "analysis/figures/figures.h"
#include "analysis/figures/line_figure.h"
#include "analysis/record_values.h"
#include "analysis/statistics.h"
#include "analysis/text.h"
#include "core/base/errors.h"

namespace longhaul {
namespace {

constexpr std::size_t kMostPanels = 6;

// One group of one row: where it stands and what it measured.
struct Entry {
  Json point;
  std::string label;
  std::vector<double> values;  // by seed
  std::size_t cases = 0;
};

std::vector<Entry> entries_of(const std::vector<RowSample>& rows, const std::string& metric) {
  std::vector<Entry> entries;
  for (const RowSample& row : rows)
    for (const GroupSample& group : row.groups) {
      Entry entry{row.point, group.label, {}, group.cases.size()};
      for (const RunCase& run_case : group.cases)
        if (const auto value = value_at(*run_case.record, metric)) entry.values.push_back(*value);
      // A mean over the seeds that reached a target would leave out the slowest.
      if (!entry.values.empty() && entry.values.size() == entry.cases) entries.push_back(std::move(entry));
    }
  return entries;
}

// The keys whose values are numbers of one unit wherever they occur, at least two of them.
std::map<std::string, std::string> number_keys(const std::vector<Entry>& entries) {
  std::map<std::string, std::map<double, std::string>> values;
  std::map<std::string, bool> is_number;
  for (const Entry& entry : entries)
    for (const auto& [key, value] : entry.point.items()) {
      const auto number = axis_value(value);
      is_number.emplace(key, true);
      if (!number || (!values[key].empty() && values[key].begin()->second != number->unit))
        is_number[key] = false;
      if (number) values[key][number->number] = number->unit;
    }
  std::map<std::string, std::string> keys;
  for (const auto& [key, number] : is_number)
    if (number && values[key].size() >= 2) keys[key] = values[key].begin()->second;
  return keys;
}

// The point without `x`: of the methods' own options, or of everything else.
std::string rest_of(const Json& point, const std::string& x, bool options) {
  std::vector<std::string> parts;
  for (const auto& [key, value] : point.items())
    if (key != x && is_method_option(key) == options)
      parts.push_back(assignment(options ? last_key(key) : key, value));
  return join(parts);
}

std::string line_name(const Entry& entry, const std::string& x) {
  const std::string options = rest_of(entry.point, x, true);
  return options.empty() ? entry.label : fmt::format("{} ({})", entry.label, options);
}

LinePoint point_of(const Entry& entry, const std::string& x) {
  const Interval interval = t_interval(entry.values, 0.95);
  return {axis_value(entry.point[x])->number, mean(entry.values), interval.low, interval.high};
}

std::vector<Line> lines_of(const std::vector<const Entry*>& entries, const std::string& x,
                           const FigureContext& context) {
  std::vector<Line> lines;
  std::map<std::string, int> variants;
  for (const Entry* entry : entries) {
    const std::string name = line_name(*entry, x);
    auto line = std::find_if(lines.begin(), lines.end(),
                             [&](const Line& line_here) { return line_here.name == name; });
    if (line == lines.end()) {
      lines.push_back({name,
                       fmt::format("seeds: {}", entry->values.size()),
                       method_color(context.place_of(entry->label)),
                       1 + variants[entry->label]++ % 5,
                       {}});
      line = lines.end() - 1;
    }
    line->points.push_back(point_of(*entry, x));
  }
  for (Line& line : lines)
    std::sort(line.points.begin(), line.points.end(),
              [](const LinePoint& a, const LinePoint& b) { return a.x < b.x; });
  return lines;
}

// Something to see: a line of two points, and a value that is not 0.
bool shows_something(const LinePlot& plot) {
  const auto is_line = [](const Line& line) { return line.points.size() > 1; };
  const auto has_value = [](const Line& line) {
    return std::any_of(line.points.begin(), line.points.end(),
                       [](const LinePoint& point) { return point.y != 0; });
  };
  return std::any_of(plot.lines.begin(), plot.lines.end(), is_line) &&
         std::any_of(plot.lines.begin(), plot.lines.end(), has_value);
}

}  // namespace

std::vector<Figure> sweep_figures(const std::vector<RowSample>& rows, const Metric& metric,
                                  const FigureContext& context) {
  const std::vector<Entry> entries = entries_of(rows, metric.path);
  std::vector<Figure> figures;
  for (const auto& [x, unit] : number_keys(entries)) {
    std::map<std::string, std::vector<const Entry*>> panels;
    for (const Entry& entry : entries)
      if (entry.point.contains(x)) panels[rest_of(entry.point, x, false)].push_back(&entry);
    if (panels.size() > kMostPanels) {
      add_new(fmt::format(
                  "metrics against {} would be {} figures each and are left out; choose a part of the sweep "
                  "with --where key=value",
                  x, panels.size()),
              *context.notes);
      continue;
    }
    for (const auto& [rest, members] : panels) {
      LinePlot plot{figure_name(fmt::format("sweep-{}-{}", metric.path, last_key(x)), rest),
                    fmt::format("{} against {}{}. Point: mean over seeds. Bar: 95 % interval of the mean "
                                "(Student's t).",
                                metric.path, x, rest.empty() ? "" : ", at " + rest),
                    axis_words(last_key(x)),
                    unit,
                    axis_words(metric.path),
                    unit_sign(metric.unit),
                    false,
                    lines_of(members, x, context),
                    {}};
      if (shows_something(plot)) figures.push_back(line_figure(plot, context.style));
    }
  }
  return figures;
}

}  // namespace longhaul
