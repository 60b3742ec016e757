#include "analysis/validation.h"

#include <algorithm>
#include <cmath>

#include "analysis/claims.h"
#include "core/errors.h"

namespace longhaul {
namespace {

[[noreturn]] void reject(const std::string& path, const std::string& found, const std::string& allowed,
                         const std::string& near = "") {
  throw InputError(path, found, allowed, near.empty() ? "" : "did you mean \"" + near + "\"?");
}

// A figure is looked up as the points of a claim are: means over seeds, ratios of paired cases.
std::vector<JudgedPoint> points_of(const Json& figure, const std::vector<Json>& records) {
  Json claim = {{"id", ""}, {"equals", figure.at("value")}, {"within", 0}};
  for (const char* key : {"metric", "ratio", "of", "to", "where"})
    if (figure.contains(key)) claim[key] = figure[key];
  return judged_points(claim, records);
}

bool is_at(const Json& swept, const Json& assumed) {
  for (const auto& [key, value] : assumed.items())
    if (!swept.contains(key) || swept[key] != value) return false;
  return true;
}

std::vector<JudgedPoint> assumed_points(const Json& figure, const std::vector<JudgedPoint>& points) {
  std::vector<JudgedPoint> found;
  const Json assumed = figure.value("assumed", Json::object());
  std::copy_if(points.begin(), points.end(), std::back_inserter(found),
               [&](const JudgedPoint& point) { return is_at(point.swept, assumed); });
  return found;
}

void check_label(const Json& figure, const std::string& path, const char* key,
                 const std::vector<std::string>& labels) {
  const std::string label = figure.value(key, "");
  if (figure.contains(key) && std::find(labels.begin(), labels.end(), label) == labels.end())
    reject(child_path(path, key), "found \"" + label + "\"", join(labels), nearest(label, labels));
}

void check_keys(const Json& figure, const std::string& path, const char* table,
                const std::set<std::string>& swept) {
  const std::vector<std::string> keys(swept.begin(), swept.end());
  const Json section = figure.value(table, Json::object());
  for (const auto& [key, value] : section.items())
    if (!swept.count(key))
      reject(child_path(child_path(path, table), key), "is not swept",
             keys.empty() ? "nothing: the scenario has no sweep" : join(keys), nearest(key, keys));
}

// The keys of the sweep that tell the points apart.
std::vector<std::string> keys_that_differ(const std::vector<JudgedPoint>& points) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : points[0].swept.items())
    for (const JudgedPoint& point : points)
      if (point.swept.value(key, Json()) != value) {
        keys.push_back(key);
        break;
      }
  return keys;
}

void check_figure(const Json& figure, const std::string& path, const std::vector<std::string>& labels,
                  const std::set<std::string>& swept, const std::vector<Json>& cases) {
  if (figure.contains("metric") == figure.contains("ratio"))
    reject(path, figure.contains("metric") ? "found both metric and ratio" : "found neither metric nor ratio",
           "exactly one of them");
  if (figure.contains("ratio") != figure.contains("to"))
    reject(path, figure.contains("to") ? "found to without ratio" : "found ratio without to",
           "to, a label, with ratio alone");
  check_label(figure, path, "of", labels);
  check_label(figure, path, "to", labels);
  check_keys(figure, path, "where", swept);
  check_keys(figure, path, "assumed", swept);
  const std::vector<JudgedPoint> points = points_of(figure, cases);
  if (points.empty()) reject(child_path(path, "where"), "no case fits it", "values of the sweep");
  const std::vector<JudgedPoint> assumed = assumed_points(figure, points);
  if (assumed.empty())
    reject(child_path(path, "assumed"), "none of the " + std::to_string(points.size()) + " points fits it",
           "values of the sweep");
  if (assumed.size() > 1)
    reject(child_path(path, "assumed"), "leaves " + std::to_string(assumed.size()) + " points of the sweep",
           "the values of one: the prediction is a single number; they differ in " +
               join(keys_that_differ(assumed)));
}

}  // namespace

bool FigureVerdict::is_off() const {
  return !(std::abs(prediction.ratio - 1) <= kNeedsAReason);
}

void check_validation(const Json& section, const std::vector<std::string>& labels,
                      const std::set<std::string>& swept, const std::vector<Json>& cases) {
  const Json figures = section.value("figures", Json::array());
  for (std::size_t i = 0; i < figures.size(); ++i)
    check_figure(figures[i], element_path("validation.figures", i), labels, swept, cases);
}

Validation judge_validation(const std::string& name, const Json& section, const std::vector<Json>& records) {
  Validation validation{name, section, {}};
  for (const Json& figure : section.at("figures")) {
    const Json assumed = figure.value("assumed", Json::object());
    const double published = figure.at("value");
    FigureVerdict verdict{figure, {Json::object(), NAN, NAN}, {}};
    for (const JudgedPoint& point : points_of(figure, records)) {
      const Prediction one{point.swept, point.measured, point.measured / published};
      if (is_at(point.swept, assumed))
        verdict.prediction = one;
      else
        verdict.others.push_back(one);
    }
    validation.figures.push_back(std::move(verdict));
  }
  return validation;
}

}  // namespace longhaul
