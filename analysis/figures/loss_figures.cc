// The validation loss against simulated time, steps and bytes: the mean over seeds in a band from the lowest
// to the highest seed.
#include <algorithm>

#include "analysis/figures/axis.h"
#include "analysis/figures/figures.h"
#include "analysis/report/curves.h"
#include "core/errors.h"
#include "core/units.h"

namespace longhaul {
namespace {

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
  for (const RunCase& one : group.cases) {
    const std::string folder = one.run->case_folder(*one.record);
    try {
      if (const std::string torn = cut_off(folder + "/metrics.csv"); !torn.empty()) throw RunError(torn);
      const Json curve = curve_of(folder, one.run->train_folder(*one.record), kCurvePoints);
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
                     [&](const Json& one) { return one["step"] == curves[0]["step"]; });
}

double mean_at(const std::vector<Json>& curves, const char* key, std::size_t i) {
  double sum = 0;
  for (const Json& curve : curves) sum += curve[key][i].get<double>();
  return sum / static_cast<double>(curves.size());
}

// "x mean lowest highest", and the largest x.
std::string rows_of(const std::vector<Json>& curves, const char* key, double& largest) {
  std::string rows;
  for (std::size_t i = 0; i < curves[0]["step"].size(); ++i) {
    double low = curves[0]["loss"][i], high = low;
    for (const Json& curve : curves) {
      low = std::min(low, curve["loss"][i].get<double>());
      high = std::max(high, curve["loss"][i].get<double>());
    }
    const double x = mean_at(curves, key, i);
    largest = std::max(largest, x);
    rows += format_number(x) + " " + format_number(mean_at(curves, "loss", i)) + " " + format_number(low) +
            " " + format_number(high) + "\n";
  }
  return rows;
}

std::vector<std::string> plots_of(const std::vector<FigureSeries>& series, const std::string& x) {
  std::vector<std::string> plots;
  for (std::size_t i = 0; i < series.size(); ++i)
    plots.push_back("data index " + std::to_string(i) + " using " + x + ":3:4 with filledcurves lc rgb '" +
                    series[i].color + "' fs transparent solid 0.2 noborder notitle");
  for (std::size_t i = 0; i < series.size(); ++i)
    plots.push_back("data index " + std::to_string(i) + " using " + x + ":2 with lines lw 1.5 dt " +
                    std::to_string(series[i].dash) + " lc rgb '" + series[i].color + "' title " +
                    figure_text(series[i].name));
  return plots;
}

}  // namespace

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
    double largest = 0;
    const std::vector<FigureSeries> all = series_of(row, context);
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (curves[i].empty() || !has_values(curves[i][0][axis.key])) continue;
      drawn.push_back(all[i]);
      drawn.back().about = "seeds: " + std::to_string(curves[i].size());
      drawn.back().rows = rows_of(curves[i], axis.key, largest);
    }
    if (drawn.empty()) continue;
    const AxisScale scale = axis_scale(axis.unit, largest);
    const std::string name = figure_name(axis.name, row.at);
    const std::string title = "Validation loss against " + std::string(axis.title) +
                              (row.at.empty() ? "" : ", at " + row.at) +
                              ". Line: mean over seeds. Band: from the lowest to the highest seed.";
    figures.push_back({name,
                       figure_script(name, title, context.style,
                                     {"set xlabel " + figure_text(axis_title(axis.title, scale.unit)),
                                      "set ylabel 'validation loss (nats)'", "set xrange [0:*]"},
                                     plots_of(drawn, "($1/" + format_number(scale.divisor) + ")")),
                       figure_data(title, std::string(axis.key) + " mean lowest highest", drawn)});
  }
  return figures;
}

}  // namespace longhaul
