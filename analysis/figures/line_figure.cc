#include "analysis/figures/line_figure.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "analysis/figures/figure.h"
#include "core/base/errors.h"
#include "core/base/units.h"

namespace longhaul {
namespace {

constexpr std::size_t kMostTics = 8;
constexpr double kAxisInches = 1.6;  // of the y axis of a usual figure

std::vector<double> all_x(const LinePlot& plot) {
  std::set<double> values;
  for (const Line& line : plot.lines)
    for (const LinePoint& point : line.points) values.insert(point.x);
  return {values.begin(), values.end()};
}

// An axis is decided by the middles alone: an interval that nearly reaches 0 would make many decades of
// nothing.
std::vector<double> all_y(const LinePlot& plot, bool with_intervals) {
  std::vector<double> values;
  for (const Line& line : plot.lines)
    for (const LinePoint& point : line.points) {
      values.push_back(point.y);
      if (with_intervals) values.insert(values.end(), {point.low, point.high});
    }
  for (const Line& line : plot.lines)
    for (const LinePoint& point : line.possible)
      if (with_intervals) values.insert(values.end(), {point.low, point.high});
  for (const Threshold& threshold : plot.thresholds) values.push_back(threshold.y);
  return values;
}

AxisScale scale_of(const std::string& unit, const std::vector<double>& values) {
  return axis_scale(unit, values.empty() ? 1 : *std::max_element(values.begin(), values.end()));
}

std::string divided(int column, const AxisScale& scale) {
  return scale.divisor == 1 ? std::to_string(column) : scaled_column(column, scale);
}

bool has_intervals(const Line& line) {
  return std::any_of(line.points.begin(), line.points.end(),
                     [](const LinePoint& point) { return point.low < point.high; });
}

std::string rows_of(const std::vector<LinePoint>& points) {
  std::string rows;
  for (const LinePoint& point : points) rows += data_row({point.x, point.y, point.low, point.high});
  return rows;
}

// Behind all else. Their data stand behind those of the lines; the key names the first alone.
void add_possible_plots(const LinePlot& plot, const std::string& x, const std::string& low,
                        const std::string& high, std::vector<std::string>& plots) {
  std::size_t index = plot.lines.size();
  for (const Line& line : plot.lines) {
    if (line.possible.empty()) continue;
    const bool is_named = index == plot.lines.size() && !plot.possible_name.empty();
    plots.push_back(fmt::format(
        "data index {} using {}:{}:{} with filledcurves lc rgb '{}' fs transparent solid 0.12 noborder {}",
        index++, x, low, high, line.color,
        is_named ? "title " + figure_text(plot.possible_name) : "notitle"));
  }
}

std::vector<std::string> line_plots(const LinePlot& plot, const std::string& x, const AxisScale& y_scale) {
  const std::string y = divided(2, y_scale), low = divided(3, y_scale), high = divided(4, y_scale);
  std::vector<std::string> plots;
  add_possible_plots(plot, x, low, high, plots);
  for (std::size_t i = 0; i < plot.lines.size(); ++i) {
    if (!has_intervals(plot.lines[i])) continue;
    const std::string color = plot.lines[i].color;
    plots.push_back(
        plot.bands
            ? fmt::format(
                  "data index {} using {}:{}:{} with filledcurves lc rgb '{}' fs transparent solid 0.2 "
                  "noborder notitle",
                  i, x, low, high, color)
            : fmt::format("data index {} using {}:{}:{}:{} with yerrorbars lc rgb '{}' lw 1 pt 0 notitle", i,
                          x, y, low, high, color));
  }
  for (std::size_t i = 0; i < plot.lines.size(); ++i)
    plots.push_back(fmt::format(
        "data index {} using {}:{} with linespoints lw 1.5 pt {} ps 0.6 dt {} lc rgb '{}' title {}", i, x, y,
        4 + i % 10, plot.lines[i].dash, plot.lines[i].color, figure_text(plot.lines[i].name)));
  return plots;
}

void add_threshold_plots(const LinePlot& plot, const AxisScale& x_scale, const AxisScale& y_scale,
                         std::vector<std::string>& plots) {
  for (const Threshold& threshold : plot.thresholds) {
    const std::string x = format_number(threshold.x / x_scale.divisor),
                      y = format_number(threshold.y / y_scale.divisor);
    const std::string look =
        threshold.at_one_x
            ? fmt::format("'+' using ({}):({}) every ::0::0 with points pt 2 ps 1.2 lw 1.5", x, y)
            : y + " with lines dt 2 lw 1.2";
    plots.push_back(fmt::format("{} lc rgb '#000000' title {}", look, figure_text(threshold.name)));
  }
}

std::vector<std::string> axis_settings(const LinePlot& plot, const AxisScale& x_scale,
                                       const AxisScale& y_scale, const FigureStyle& style) {
  const std::vector<double> x = all_x(plot), y = all_y(plot, true);
  std::vector<std::string> settings = {
      "set xlabel " + figure_text(axis_title(plot.x_title, x_scale.unit)),
      "set ylabel " + axis_text(axis_title(plot.y_title, y_scale.unit), kAxisInches)};
  const bool x_positive = !x.empty() && x.front() > 0;
  if (x_positive && (style.log_x || spans_decades(x) || is_geometric(x)))
    settings.push_back("set logscale x");
  if (const std::vector<double> middles = all_y(plot, false); spans_decades(middles)) {
    std::vector<double> shown;
    for (const double value : middles) shown.push_back(value / y_scale.divisor);
    for (const std::string& setting : log_axis("y", shown, kMostTics)) settings.push_back(setting);
  } else if (std::all_of(y.begin(), y.end(), [](double value) { return value >= 0; }) &&
             plot.y_unit != "nats")
    settings.push_back("set yrange [0:*]");
  if (x.size() <= kMostTics) {
    std::vector<std::string> tics;
    for (const double value : x) tics.push_back(format_number(value / x_scale.divisor));
    settings.push_back("set xtics (" + join(tics) + ")");
  }
  settings.push_back("set autoscale xfix");
  settings.push_back("set offsets graph 0.03, graph 0.03, graph 0.03, 0");
  return settings;
}

}  // namespace

Figure line_figure(const LinePlot& plot, const FigureStyle& style) {
  const AxisScale x_scale = scale_of(plot.x_unit, all_x(plot)),
                  y_scale = scale_of(plot.y_unit, all_y(plot, true));
  std::vector<std::string> plots = line_plots(plot, divided(1, x_scale), y_scale);
  add_threshold_plots(plot, x_scale, y_scale, plots);
  std::vector<FigureSeries> series;
  for (const Line& line : plot.lines)
    series.push_back({line.name, line.about, line.color, line.dash, rows_of(line.points)});
  for (const Line& line : plot.lines)
    if (!line.possible.empty())
      series.push_back({line.name, plot.possible_name, line.color, line.dash, rows_of(line.possible)});
  return {plot.name,
          figure_script(plot.name, plot.title, style, axis_settings(plot, x_scale, y_scale, style), plots),
          figure_data(plot.title, "x y low high", series)};
}

}  // namespace longhaul
