#include "analysis/figures/figures.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

#include "analysis/comparison/metric.h"
#include "analysis/text.h"
#include "core/index.h"

namespace longhaul {
namespace {

constexpr std::size_t kMostPoints = 6;  // of the sweep that get figures of their own

void append(std::vector<Figure> more, std::vector<Figure>& figures) {
  std::move(more.begin(), more.end(), std::back_inserter(figures));
}

std::vector<std::string> labels_of(const std::vector<RunDirectory>& runs) {
  std::vector<std::string> labels;
  for (const RunDirectory& run : runs)
    for (const Json& record : run.records)
      add_new(record.value("label", record.value("method", "?")), labels);
  return labels;
}

void add_point_figures(const Samples& samples, const FigureContext& context, std::vector<Figure>& figures) {
  const std::size_t count = std::min(samples.rows.size(), kMostPoints);
  for (std::size_t i = 0; i < count; ++i) {
    append(loss_figures(samples.rows[i], context), figures);
    append(sync_figures(samples.rows[i], context), figures);
    append(share_figures(samples.rows[i], context), figures);
  }
  if (samples.rows.size() > count)
    context.notes->push_back(
        fmt::format("figures of single points are made for the first {} of {} points; choose others with "
                    "--where key=value",
                    count, samples.rows.size()));
}

// Two points may have one name where it is cut or a sign is replaced.
void make_names_unique(std::vector<Figure>& figures) {
  std::set<std::string> seen;
  for (Figure& figure : figures) {
    const std::string name = figure.name;
    for (int i = 2; !seen.insert(figure.name).second; ++i) figure.name = fmt::format("{}-{}", name, i);
    if (figure.name == name) continue;
    for (const std::string& text : {"name = '" + name + "'", "gnuplot " + name + ".gp"}) {
      const std::size_t place = figure.gp.find(text);
      std::string replaced = text;
      replaced.replace(replaced.find(name), name.size(), figure.name);
      if (place != std::string::npos) figure.gp.replace(place, text.size(), replaced);
    }
  }
}

}  // namespace

std::size_t FigureContext::place_of(const std::string& label) const {
  return as_index(std::find(labels.begin(), labels.end(), label) - labels.begin());
}

std::vector<FigureSeries> series_of(const RowSample& row, const FigureContext& context) {
  std::vector<FigureSeries> all;
  std::map<std::string, int> seen;
  for (const GroupSample& group : row.groups) {
    const std::size_t place = context.place_of(group.label);
    const int round = static_cast<int>(place / 8);
    all.push_back({group.name, "", method_color(place), 1 + (seen[group.label]++ + round) % 5, ""});
  }
  return all;
}

Figures figures_of(const std::vector<RunDirectory>& runs, const FigureRequest& request) {
  Figures made;
  const FigureContext context{labels_of(runs), request.style, &made.notes};
  const std::vector<Metric> metrics = chosen_metrics(request.metrics, all_records(runs));
  const Samples by_method = samples_of(runs, {"method", {}, request.where});
  made.notes = by_method.notes;
  add_point_figures(by_method, context, made.figures);
  const Samples by_label = samples_of(runs, {"label", {}, request.where});
  for (const Metric& metric : metrics) append(sweep_figures(by_label.rows, metric, context), made.figures);
  append(claim_figures(runs, context), made.figures);
  make_names_unique(made.figures);
  return made;
}

}  // namespace longhaul
