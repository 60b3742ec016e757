// The figures of one point of the sweep: the loss against time, steps and bytes, the distribution of
// synchronization times, and the shares of a replica's time.
#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <limits>

#include "analysis/exchange_table.h"
#include "analysis/figures/figure.h"
#include "analysis/figures/figures.h"
#include "analysis/learning_curve.h"
#include "analysis/record_values.h"
#include "analysis/run_files.h"
#include "analysis/statistics.h"
#include "core/base/errors.h"
#include "core/base/units.h"

namespace longhaul {
namespace {

// The plot of the i-th block of the data: its second column over `x`.
std::string curve_plot(const std::vector<FigureSeries>& series, std::size_t i, const std::string& x,
                       const std::string& style) {
  return fmt::format("data index {} using {}:2 with {} lw 1.5 dt {} lc rgb '{}' title {}", i, x, style,
                     series[i].dash, series[i].color, figure_text(series[i].name));
}

std::string at_point(const RowSample& row) {
  return row.at.empty() ? "" : ", at " + row.at;
}

constexpr std::size_t kCurvePoints = 500;

struct LossAxis {
  const char* name;  // of the figure
  const char* key;   // of curve_of
  const char* title;
  const char* unit;
};

constexpr LossAxis kAxes[] = {{"loss-time", "time_s", "simulated time", "s"},
                              {"loss-steps", "step", "inner steps", ""},
                              {"loss-bytes", "bytes", "payload sent per replica", "B"}};

std::vector<Json> curves_of(const GroupSample& group, const FigureContext& context) {
  std::vector<Json> curves;
  for (const RunCase& run_case : group.cases) {
    const std::string folder = run_case.run->case_folder(*run_case.record);
    try {
      if (const std::string torn = cut_off(folder + "/metrics.csv"); !torn.empty()) throw RunError(torn);
      const Json curve = curve_of(folder, run_case.run->train_folder(*run_case.record), kCurvePoints);
      if (curve.is_object() && !curve["step"].empty()) curves.push_back(curve);
    } catch (const RunError& error) {
      context.notes->push_back(error.what() + std::string("; its curve is left out"));
    }
  }
  return curves;
}

bool has_values(const Json& list) {
  return std::all_of(list.begin(), list.end(), [](const Json& value) { return value.is_number(); });
}

// Seeds that were evaluated at the same steps; else there is no mean, and the first alone is drawn.
bool same_steps(const std::vector<Json>& curves) {
  return std::all_of(curves.begin(), curves.end(),
                     [&](const Json& entry) { return entry["step"] == curves[0]["step"]; });
}

double mean_at(const std::vector<Json>& curves, const char* key, std::size_t i) {
  double sum = 0;
  for (const Json& curve : curves) sum += curve[key][i].get<double>();
  return sum / static_cast<double>(curves.size());
}

// What is drawn on an axis: its least and greatest value, over all lines.
struct Extent {
  double low = std::numeric_limits<double>::infinity(), high = -std::numeric_limits<double>::infinity();

