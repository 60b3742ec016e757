#include "analysis/figures/figures.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

#include "analysis/comparison/metric.h"
#include "analysis/text.h"
#include "core/base/errors.h"
#include "core/base/index.h"

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

// The records that stand in `samples`, in their runs.
std::vector<RunDirectory> runs_of(const std::vector<RunDirectory>& runs, const Samples& samples) {
  std::set<const Json*> chosen;
  for (const RowSample& row : samples.rows)
    for (const GroupSample& group : row.groups)
      for (const RunCase& run_case : group.cases) chosen.insert(run_case.record);
  std::vector<RunDirectory> some = runs;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    some[i].records.clear();
    for (const Json& record : runs[i].records)
      if (chosen.count(&record)) some[i].records.push_back(record);
  }
  return some;
}

// A name with * for any text, also none.
bool matches(const std::string& pattern, const std::string& name) {
  const std::size_t star = pattern.find('*');
  if (star == std::string::npos) return pattern == name;
  if (name.compare(0, star, pattern, 0, star) != 0) return false;
  const std::string rest = pattern.substr(star + 1);
  for (std::size_t from = star; from <= name.size(); ++from)
    if (matches(rest, name.substr(from))) return true;
  return false;
}

void keep_only(const std::vector<std::string>& patterns, std::vector<Figure>& figures) {
  if (patterns.empty()) return;
  std::vector<std::string> names;
  for (const Figure& figure : figures) names.push_back(figure.name);
  for (const std::string& pattern : patterns)
    if (std::none_of(names.begin(), names.end(),
                     [&](const std::string& name) { return matches(pattern, name); }))
      throw InputError("--only", "no figure is called \"" + pattern + "\"",
                       "one of those that longhaul plot --list names; * stands for any text",
                       did_you_mean(pattern, names));
  figures.erase(std::remove_if(figures.begin(), figures.end(),
                               [&](const Figure& figure) {
                                 return std::none_of(patterns.begin(), patterns.end(),
                                                     [&](const std::string& pattern) {
                                                       return matches(pattern, figure.name);
                                                     });
                               }),
                figures.end());
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
    const int twin = seen[group.label]++;
    all.push_back({group.name, "", method_color(place), 1 + (static_cast<int>(place) + twin) % 5, ""});
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
  const std::vector<RunDirectory> chosen = request.where.empty() ? runs : runs_of(runs, by_method);
  append(claim_figures(chosen, context), made.figures);
  append(matrix_figures(chosen, context), made.figures);
  make_names_unique(made.figures);
  keep_only(request.only, made.figures);
  return made;
}

}  // namespace longhaul
