#include "fitting/predictions.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "analysis/record_values.h"
#include "analysis/residual.h"
#include "analysis/statistics.h"
#include "analysis/text.h"
#include "core/base/errors.h"
#include "core/base/index.h"
#include "core/base/ranges.h"
#include "core/base/units.h"
#include "core/scenario/scenario.h"
#include "fitting/exchange_time.h"

namespace longhaul {
namespace {

// Leaves the times whose logarithms are near their median.
void leave_out_outliers(std::vector<ObservedTime>& times) {
  constexpr std::size_t kFewest = 5;
  constexpr double kMedian = 50, kFar = 10;
  if (times.size() < kFewest) return;
  const double median =
      percentile(each_of(times, [](const ObservedTime& one) { return std::log(one.seconds); }), kMedian);
  const auto off = [&](const ObservedTime& one) { return std::abs(std::log(one.seconds) - median); };
  const double deviation = percentile(each_of(times, off), kMedian);
  if (deviation > 0) drop_if(times, [&](const ObservedTime& one) { return off(one) > kFar * deviation; });
}

double metric_of(const Json& record, const ObservedRow& row) {
  if (const std::optional<double> value = value_at(record, row.metric)) return *value;
  throw InputError(row.path_of("metric"),
                   fmt::format("found \"{}\", which the scenario does not give for {}", row.metric, row.what),
                   "a number of its record (longhaul run writes summary.json)");
}

// The values at which a row was observed: those of the point of the scenario's sweep that its `where` singles
// out, and what of `where` the sweep does not have.
Json values_of(const ObservedRow& row, const std::string& label, const std::vector<Case>& cases) {
  Json swept, more = Json::object();
  for (const auto& [key, value] : row.where.items()) {
    const bool is_swept = any_of(cases, [&, key = key](const Case& config) {
      return config.method.label == label && config.swept.contains(key);
    });
    if (!is_swept) more[key] = value;
  }
  bool is_found = false;
  for (const Case& config : cases) {
    if (config.method.label != label) continue;
    bool fits = true;
    for (const auto& [key, value] : row.where.items())
      fits = fits && (more.contains(key) || (config.swept.contains(key) && config.swept[key] == value));
    if (!fits || (is_found && swept == config.swept)) continue;
    if (is_found)
      throw InputError(row.path_of("where"), row.what + ": leaves several points of the sweep",
                       "the values of one", "two of them: " + swept.dump() + ", " + config.swept.dump());
    swept = config.swept;
    is_found = true;
  }
  if (!is_found)
    throw InputError(row.path_of("where"), row.what + ": no point of the sweep fits it",
                     "values of the sweep");
  for (const auto& [key, value] : more.items()) swept[key] = value;
  return swept;
}

std::string label_of(const Json& method) {
  return plain(method.value("label", method.value("name", Json(""))));
}

// What the scenario says of a point that the user has not written as such.
InputError of_a_point(const InputError& error, const std::vector<Unknown>& numbers, const Json& observed_at,
                      const ObservedThing& thing) {
  InputErrorParts parts = error.parts();
  const std::string allowed = "of fit.unknown: the scenario must be allowed with every value of a range";
  if (parts.path.rfind("sweep", 0) != 0) {
    if (any_of(numbers, [&](const Unknown& one) { return one.path() == parts.path; })) parts.hint = allowed;
    return InputError(parts);
  }
  const auto is_named = [&](const std::string& key) {
    return parts.path.find("\"" + key + "\"") != std::string::npos;
  };
  for (const auto& [key, value] : observed_at.items())
    if (is_named(key)) {
      parts.file.clear();
      parts.path = thing.row->path_of("where");
      parts.hint = "of " + thing.what;
      return InputError(parts);
    }
  parts.path = "fit.unknown";
  parts.hint = allowed;
  return InputError(parts);
}

[[noreturn]] void refuse_observed(const std::string& path, const ObservedThing& thing) {
  throw InputError("fit.unknown", "found \"" + path + "\", which " + thing.what + " was observed at",
                   "what no observation says");
}

}  // namespace

double ObservedThing::count() const {
  double count = 0;
  for (const ObservedTime& one : times) count += one.count;
  return count;
}

double ObservedThing::mean() const {
  double all = 0;
  for (const ObservedTime& one : times) all += one.count * std::log(one.seconds);
  return all / count();
}

double ObservedThing::within() const {
  const double centre = mean();
  double squares = 0;
  for (const ObservedTime& one : times)
    squares += one.count * (std::log(one.seconds) - centre) * (std::log(one.seconds) - centre);
  return squares;
}

std::vector<ObservedThing> things_of(const Observations& observations, std::vector<std::string>& notes) {
  std::vector<ObservedThing> things;
  for (const ObservedExchange& exchange : observations.exchanges) {
    things.push_back({exchange.name(), &exchange, nullptr, exchange.is_fitted, exchange.times});
    leave_out_outliers(things.back().times);
    if (const std::size_t left = exchange.times.size() - things.back().times.size(); left > 0)
      notes.push_back(fmt::format("{}: {} of {} are far from the others and left out", exchange.name(), left,
                                  counted(exchange.times.size(), "time")));
  }
  for (const ObservedRow& row : observations.rows)
    things.push_back({row.what, nullptr, &row, row.is_fitted, {{row.value}}});
  return things;
}

std::vector<Unknown> numbers_of(const std::vector<Unknown>& unknowns) {
  std::vector<Unknown> numbers;
  for (const Unknown& unknown : unknowns)
    if (!unknown.is_choice()) numbers.push_back(unknown);
  return numbers;
}

// The scenario with the methods alone that the thing, an unknown or its own conditions speak of.
Json Predictions::reduced_scenario(const ObservedThing& thing, std::string& label) const {
  Json reduced = scenario_;
  for (const char* key : {"sweep", "claims", "tables", "validation", "fit"}) reduced.erase(key);
  if (thing.exchange != nullptr) reduced.erase("seeds");
  Json& methods = reduced["methods"];
  if (!methods.is_array() || methods.empty()) return reduced;  // which is said when it is checked
  std::vector<std::string> labels, paths;
  for (const Json& method : methods) labels.push_back(label_of(method));
  label = thing.row != nullptr && !thing.row->of.empty() ? thing.row->of : labels[0];
  if (!contains(labels, label))
    throw InputError(thing.row->path_of("of"), "found \"" + label + "\" for " + thing.what, join(labels),
                     did_you_mean(label, labels));
  for (const Unknown& unknown : numbers_) paths.push_back(unknown.path());
  for (const auto& [path, value] : chosen_.items()) paths.push_back(path);
  if (thing.row != nullptr)
    for (const auto& [path, value] : thing.row->where.items()) paths.push_back(path);
  Json kept = Json::array();
  for (std::size_t i = 0; i < labels.size(); ++i)
    if (labels[i] == label ||
        any_of(paths, [&](const std::string& path) { return addressed_label(path, labels) == labels[i]; }))
      kept.push_back(methods[i]);
  methods = kept;
  return reduced;
}

std::vector<std::vector<Case>> Predictions::cases_at(const std::vector<FitPoint>& points,
                                                     const ObservedThing& thing) const {
  std::string label;
  Json scenario = reduced_scenario(thing, label);
  Json observed_at = Json::object();
  if (thing.row != nullptr) observed_at = values_of(*thing.row, label, cases_);
  std::vector<std::string> labels;
  for (const Json& method : scenario["methods"]) labels.push_back(label_of(method));
  Json sweep = Json::array();
  std::vector<std::string> swept;  // by point: what its cases have swept
  for (const FitPoint& point : points) {
    Json values = Json::object();
    if (thing.exchange != nullptr) values["replicas"] = thing.exchange->members;
    for (const auto& [path, value] : observed_at.items()) values[path] = value;
    for (const auto& [path, value] : chosen_.items()) {
      if (values.contains(path)) refuse_observed(path, thing);
      values[path] = value;
    }
    for (std::size_t k = 0; k < numbers_.size(); ++k) {
      const std::string& path = numbers_[k].path();
      if (values.contains(path)) refuse_observed(path, thing);
      values[path] = numbers_[k].written(numbers_[k].value_at(point[k]));
    }
    Json of_label = Json::object(), lists = Json::object();
    for (const auto& [path, value] : values.items()) {
      lists[path] = Json::array({value});
      const std::string addressed = addressed_label(path, labels);
      if (addressed.empty() || addressed == label) of_label[path] = value;
    }
    sweep.push_back(lists);
    swept.push_back(of_label.dump());
  }
  scenario["sweep"] = sweep;
  const std::vector<Case> all = [&] {
    try {
      return tools_.cases(scenario);
    } catch (const InputError& error) {
      throw of_a_point(error, numbers_, observed_at, thing);
    }
  }();
  std::vector<std::vector<Case>> found(points.size());
  for (const Case& config : all) {
    if (config.method.label != label) continue;
    const std::string its = config.swept.dump();
    for (std::size_t i = 0; i < points.size(); ++i)
      if (swept[i] == its) found[i].push_back(config);
  }
  return found;
}

std::vector<std::vector<double>> Predictions::at(const std::vector<FitPoint>& points,
                                                 const std::vector<const ObservedThing*>& things) {
  std::vector<std::vector<double>> logarithms(points.size(), std::vector<double>(things.size()));
  std::vector<std::function<void()>> tasks;
  std::vector<std::vector<std::vector<Case>>> of_things;  // they outlive the tasks
  for (const ObservedThing* thing : things) of_things.push_back(cases_at(points, *thing));
  for (std::size_t t = 0; t < things.size(); ++t) {
    const ObservedThing& thing = *things[t];
    for (std::size_t p = 0; p < points.size(); ++p) {
      const std::vector<Case>& cases = of_things[t][p];
      if (cases.empty()) throw std::logic_error("a point of a fit has no case");
      if (thing.exchange != nullptr) check_replayable(cases[0], *thing.exchange);
      replays_ += cases.size();
      tasks.push_back([this, &thing, &cases, &logarithm = logarithms[p][t]] {
        double sum = 0;
        for (const Case& config : cases)
          sum += thing.exchange != nullptr ? exchange_time_s(config, *thing.exchange)
                                           : metric_of(tools_.record(config), *thing.row);
        if (!(sum > 0) || !std::isfinite(sum))
          throw InputError("fit", fmt::format("{} comes to {}", thing.what, format_number(sum)),
                           "observations whose predictions are above 0");
        logarithm = std::log(sum / static_cast<double>(cases.size()));
      });
    }
  }
  tools_.run_all(tasks, "fit");
  return logarithms;
}

std::optional<double> Predictions::model_deviation(const FitPoint& point, const ObservedThing& thing) {
  constexpr double kNormal95 = 1.96;  // deviations of the 95th percentile of an absolute value
  const double residual = network_validity(cases_at({point}, thing)[0].at(0)).residual;
  if (residual >= 1) return std::nullopt;
  return std::log1p(residual) / kNormal95;
}

}  // namespace longhaul
