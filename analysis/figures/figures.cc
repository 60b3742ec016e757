#include "analysis/figures/figures.h"

#include <algorithm>
#include <map>
#include <set>

#include "analysis/comparison/metric.h"
#include "core/errors.h"
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
    for (const Json& record : run.records) {
      const std::string label = record.value("label", record.value("method", "?"));
      if (std::find(labels.begin(), labels.end(), label) == labels.end()) labels.push_back(label);
    }
  return labels;
}

std::vector<std::string> sweep_metrics(const std::vector<RunDirectory>& runs,
                                       const std::vector<std::string>& asked) {
  std::vector<Json> records;
  for (const RunDirectory& run : runs) records.insert(records.end(), run.records.begin(), run.records.end());
  if (asked.empty()) {
    std::vector<std::string> paths;
    for (const Metric& metric : default_metrics(records)) paths.push_back(metric.path);
    return paths;
  }
  const std::vector<std::string> known = number_paths(records);
  for (const std::string& path : asked)
    if (std::find(known.begin(), known.end(), path) == known.end()) {
      const std::string near = nearest(path, known);
      throw InputError("--metric", "no case has a number \"" + path + "\"", join(known),
                       near.empty() ? "" : "did you mean \"" + near + "\"?");
    }
  return asked;
}

void add_point_figures(const Samples& samples, const FigureContext& context, std::vector<Figure>& figures) {
  const std::size_t count = std::min(samples.rows.size(), kMostPoints);
  for (std::size_t i = 0; i < count; ++i) {
    append(loss_figures(samples.rows[i], context), figures);
    append(sync_figures(samples.rows[i], context), figures);
    append(share_figures(samples.rows[i], context), figures);
  }
  if (samples.rows.size() > count)
    context.notes->push_back("figures of single points are made for the first " + std::to_string(count) +
                             " of " + std::to_string(samples.rows.size()) +
                             " points; choose others with --where key=value");
}

// Two points may have one name where it is cut or a sign is replaced.
void make_names_unique(std::vector<Figure>& figures) {
  std::set<std::string> seen;
  for (Figure& figure : figures) {
    const std::string name = figure.name;
    for (int i = 2; !seen.insert(figure.name).second; ++i) figure.name = name + "-" + std::to_string(i);
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

std::vector<FigureSeries> series_of(const RowSample& row, const FigureContext& context) {
  std::vector<FigureSeries> all;
  std::map<std::string, int> seen;
  for (const GroupSample& group : row.groups) {
    const auto place = as_index(std::find(context.labels.begin(), context.labels.end(), group.label) -
                                context.labels.begin());
    const int round = static_cast<int>(place / 8);
    all.push_back({group.name, "", method_color(place), 1 + (seen[group.label]++ + round) % 5, ""});
  }
  return all;
}

Figures figures_of(const std::vector<RunDirectory>& runs, const FigureRequest& request) {
  Figures made;
  const FigureContext context{labels_of(runs), request.style, &made.notes};
  const std::vector<std::string> metrics = sweep_metrics(runs, request.metrics);
  const Samples by_method = samples_of(runs, {"method", {}, request.where});
  made.notes = by_method.notes;
  add_point_figures(by_method, context, made.figures);
  const Samples by_label = samples_of(runs, {"label", {}, request.where});
  for (const std::string& metric : metrics)
    append(sweep_figures(by_label.rows, metric, context), made.figures);
  append(claim_figures(runs, context), made.figures);
  make_names_unique(made.figures);
  return made;
}

}  // namespace longhaul
