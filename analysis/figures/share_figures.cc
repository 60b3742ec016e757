// Where the time of a replica goes: compute, exchange and wait as stacked bars, mean over seeds.
#include "analysis/figures/figures.h"
#include "analysis/statistics.h"
#include "analysis/table.h"
#include "core/errors.h"
#include "core/units.h"

namespace longhaul {
namespace {

struct Part {
  const char* name;
  const char* path;
  const char* fill;  // of the bar in the colour of its method
};

constexpr Part kParts[] = {{"compute", "compute_time_s", "solid 0.35 noborder"},
                           {"exchange", "exchange_time_s", "solid 1 noborder"},
                           {"wait", "wait_time_s", "pattern 4 border"}};

// The mean over seeds of each part, as a share of their sum; empty where a part is missing.
std::vector<double> shares_of(const GroupSample& group) {
  std::vector<double> shares;
  double sum = 0;
  for (const Part& part : kParts) {
    std::vector<double> values;
    for (const RunCase& one : group.cases)
      if (const auto value = value_at(*one.record, part.path)) values.push_back(*value);
    if (values.empty()) return {};
    shares.push_back(mean(values));
    sum += shares.back();
  }
  for (double& share : shares) share = sum > 0 ? share / sum : 0;
  return shares;
}

}  // namespace

std::vector<Figure> share_figures(const RowSample& row, const FigureContext& context) {
  const std::vector<FigureSeries> all = series_of(row, context);
  std::vector<FigureSeries> parts;
  for (const Part& part : kParts) parts.push_back({part.name, "share of the clock of a replica", "", 1, ""});
  std::vector<std::string> tics;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::vector<double> shares = shares_of(row.groups[i]);
    if (shares.empty()) continue;
    const std::string place = std::to_string(tics.size());
    double low = 0;
    for (std::size_t k = 0; k < shares.size(); ++k) {
      parts[k].rows += place + " " + format_number(low) + " " + format_number(low + shares[k]) + " 0x" +
                       all[i].color.substr(1) + "\n";
      low += shares[k];
    }
    tics.push_back(figure_text(all[i].name) + " " + place);
  }
  if (tics.empty()) return {};
  std::vector<std::string> plots;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    plots.push_back("data index " + std::to_string(k) +
                    " using 2:1:2:3:($1-0.35):($1+0.35):4 with boxxyerror lc rgb variable fs " +
                    kParts[k].fill + " notitle");
    plots.push_back(std::string("NaN with boxes lc rgb '#666666' fs ") + kParts[k].fill + " title '" +
                    kParts[k].name + "'");
  }
  const std::string name = figure_name("shares", row.at);
  const std::string title = "Where the time of a replica goes, mean over replicas and seeds" +
                            (row.at.empty() ? std::string() : ", at " + row.at) + ".";
  return {{name,
           figure_script(name, title, context.style,
                         {"set xlabel 'share of the time of a replica'", "set xrange [0:1]",
                          "set yrange [" + std::to_string(tics.size()) + "-0.4:-0.6]",
                          "set ytics (" + join(tics) + ")", "unset grid"},
                         plots),
           figure_data(title, "place from to colour", parts)}};
}

}  // namespace longhaul
