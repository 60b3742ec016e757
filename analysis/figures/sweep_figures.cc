// A metric against each swept number: a line a method, one figure for each value of everything else.
#include <algorithm>
#include <map>

#include "analysis/figures/axis.h"
#include "analysis/figures/figures.h"
#include "analysis/figures/line_figure.h"
#include "analysis/statistics.h"
#include "analysis/sweep_point.h"
#include "analysis/table.h"
#include "core/index.h"
#include "core/metrics.h"

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
      for (const RunCase& one : group.cases)
        if (const auto value = value_at(*one.record, metric)) entry.values.push_back(*value);
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

bool is_option(const std::string& key) {
  return key.rfind("methods.", 0) == 0;
}

// The point without `x`: of the methods' own options, or of everything else.
std::string rest_of(const Json& point, const std::string& x, bool options) {
  std::string text;
  for (const auto& [key, value] : point.items())
    if (key != x && is_option(key) == options)
      text += (text.empty() ? "" : ", ") + (options ? key.substr(key.rfind('.') + 1) : key) + " = " +
              plain(value);
  return text;
}

std::string line_name(const Entry& entry, const std::string& x) {
  const std::string options = rest_of(entry.point, x, true);
  return options.empty() ? entry.label : entry.label + " (" + options + ")";
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
    auto line = std::find_if(lines.begin(), lines.end(), [&](const Line& one) { return one.name == name; });
    if (line == lines.end()) {
      const auto place = as_index(std::find(context.labels.begin(), context.labels.end(), entry->label) -
                                  context.labels.begin());
      lines.push_back({name,
                       "seeds: " + std::to_string(entry->values.size()),
                       method_color(place),
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

std::vector<Figure> sweep_figures(const std::vector<RowSample>& rows, const std::string& metric,
                                  const FigureContext& context) {
  const std::vector<Entry> entries = entries_of(rows, metric);
  std::vector<Figure> figures;
  for (const auto& [x, unit] : number_keys(entries)) {
    std::map<std::string, std::vector<const Entry*>> panels;
    for (const Entry& entry : entries)
      if (entry.point.contains(x)) panels[rest_of(entry.point, x, false)].push_back(&entry);
    if (panels.size() > kMostPanels) {
      const std::string note =
          "metrics against " + x + " would be " + std::to_string(panels.size()) +
          " figures each and are left out; choose a part of the sweep with --where key=value";
      if (std::find(context.notes->begin(), context.notes->end(), note) == context.notes->end())
        context.notes->push_back(note);
      continue;
    }
    for (const auto& [rest, members] : panels) {
      const std::string short_x = x.substr(x.rfind('.') + 1);
      LinePlot plot{figure_name("sweep-" + metric + "-" + short_x, rest),
                    metric + " against " + x + (rest.empty() ? "" : ", at " + rest) +
                        ". Point: mean over seeds. Bar: 95 % interval of the mean (Student's t).",
                    axis_words(short_x),
                    unit,
                    axis_words(metric),
                    unit_sign(metric_named(metric).unit),
                    false,
                    lines_of(members, x, context),
                    {}};
      if (shows_something(plot)) figures.push_back(line_figure(plot, context.style));
    }
  }
  return figures;
}

}  // namespace longhaul
