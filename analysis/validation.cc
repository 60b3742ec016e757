#include "analysis/validation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "analysis/claims.h"
#include "analysis/sweep_point.h"
#include "core/errors.h"
#include "core/index.h"

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

namespace {

std::string printed(const char* format, double value) {
  char text[32];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

// Three digits.
std::string digits(double value) {
  if (!std::isfinite(value)) return "not run";
  return printed(std::abs(value) >= 99.95 ? "%.0f" : "%#.3g", value);
}

std::string with_unit(double value, const Json& figure) {
  const std::string unit = figure.value("unit", "s");
  return digits(value) + (unit.empty() || !std::isfinite(value) ? "" : " " + unit);
}

std::string ratio_text(const Prediction& prediction) {
  return std::isfinite(prediction.ratio) ? printed("%.2f", prediction.ratio) : "";
}

std::string published_text(const Json& figure) {
  std::string text = with_unit(figure.at("value"), figure);
  if (figure.contains("low") && figure.contains("high"))
    text += " (" + digits(figure["low"]) + " – " + digits(figure["high"]) + ")";
  return text;
}

std::string percent_off(const Prediction& prediction) {
  return printed("%+.0f", 100 * (prediction.ratio - 1));
}

// "off by -42 to -25 %", over figures in any order.
std::string off_by(const std::vector<const FigureVerdict*>& verdicts) {
  const Prediction *low = nullptr, *high = nullptr;
  for (const FigureVerdict* one : verdicts) {
    if (!std::isfinite(one->prediction.ratio)) continue;
    if (!low || one->prediction.ratio < low->ratio) low = &one->prediction;
    if (!high || one->prediction.ratio > high->ratio) high = &one->prediction;
  }
  if (!low) return "not run";
  const std::string from = percent_off(*low), to = percent_off(*high);
  return "off by " + (from == to ? from : from + " to " + to) + " %";
}

// Figures that are off for the same reason share a sentence.
struct SharedReason {
  std::string why;
  std::vector<const FigureVerdict*> of;
};

std::vector<SharedReason> reasons_of(const Validation& validation) {
  std::vector<SharedReason> reasons;
  for (const FigureVerdict& one : validation.figures) {
    if (!one.is_off()) continue;
    const std::string given = one.figure.value("why", ""),
                      why = given.empty() ? "No reason is known." : given;
    auto shared = std::find_if(reasons.begin(), reasons.end(),
                               [&why](const SharedReason& reason) { return reason.why == why; });
    if (shared == reasons.end()) shared = reasons.insert(reasons.end(), SharedReason{why, {}});
    shared->of.push_back(&one);
  }
  return reasons;
}

std::string names_of(const SharedReason& reason, const std::string& mark) {
  constexpr std::size_t kMostNames = 4;
  if (reason.of.size() > kMostNames) return std::to_string(reason.of.size()) + " figures";
  std::string names;
  for (const FigureVerdict* one : reason.of)
    names += (names.empty() ? "" : "; ") + mark + one->figure.at("what").get<std::string>() + mark;
  return names;
}

std::string reason_lines(const Validation& validation, const std::string& begin, const std::string& mark) {
  std::string text;
  for (const SharedReason& reason : reasons_of(validation))
    text += begin + names_of(reason, mark) + ": " + off_by(reason.of) + ". " + reason.why + "\n";
  return text;
}

std::string last_key(const std::string& dotted) {
  const std::size_t dot = dotted.rfind('.');
  return dot == std::string::npos ? dotted : dotted.substr(dot + 1);
}

// Where `other` differs from the point of the prediction: "queue = fifo, connections = 16".
std::string difference(const Prediction& other, const Prediction& prediction) {
  std::string text;
  for (const auto& [key, value] : other.swept.items())
    if (prediction.swept.value(key, Json()) != value)
      text += (text.empty() ? "" : ", ") + last_key(key) + " = " + plain(value);
  return text;
}

const std::vector<std::pair<std::string, std::string>>& kinds() {
  static const std::vector<std::pair<std::string, std::string>> headings = {
      {"measurement", "Measured on real networks"}, {"model", "Computed by publications"}};
  return headings;
}

std::vector<const Validation*> of_kind(const std::vector<Validation>& validations, const std::string& kind) {
  std::vector<const Validation*> found;
  for (const Validation& one : validations)
    if (one.about.value("kind", "measurement") == kind) found.push_back(&one);
  return found;
}

// Characters, not bytes.
std::size_t width_of(const std::string& text) {
  return as_index(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

using Row = std::array<std::string, 4>;  // what, published, predicted, ratio

std::vector<Row> rows_of(const Validation& validation) {
  std::vector<Row> rows = {{"", "published", "predicted", "ratio"}};
  for (const FigureVerdict& one : validation.figures) {
    rows.push_back({one.figure.at("what"), published_text(one.figure),
                    with_unit(one.prediction.value, one.figure), ratio_text(one.prediction)});
    for (const Prediction& other : one.others)
      rows.push_back({"  " + difference(other, one.prediction), "", with_unit(other.value, one.figure),
                      ratio_text(other)});
  }
  return rows;
}

std::string aligned(const std::vector<Row>& rows) {
  std::array<std::size_t, 4> widths{};
  for (const Row& row : rows)
    for (std::size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
  std::string text;
  for (const Row& row : rows) {
    std::string line = "  ";
    for (std::size_t i = 0; i < widths.size(); ++i) {
      const std::string space(widths[i] - width_of(row[i]), ' ');
      line += i == 0 ? row[i] + space : "  " + space + row[i];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

// A bar would end the cell.
std::string cell(const std::string& text) {
  std::string safe;
  for (const char c : text) safe += c == '|' ? std::string("\\|") : std::string(1, c);
  return safe + " | ";
}

std::string markdown_row(const FigureVerdict& one) {
  std::string others;
  for (const Prediction& other : one.others)
    others += (others.empty() ? "" : "; ") + difference(other, one.prediction) + ": " +
              with_unit(other.value, one.figure) + " (" + ratio_text(other) + ")";
  const std::string ratio = ratio_text(one.prediction);
  std::string row = "| " + cell(one.figure.at("what")) + cell(published_text(one.figure)) +
                    cell(with_unit(one.prediction.value, one.figure)) +
                    cell(one.is_off() ? "**" + ratio + "**" : ratio) + cell(others);
  row.pop_back();
  return row + "\n";
}

std::string markdown_of(const Validation& validation) {
  const Json& about = validation.about;
  const auto said = [&about](const char* key) { return about.at(key).get<std::string>(); };
  std::string text = "### " + validation.name + ": " + said("title") + "\n\n" + said("source") + ". " +
                     said("date") + ". Licence: " + said("licence") + ". Read: " + said("read") +
                     "\n\n*Set-up.* " + said("setup") + "\n\n";
  const Json assumptions = about.value("assumptions", Json::array());
  if (!assumptions.empty()) text += "*Assumed:*\n\n";
  for (const Json& assumption : assumptions) text += "- " + assumption.get<std::string>() + "\n";
  if (!assumptions.empty()) text += "\n";
  text += "| what | published | predicted | ratio | with other assumptions |\n|---|---:|---:|---:|---|\n";
  for (const FigureVerdict& one : validation.figures) text += markdown_row(one);
  const std::string reasons = reason_lines(validation, "- ", "*");
  return text + (reasons.empty() ? "" : "\n" + reasons) + "\n";
}

std::string text_of(const Validation& validation) {
  const Json& about = validation.about;
  std::string text = validation.name + ": " + about.at("title").get<std::string>() + "\n  " +
                     about.at("source").get<std::string>() + ", " + about.at("date").get<std::string>() +
                     ", licence: " + about.at("licence").get<std::string>() + "\n" +
                     aligned(rows_of(validation)) + reason_lines(validation, "  ", "");
  const Json assumptions = about.value("assumptions", Json::array());
  for (const Json& assumption : assumptions) text += "  assumed: " + assumption.get<std::string>() + "\n";
  return text + "\n";
}

// "12 figures, 9 of them within 15 %."
std::string tally(const std::vector<const Validation*>& validations) {
  std::size_t figures = 0, near = 0;
  for (const Validation* one : validations) {
    figures += one->figures.size();
    near += as_index(std::count_if(one->figures.begin(), one->figures.end(),
                                   [](const FigureVerdict& verdict) { return !verdict.is_off(); }));
  }
  return std::to_string(figures) + (figures == 1 ? " figure, " : " figures, ") + std::to_string(near) +
         " predicted within " + printed("%.0f", 100 * kNeedsAReason) + " %.";
}

}  // namespace

std::string validation_text(const std::vector<Validation>& validations) {
  std::string text;
  for (const auto& [kind, heading] : kinds()) {
    const std::vector<const Validation*> some = of_kind(validations, kind);
    if (some.empty()) continue;
    text += heading + ": " + tally(some) + "\n\n";
    for (const Validation* one : some) text += text_of(*one);
  }
  return text;
}

std::string validation_markdown(const std::vector<Validation>& validations) {
  std::string text;
  for (const auto& [kind, heading] : kinds()) {
    const std::vector<const Validation*> some = of_kind(validations, kind);
    if (some.empty()) continue;
    text += "## " + heading + "\n\n" + tally(some) + "\n\n";
    for (const Validation* one : some) text += markdown_of(*one);
  }
  return text;
}

}  // namespace longhaul
