#include "analysis/claims/validation.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "analysis/claims/claim_checks.h"
#include "analysis/claims/claims.h"
#include "analysis/record_values.h"
#include "analysis/text.h"
#include "core/base/errors.h"
#include "core/base/index.h"

namespace longhaul {
namespace {

// A figure is looked up as the points of a claim are: means over seeds, ratios of paired cases.
std::vector<JudgedPoint> figure_points(const Json& figure, const std::vector<Json>& records) {
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
    throw InputError(
        path, figure.contains("metric") ? "found both metric and ratio" : "found neither metric nor ratio",
        "exactly one of them");
  if (figure.contains("ratio") != figure.contains("to"))
    throw InputError(path, figure.contains("to") ? "found to without ratio" : "found ratio without to",
                     "to, a label, with ratio alone");
  for (const char* key : {"of", "to"}) check_label(figure, path, key, labels);
  for (const char* table : {"where", "assumed"}) check_swept(figure, path, table, swept);
  const std::vector<JudgedPoint> points = figure_points(figure, cases);
  if (points.empty()) throw InputError(child_path(path, "where"), "no case fits it", "values of the sweep");
  std::vector<JudgedPoint> assumed;
  std::copy_if(points.begin(), points.end(), std::back_inserter(assumed), [&](const JudgedPoint& point) {
    return is_at(point.swept, figure.value("assumed", Json::object()));
  });
  if (assumed.empty())
    throw InputError(child_path(path, "assumed"), fmt::format("none of the {} points fits it", points.size()),
                     "values of the sweep");
  if (assumed.size() > 1)
    throw InputError(child_path(path, "assumed"),
                     fmt::format("leaves {} points of the sweep", assumed.size()),
                     "the values of one: the prediction is a single number; they differ in " +
                         join(keys_that_differ(assumed)));
}

// Three digits.
std::string figure_digits(double value) {
  if (!std::isfinite(value)) return "not run";
  return std::abs(value) >= 99.95 ? fmt::format("{:.0f}", value) : fmt::format("{:#.3g}", value);
}

std::string with_unit(double value, const Json& figure) {
  const std::string unit = figure.value("unit", "s");
  return figure_digits(value) + (unit.empty() || !std::isfinite(value) ? "" : " " + unit);
}

std::string ratio_text(const Prediction& prediction) {
  return std::isfinite(prediction.ratio) ? fmt::format("{:.2f}", prediction.ratio) : "";
}

std::string published_text(const Json& figure) {
  std::string text = with_unit(figure.at("value"), figure);
  if (figure.contains("low") && figure.contains("high"))
    text += fmt::format(" ({} – {})", figure_digits(figure["low"]), figure_digits(figure["high"]));
  return text;
}

// "off by -42 to -25 %", over figures in any order.
std::string off_by(const std::vector<const FigureVerdict*>& verdicts) {
  const Prediction *low = nullptr, *high = nullptr;
  for (const FigureVerdict* verdict : verdicts) {
    if (!std::isfinite(verdict->prediction.ratio)) continue;
    if (!low || verdict->prediction.ratio < low->ratio) low = &verdict->prediction;
    if (!high || verdict->prediction.ratio > high->ratio) high = &verdict->prediction;
  }
  if (!low) return "not run";
  const auto percent_off = [](const Prediction& prediction) {
    return fmt::format("{:+.0f}", 100 * (prediction.ratio - 1));
  };
  const std::string from = percent_off(*low), to = percent_off(*high);
  return fmt::format("off by {} %", from == to ? from : from + " to " + to);
}

// Figures that are off for the same reason share a sentence.
using Reasons = nlohmann::ordered_map<std::string, std::vector<const FigureVerdict*>>;

Reasons reasons_of(const Validation& validation) {
  Reasons reasons;
  for (const FigureVerdict& verdict : validation.figures) {
    if (!verdict.is_off()) continue;
    const std::string given = verdict.figure.value("why", "");
    reasons[given.empty() ? "No reason is known." : given].push_back(&verdict);
  }
  return reasons;
}

std::string names_of(const std::vector<const FigureVerdict*>& verdicts) {
  constexpr std::size_t kMostNames = 4;
  if (verdicts.size() > kMostNames) return counted(verdicts.size(), "figure");
  std::vector<std::string> names;
  for (const FigureVerdict* verdict : verdicts)
    names.push_back("*" + plain(verdict->figure.at("what")) + "*");
  return join(names, "; ");
}

// Where `other` differs from the point of the prediction: "queue = fifo, connections = 16".
std::string difference(const Prediction& other, const Prediction& prediction) {
  std::vector<std::string> parts;
  for (const auto& [key, value] : other.swept.items())
    if (prediction.swept.value(key, Json()) != value) parts.push_back(assignment(last_key(key), value));
  return join(parts);
}

constexpr std::pair<const char*, const char*> kKinds[] = {{"measurement", "Measured on real networks"},
                                                          {"model", "Computed by publications"}};

std::vector<const Validation*> of_kind(const std::vector<Validation>& validations, const std::string& kind) {
  std::vector<const Validation*> found;
  for (const Validation& validation : validations)
    if (validation.about.value("kind", "measurement") == kind) found.push_back(&validation);
  return found;
}

std::string figure_row(const FigureVerdict& verdict) {
  std::vector<std::string> others;
  for (const Prediction& other : verdict.others)
    others.push_back(fmt::format("{}: {} ({})", difference(other, verdict.prediction),
                                 with_unit(other.value, verdict.figure), ratio_text(other)));
  const std::string ratio = ratio_text(verdict.prediction);
  return markdown_row({plain(verdict.figure.at("what")), published_text(verdict.figure),
                       with_unit(verdict.prediction.value, verdict.figure),
                       verdict.is_off() ? "**" + ratio + "**" : ratio, join(others, "; ")});
}

std::string markdown_of(const Validation& validation) {
  const Json& about = validation.about;
  const auto said = [&about](const char* key) { return markdown_text(plain(about.at(key))); };
  std::string text =
      fmt::format("### {}: {}\n\n{}. {}. Licence: {}. Read: {}\n\n*Set-up.* {}\n\n", validation.name,
                  said("title"), said("source"), said("date"), said("licence"), said("read"), said("setup"));
  const Json assumptions = about.value("assumptions", Json::array());
  if (!assumptions.empty()) text += "*Assumed:*\n\n";
  for (const Json& assumption : assumptions) text += "- " + markdown_text(plain(assumption)) + "\n";
  if (!assumptions.empty()) text += "\n";
  text += "| what | published | predicted | ratio | with other assumptions |\n|---|---:|---:|---:|---|\n";
  for (const FigureVerdict& verdict : validation.figures) text += figure_row(verdict);
  const Reasons reasons = reasons_of(validation);
  if (!reasons.empty()) text += "\n";
  for (const auto& [why, verdicts] : reasons)
    text += fmt::format("- {}: {}. {}\n", names_of(verdicts), off_by(verdicts), why);
  return text + "\n";
}

// "12 figures, 9 of them within 15 %."
std::string tally(const std::vector<const Validation*>& validations) {
  std::size_t figures = 0, near = 0;
  for (const Validation* validation : validations) {
    figures += validation->figures.size();
    near += as_index(std::count_if(validation->figures.begin(), validation->figures.end(),
                                   [](const FigureVerdict& verdict) { return !verdict.is_off(); }));
  }
  return fmt::format("{}, {} predicted within {:.0f} %.", counted(figures, "figure"), near,
                     100 * kNeedsAReason);
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
    for (const JudgedPoint& point : figure_points(figure, records)) {
      const Prediction prediction{point.swept, point.measured, point.measured / published};
      if (is_at(point.swept, assumed))
        verdict.prediction = prediction;
      else
        verdict.others.push_back(prediction);
    }
    validation.figures.push_back(std::move(verdict));
  }
  return validation;
}

std::string validation_markdown(const std::vector<Validation>& validations) {
  std::string text;
  for (const auto& [kind, heading] : kKinds) {
    const std::vector<const Validation*> some = of_kind(validations, kind);
    if (some.empty()) continue;
    text += fmt::format("## {}\n\n{}\n\n", heading, tally(some));
    for (const Validation* validation : some) text += markdown_of(*validation);
  }
  return text;
}

}  // namespace longhaul
