// How synchronization times are distributed: the share of exchanges (all seeds, replicas and outer steps)
// that took at most so long.
#include <algorithm>
#include <filesystem>

#include "analysis/csv_stream.h"
#include "analysis/exchange_table.h"
#include "analysis/figures/axis.h"
#include "analysis/figures/figures.h"
#include "core/errors.h"
#include "core/units.h"

namespace longhaul {
namespace {

constexpr std::size_t kMostSteps = 1000;

void add_times(const RunCase& one, std::vector<double>& times) {
  const std::string folder = one.run->case_folder(*one.record), file = folder + "/exchanges.csv";
  if (!std::filesystem::exists(file)) return;
  if (const std::string torn = cut_off(file); !torn.empty()) throw RunError(torn);
  for (ExchangeTable rows(folder); rows.next();)
    if (rows.is_synchronization()) times.push_back(rows.done_s() - rows.start_s());
}

std::vector<double> sorted_times(const GroupSample& group, const FigureContext& context) {
  std::vector<double> times;
  for (const RunCase& one : group.cases) {
    const std::size_t before = times.size();
    try {
      add_times(one, times);
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
  std::string rows = format_number(times[0]) + " 0\n";
  for (std::size_t i = 1; i <= count; ++i) {
    const std::size_t rank = i * times.size() / count;  // how many are at most the rank-th
    rows += format_number(times[rank - 1]) + " " +
            format_number(static_cast<double>(rank) / static_cast<double>(times.size())) + "\n";
  }
  return rows;
}

}  // namespace

std::vector<Figure> sync_figures(const RowSample& row, const FigureContext& context) {
  std::vector<FigureSeries> drawn;
  std::vector<double> ends;
  const std::vector<FigureSeries> all = series_of(row, context);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::vector<double> times = sorted_times(row.groups[i], context);
    if (times.empty()) continue;
    drawn.push_back(all[i]);
    drawn.back().about =
        std::to_string(times.size()) + " exchanges, seeds: " + std::to_string(row.groups[i].cases.size());
    drawn.back().rows = ecdf_rows(times);
    ends.push_back(times.front());
    ends.push_back(times.back());
  }
  // Where communication is free there is nothing to see.
  if (drawn.empty() || *std::max_element(ends.begin(), ends.end()) <= 0) return {};
  const bool logarithmic = spans_decades(ends);
  const AxisScale scale = axis_scale("s", *std::max_element(ends.begin(), ends.end()));
  std::vector<std::string> settings = {
      "set xlabel " + figure_text(axis_title("synchronization time", scale.unit)),
      "set ylabel 'share of exchanges'", "set yrange [0:1]"};
  settings.push_back(logarithmic ? "set logscale x" : "set xrange [0:*]");
  std::vector<std::string> plots;
  for (std::size_t i = 0; i < drawn.size(); ++i)
    plots.push_back("data index " + std::to_string(i) + " using ($1/" + format_number(scale.divisor) +
                    "):2 with steps lw 1.5 dt " + std::to_string(drawn[i].dash) + " lc rgb '" +
                    drawn[i].color + "' title " + figure_text(drawn[i].name));
  const std::string name = figure_name("sync-time", row.at);
  const std::string title =
      "Synchronization time (done - start) of exchanges: share that took at most so "
      "long" +
      (row.at.empty() ? std::string() : ", at " + row.at) + ".";
  return {{name, figure_script(name, title, context.style, settings, plots),
           figure_data(title, "time_s share", drawn)}};
}

}  // namespace longhaul