  void take(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  // With 4 % of room at both ends.
  std::string range() const {
    const double room = high > low ? 0.04 * (high - low) : 0.5;
    return fmt::format("[{:.6g}:{:.6g}]", low - room, high + room);
  }
};

// "x mean low high" with the 95 % t interval over the seeds; on a logarithmic axis without what is at 0. The
// seeds' own losses go into `of_losses`: with two seeds the interval is a dozen times as wide as they are
// apart.
std::string loss_rows(const std::vector<Json>& curves, const char* key, bool is_logarithmic, Extent& of_x,
                      Extent& of_losses) {
  std::string rows;
  for (std::size_t i = 0; i < curves[0]["step"].size(); ++i) {
    const double x = mean_at(curves, key, i);
    if (x <= 0 && is_logarithmic) continue;
    of_x.take(x);
    std::vector<double> losses;
    for (const Json& curve : curves) {
      losses.push_back(curve["loss"][i]);
      of_losses.take(losses.back());
    }
    const Interval interval = t_interval(losses, 0.95);
    rows += data_row({x, mean_at(curves, "loss", i), interval.low, interval.high});
  }
  return rows;
}

constexpr std::size_t kMostMarks = 8;

// From 0 on, or logarithmic over what is drawn.
std::vector<std::string> x_axis(bool is_logarithmic, const Extent& drawn, const AxisScale& scale) {
  if (is_logarithmic && drawn.low > 0)
    return log_axis("x", {drawn.low / scale.divisor, drawn.high / scale.divisor}, kMostMarks);
  return {"set xrange [0:*]"};
}

// Beside the axis of nats, from `losses` on: the same in bits.
std::vector<std::string> bits_axis(const Extent& losses) {
  std::vector<std::string> tics;
  for (const double mark : linear_marks(losses.low / std::log(2.), losses.high / std::log(2.), 5))
    tics.push_back(format_number(mark));
  return {"set border 11", "set link y2 via y/log(2) inverse y*log(2)",
          "set y2tics nomirror out scale 0.5 (" + join(tics) + ")",
          "set y2label " + figure_text("bits a byte")};
}

bool are_byte_tokens(const RowSample& row) {
  for (const GroupSample& group : row.groups)
    for (const RunCase& run_case : group.cases)
      if (!has_byte_tokens(run_case.run->manifest.value("scenario", Json::object()))) return false;
  return true;
}

std::vector<std::string> loss_plots(const std::vector<FigureSeries>& series, const std::string& x) {
  std::vector<std::string> plots;
  for (std::size_t i = 0; i < series.size(); ++i)
    plots.push_back(fmt::format(
        "data index {} using {}:3:4 with filledcurves lc rgb '{}' fs transparent solid 0.2 noborder notitle",
        i, x, series[i].color));
  for (std::size_t i = 0; i < series.size(); ++i) plots.push_back(curve_plot(series, i, x, "lines"));
  return plots;
}

constexpr std::size_t kMostSteps = 1000;

void add_times(const RunCase& run_case, std::vector<double>& times) {
  const std::string folder = run_case.run->case_folder(*run_case.record), file = folder + "/exchanges.csv";
  if (!std::filesystem::exists(file)) return;
  if (const std::string torn = cut_off(file); !torn.empty()) throw RunError(torn);
  for (ExchangeTable rows(folder); rows.next();)
    if (rows.is_synchronization()) times.push_back(rows.done_s() - rows.start_s());
}

std::vector<double> sorted_times(const GroupSample& group, const FigureContext& context) {
  std::vector<double> times;
  for (const RunCase& run_case : group.cases) {
    const std::size_t before = times.size();
    try {
      add_times(run_case, times);
    } catch (const RunError& error) {
      times.resize(before);
      context.notes->push_back(error.what() + std::string("; its exchanges are left out"));
    }
  }
  std::sort(times.begin(), times.end());
  return times;
}

// "time share": the share of all times up to this one. Of many, evenly spaced ones.
std::string ecdf_rows(const std::vector<double>& times) {
  const std::size_t count = std::min(times.size(), kMostSteps);
  std::string rows = data_row({times[0], 0});
  for (std::size_t i = 1; i <= count; ++i) {
    const std::size_t rank = i * times.size() / count;  // how many are at most the rank-th
    rows += data_row({times[rank - 1], static_cast<double>(rank) / static_cast<double>(times.size())});
  }
  return rows;
}

struct Part {
  const char* name;
  const char* path;
  const char* fill;        // of the bar in the colour of its method
  const char* key_fill;    // of the key, which is grey
  double hatch_step = 0;   // between slanted lines, as a share of the axis; 0: none
  double hatch_slope = 0;  // how far a line goes along the axis over the height of a bar
  bool is_of_stages = false;
};

constexpr Part kParts[] = {{"compute", "compute_time_s", "solid 0.35 noborder", "solid 0.35 noborder"},
                           {"bubble", "bubble_time_s", "empty border", "pattern 0 border", 0, 0, true},
                           {"wait for a stage's message", "stage_wait_time_s", "empty border",
                            "pattern 1 border", 0.012, -0.05, true},
                           {"exchange", "exchange_time_s", "solid 1 noborder", "solid 1 noborder"},
                           {"wait", "wait_time_s", "empty border", "pattern 4 border", 0.02, 0.05}};

constexpr double kHalfBar = 0.35;

struct Rectangle {
  double left = 0, right = 0, bottom = 0, top = 0;
};

// "x y dx dy colour" of slanted lines that fill a bar: those that begin at multiples of the step on its lower
// edge, or would, cut off at its sides.
std::string hatch_rows(const Rectangle& bar, const Part& part, const std::string& color) {
  std::string rows;
  const double height = bar.top - bar.bottom, slope = part.hatch_slope;
  const double first = bar.left - std::max(0., slope), last = bar.right - std::min(0., slope);
  for (double n = std::ceil(first / part.hatch_step); n * part.hatch_step <= last; ++n) {
    const double start = n * part.hatch_step;
    // The part of the line, from 0 at the lower to 1 at the upper edge, that is inside.
    double from = (bar.left - start) / slope, to = (bar.right - start) / slope;
    if (from > to) std::swap(from, to);
    from = std::max(0., from);
    to = std::min(1., to);
    if (to <= from) continue;
    rows += fmt::format("{:.6g} {:.6g} {:.6g} {:.6g}", start + from * slope, bar.bottom + from * height,
                        (to - from) * slope, (to - from) * height) +
            color;
  }
  return rows;
}

// Those of stages only where there are some.
std::vector<Part> parts_of(const RowSample& row) {
  bool has_stages = false;
  for (const GroupSample& group : row.groups)
    for (const RunCase& run_case : group.cases) has_stages |= run_case.record->contains("bubble_time_s");
  std::vector<Part> parts;
  for (const Part& part : kParts)
    if (has_stages || !part.is_of_stages) parts.push_back(part);
  return parts;
}

// The mean over seeds of each part, as a share of their sum; empty where a part is missing.
std::vector<double> shares_of(const GroupSample& group, const std::vector<Part>& parts) {
  std::vector<double> shares;
  double sum = 0;
  for (const Part& part : parts) {
    std::vector<double> values;
    for (const RunCase& run_case : group.cases)
      if (const auto value = value_at(*run_case.record, part.path)) values.push_back(*value);
    if (values.empty() && !part.is_of_stages) return {};
    shares.push_back(values.empty() ? 0 : mean(values));
    sum += shares.back();
  }
  for (double& share : shares) share = sum > 0 ? share / sum : 0;
  return shares;
}

}  // namespace

// The validation loss against simulated time, steps and bytes: the mean over seeds in the band of its 95 %
// interval, as in the report.
std::vector<Figure> loss_figures(const RowSample& row, const FigureContext& context) {
  std::vector<std::vector<Json>> curves;
  for (const GroupSample& group : row.groups) {
    curves.push_back(curves_of(group, context));
    if (!curves.back().empty() && !same_steps(curves.back())) {
      context.notes->push_back(group.name + ": its seeds were not evaluated at the same steps; one is drawn");
      curves.back().resize(1);
    }
  }
  std::vector<Figure> figures;
  for (const LossAxis& axis : kAxes) {
    std::vector<FigureSeries> drawn;
    std::vector<std::size_t> groups;
    std::vector<double> ends;  // of the curves, where they are not at 0
    const std::vector<FigureSeries> all = series_of(row, context);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const bool is_known =
          !curves[i].empty() && std::all_of(curves[i].begin(), curves[i].end(),
                                            [&](const Json& entry) { return has_values(entry[axis.key]); });
      if (!is_known) continue;
      groups.push_back(i);
      if (const double end = mean_at(curves[i], axis.key, curves[i][0]["step"].size() - 1); end > 0)
        ends.push_back(end);
    }
    const bool is_logarithmic = context.style.log_x || spans_decades(ends);
    Extent times, losses;
    for (const std::size_t i : groups) {
      FigureSeries series = all[i];
      series.about = fmt::format("seeds: {}", curves[i].size());
      series.rows = loss_rows(curves[i], axis.key, is_logarithmic, times, losses);
      if (series.rows.empty())
        context.notes->push_back(series.name + ": is at 0 and on no logarithmic axis, left out of " +
                                 axis.name);
      else
        drawn.push_back(std::move(series));
    }
    if (drawn.empty()) continue;
    const AxisScale scale =
        axis_scale(axis.unit, ends.empty() ? 0 : *std::max_element(ends.begin(), ends.end()));
    const std::string name = figure_name(axis.name, row.at);
    const std::string title = fmt::format(
        "Validation loss against {}{}. Line: mean over seeds. Band: its 95 % interval (Student's t).",
        axis.title, at_point(row));
    std::vector<std::string> settings = {"set xlabel " + figure_text(axis_title(axis.title, scale.unit)),
                                         "set ylabel " + figure_text("validation loss (nats a token)"),
                                         "set yrange " + losses.range()};
    for (const std::string& setting : x_axis(is_logarithmic, times, scale)) settings.push_back(setting);
    if (are_byte_tokens(row))
      for (const std::string& setting : bits_axis(losses)) settings.push_back(setting);
    figures.push_back(
        {name,
         figure_script(name, title, context.style, settings, loss_plots(drawn, scaled_column(1, scale))),
         figure_data(title, std::string(axis.key) + " mean low high", drawn)});
  }
  return figures;
}

// How synchronization times are distributed: the share of exchanges (all seeds, replicas and outer steps)
// that took at most so long.
std::vector<Figure> sync_figures(const RowSample& row, const FigureContext& context) {
  std::vector<FigureSeries> drawn;
  std::vector<double> ends;
  Extent times_drawn;
  const std::vector<FigureSeries> all = series_of(row, context);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::vector<double> times = sorted_times(row.groups[i], context);
    if (times.empty()) continue;
    drawn.push_back(all[i]);
    drawn.back().about = fmt::format("{} exchanges, seeds: {}", times.size(), row.groups[i].cases.size());
    drawn.back().rows = ecdf_rows(times);
    ends.push_back(times.front());
    ends.push_back(times.back());
    times_drawn.take(times.front());
    times_drawn.take(times.back());
  }
  // Where communication is free there is nothing to see.
  if (drawn.empty() || *std::max_element(ends.begin(), ends.end()) <= 0) return {};
  const bool logarithmic = spans_decades(ends) || (context.style.log_x && times_drawn.low > 0);
  const AxisScale scale = axis_scale("s", *std::max_element(ends.begin(), ends.end()));
  std::vector<std::string> settings = {
      "set xlabel " + figure_text(axis_title("synchronization time", scale.unit)),
      "set ylabel " + figure_text("share of exchanges"), "set yrange [0:1]"};
  for (const std::string& setting : x_axis(logarithmic, times_drawn, scale)) settings.push_back(setting);
  std::vector<std::string> plots;
  for (std::size_t i = 0; i < drawn.size(); ++i)
    plots.push_back(curve_plot(drawn, i, scaled_column(1, scale), "steps"));
  const std::string name = figure_name("sync-time", row.at);
  const std::string title = fmt::format(
      "Synchronization time (done - start) of exchanges: share that took at most so long{}.", at_point(row));
  return {{name, figure_script(name, title, context.style, settings, plots),
           figure_data(title, "time_s share", drawn)}};
}

// Where the time of a replica goes: compute, exchange and wait as stacked bars, mean over seeds. Hatches are
// lines in the data: as fill patterns all bars of an SVG would have the colour of the first.
std::vector<Figure> share_figures(const RowSample& row, const FigureContext& context) {
  const std::vector<FigureSeries> all = series_of(row, context);
  const std::vector<Part> shown = parts_of(row);
  std::vector<FigureSeries> parts;
  for (const Part& part : shown) parts.push_back({part.name, "share of the clock of a replica", "", 1, ""});
  std::vector<FigureSeries> hatches;
  for (const Part& part : shown)
    if (part.hatch_step > 0) hatches.push_back({std::string(part.name) + ", hatched", "lines", "", 1, ""});
  std::vector<std::string> tics;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::vector<double> shares = shares_of(row.groups[i], shown);
    if (shares.empty()) continue;
    const double place = static_cast<double>(tics.size());
    double low = 0;
    for (std::size_t k = 0, hatched = 0; k < shares.size(); ++k) {
      const std::string color = " 0x" + all[i].color.substr(1) + "\n";
      parts[k].rows +=
          fmt::format("{} {} {}", place, format_number(low), format_number(low + shares[k])) + color;
      if (shown[k].hatch_step > 0)
        hatches[hatched++].rows +=
            hatch_rows({low, low + shares[k], place - kHalfBar, place + kHalfBar}, shown[k], color);
      low += shares[k];
    }
    tics.push_back(figure_text(all[i].name) + " " + std::to_string(tics.size()));
  }
  if (tics.empty()) return {};
  std::vector<std::string> plots;
  for (std::size_t k = 0, hatched = parts.size(); k < parts.size(); ++k) {
    plots.push_back(fmt::format(
        "data index {} using 2:1:2:3:($1-{}):($1+{}):4 with boxxyerror lc rgb variable fs {} notitle", k,
        kHalfBar, kHalfBar, shown[k].fill));
    if (shown[k].hatch_step > 0)
      plots.push_back(fmt::format(
          "data index {} using 1:2:3:4:5 with vectors nohead lw 0.8 lc rgb variable notitle", hatched++));
    plots.push_back(fmt::format("NaN with boxes lc rgb '#666666' fs {} title {}", shown[k].key_fill,
                                figure_text(shown[k].name)));
  }
  parts.insert(parts.end(), hatches.begin(), hatches.end());
  const std::string name = figure_name("shares", row.at);
  const std::string title =
      fmt::format("Where the time of a replica goes, mean over replicas and seeds{}.", at_point(row));
  return {{name,
           figure_script(name, title, context.style,
                         {"set xlabel " + figure_text("share of the time of a replica"), "set xrange [0:1]",
                          fmt::format("set yrange [{}-0.4:-0.6]", tics.size()),
                          "set ytics (" + join(tics) + ")", "unset grid"},
                         plots),
           figure_data(title, "place from to colour, or x y dx dy colour", parts)}};
}

}  // namespace longhaul
