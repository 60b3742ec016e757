// What claims are about against the swept number that has most values, with what they demand: the two latency
// figures of the NoLoCo paper come out of its scenarios this way.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "analysis/claims/claims.h"
#include "analysis/claims/verdict_matrix.h"
#include "analysis/figures/figure.h"
#include "analysis/figures/figures.h"
#include "analysis/figures/line_figure.h"
#include "analysis/record_values.h"
#include "analysis/text.h"
#include "core/base/errors.h"
#include "core/base/units.h"
#include "core/scenario/metrics.h"

namespace longhaul {
namespace {

constexpr std::size_t kMostLines = 8;

// The claims of a scenario on one quantity, and the cases of all runs of it.
struct Quantity {
  Json claim;  // without `where` and `quantifier`
  std::vector<Json> claims;
  std::vector<Json> records;
};

std::string identity(const Json& claim) {
  std::string text;
  for (const char* key : {"ratio", "metric", "of", "to"}) text += claim.value(key, Json()).dump() + " ";
  return text;
}

std::vector<Quantity> quantities_of(const std::vector<RunDirectory>& runs) {
  std::map<std::string, std::size_t> place;
  std::vector<Quantity> quantities;
  for (const RunDirectory& run : runs) {
    std::set<std::size_t> of_this_run;
    const Json claims = run.claims();
    for (const Json& claim : claims) {
      const auto [entry, is_new] = place.emplace(run.written.dump() + identity(claim), quantities.size());
      if (is_new) {
        Quantity quantity{claim, {}, {}};
        quantity.claim.erase("where");
        quantity.claim.erase("quantifier");
        quantities.push_back(std::move(quantity));
      }
      Quantity& quantity = quantities[entry->second];
      if (of_this_run.insert(entry->second).second)
        quantity.records.insert(quantity.records.end(), run.records.begin(), run.records.end());
      if (std::find(quantity.claims.begin(), quantity.claims.end(), claim) == quantity.claims.end())
        quantity.claims.push_back(claim);
    }
  }
  return quantities;
}

using Points = std::vector<JudgedPoint>;

std::map<std::string, std::set<std::string>> values_of(const Points& points) {
  std::map<std::string, std::set<std::string>> values;
  for (const JudgedPoint& point : points)
    for (const auto& [key, value] : point.swept.items()) values[key].insert(value.dump());
  return values;
}

bool is_number_key(const Points& points, const std::string& key) {
  return std::all_of(points.begin(), points.end(), [&](const JudgedPoint& point) {
    return point.swept.contains(key) && axis_value(point.swept[key]).has_value();
  });
}

// Keys that are swept together say the same: each value of one goes with one value of the other.
bool go_together(const Points& points, const std::string& a, const std::string& b) {
  std::map<std::string, std::string> b_of, a_of;
  for (const JudgedPoint& point : points) {
    const std::string x = point.swept.value(a, Json()).dump(), y = point.swept.value(b, Json()).dump();
    if (b_of.emplace(x, y).first->second != y || a_of.emplace(y, x).first->second != x) return false;
  }
  return true;
}

// The number with most values; of keys that go together a method's own, which is what a figure is about.
std::string x_key(const Points& points) {
  std::string best;
  std::size_t most = 1;
  for (const auto& [key, values] : values_of(points)) {
    if (!is_number_key(points, key)) continue;
    const bool names_it_better = !best.empty() && values.size() == most && is_method_option(key) &&
                                 !is_method_option(best) && go_together(points, key, best);
    if (values.size() > most || names_it_better) {
      best = key;
      most = values.size();
    }
  }
  return best;
}

// The keys that tell lines apart. Where they would be too many, the one that explains most of what is
// measured; the others then make the band.
std::vector<std::string> line_keys(const Quantity& quantity, const Points& points, const std::string& x) {
  std::vector<std::string> keys;
  std::set<std::string> combinations;
  for (const auto& [key, values] : values_of(points))
    if (values.size() > 1 && !go_together(points, key, x)) keys.push_back(key);
  for (const JudgedPoint& point : points) {
    std::string text;
    for (const std::string& key : keys) text += point.swept.value(key, Json()).dump() + ",";
    combinations.insert(text);
  }
  if (combinations.size() <= kMostLines) return keys;
  const VerdictMatrix matrix = verdict_matrix(quantity.claim, quantity.records);
  for (const std::string& key : {matrix.row_key, matrix.column_key})
    if (contains(keys, key)) return {key};
  return {};
}

std::string name_of(const JudgedPoint& point, const std::vector<std::string>& keys) {
  std::vector<std::string> parts;
  for (const std::string& key : keys)
    if (point.swept.contains(key))
      parts.push_back(key == "method" ? plain(point.swept[key])
                                      : assignment(last_key(key), point.swept[key]));
  return parts.empty() ? "measured" : join(parts);
}

// viridis, whose order is seen without colour too; its lightest end is lost on white. These are no methods,
// so they have none of the methods' colours.
std::string ramp_color(std::size_t place, std::size_t count) {
  static const char* const ramp[] = {"#440154", "#443983", "#31688e", "#21918c",
                                     "#35b779", "#7ad151", "#b8c920"};
  return ramp[count <= 1 ? 0 : place * 6 / (count - 1)];
}

// The middle of what stands at one x is the geometric mean, as of factors.
LinePoint gathered(double x, const std::vector<double>& values) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  double sum = 0;
  const bool positive = *low > 0;
  for (const double value : values) sum += positive ? std::log(value) : value;
  sum /= static_cast<double>(values.size());
  return {x, *low == *high ? *low : positive ? std::exp(sum) : sum, *low, *high};
}

// From the lowest to the highest that the points at one x may be with the network model's error; a line
// between the middles is not drawn.
std::vector<LinePoint> possible_at(const std::map<double, std::vector<double>>& ends) {
  std::vector<LinePoint> band;
  for (const auto& [x, values] : ends) {
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    if (!std::isfinite(*low) || !std::isfinite(*high)) return {};
    band.push_back({x, (*low + *high) / 2, *low, *high});
  }
  return band;
}

bool has_residual(const Points& points) {
  return std::any_of(points.begin(), points.end(),
                     [](const JudgedPoint& point) { return point.residual > 0; });
}

std::vector<Line> lines_of(const Points& points, const std::string& x, const std::vector<std::string>& keys) {
  std::vector<std::string> names;
  std::map<std::string, std::map<double, std::vector<double>>> measured, possible;
  for (const JudgedPoint& point : points) {
    const std::string name = name_of(point, keys);
    add_new(name, names);
    const double at = axis_value(point.swept[x])->number;
    measured[name][at].push_back(point.measured);
    for (const double end : {point.possible.low, point.possible.high}) possible[name][at].push_back(end);
  }
  std::vector<Line> lines;
  for (const std::string& name : names) {
    Line line{name, "", ramp_color(lines.size(), names.size()), 1, {}};
    for (const auto& [value, ratios] : measured[name]) line.points.push_back(gathered(value, ratios));
    if (has_residual(points)) line.possible = possible_at(possible[name]);
    lines.push_back(std::move(line));
  }
  return lines;
}

std::vector<Threshold> thresholds_of(const std::vector<Json>& claims, const std::string& x) {
  std::vector<Threshold> thresholds;
  for (const Json& claim : claims)
    for (const auto& [bound, words] :
         {std::pair("at_least", "at least "), std::pair("at_most", "at most "), std::pair("equals", "")}) {
      if (!claim.contains(bound)) continue;
      const Json where = claim.value("where", Json::object());
      Threshold threshold;
      threshold.y = claim[bound];
      threshold.name = fmt::format("claimed: {}{}", words, format_number(threshold.y));
      const auto place = where.contains(x) ? axis_value(where[x]) : std::nullopt;
      threshold.at_one_x = place.has_value();
      if (place) threshold.x = place->number;
      const bool known = std::any_of(thresholds.begin(), thresholds.end(), [&](const Threshold& other) {
        return other.name == threshold.name && other.at_one_x == threshold.at_one_x && other.x == threshold.x;
      });
      if (!known) thresholds.push_back(threshold);
    }
  return thresholds;
}

// "with the network model's 7 %", "" where it plays no part.
std::string possible_name(const Points& points) {
  double residual = 0;
  for (const JudgedPoint& point : points) residual = std::max(residual, point.residual);
  return residual > 0 ? fmt::format("with the network model's {} %", std::lround(100 * residual)) : "";
}

// The verdicts on the claims that the figure shows, as the report and the terminal say them.
std::string verdicts_of(const Quantity& quantity) {
  std::string text;
  const Json verdicts = judge_claims(Json(quantity.claims), quantity.records);
  for (const std::string& line : verdict_lines(verdicts)) text += " " + line + ".";
  return text;
}

std::string what_of(const Json& claim) {
  if (claim.contains("ratio"))
    return fmt::format("{}, {} / {}", plain(claim["ratio"]), plain(claim["of"]), plain(claim["to"]));
  return plain(claim["metric"]) + (claim.contains("of") ? " of " + plain(claim["of"]) : "");
}

// A ratio of sync_time_s.mean is "sync time, mean: diloco / noloco".
std::string y_title(const Json& claim) {
  if (claim.contains("ratio"))
    return fmt::format("{}: {} / {}", axis_words(plain(claim["ratio"])), plain(claim["of"]),
                       plain(claim["to"]));
  return axis_words(plain(claim["metric"])) + (claim.contains("of") ? ": " + plain(claim["of"]) : "");
}

}  // namespace

std::vector<Figure> claim_figures(const std::vector<RunDirectory>& runs, const FigureContext& context) {
  std::vector<Figure> figures;
  for (const Quantity& quantity : quantities_of(runs)) {
    Points points = judged_points(quantity.claim, quantity.records);
    points.erase(std::remove_if(points.begin(), points.end(),
                                [](const JudgedPoint& point) { return !std::isfinite(point.measured); }),
                 points.end());
    const std::string x = x_key(points);
    if (x.empty()) continue;
    const std::vector<std::string> keys = line_keys(quantity, points, x);
    const std::string unit =
        quantity.claim.contains("metric") ? unit_sign(metric_named(quantity.claim["metric"]).unit) : "";
    LinePlot plot{
        figure_name("claim-" + plain(quantity.claims[0]["id"]), ""),
        fmt::format(
            "{} against {}. A band spans the other swept values, the line is their geometric mean; the "
            "light band is widened by the network model's error.{}",
            what_of(quantity.claim), x, verdicts_of(quantity)),
        axis_words(last_key(x)),
        axis_value(points[0].swept[x])->unit,
        y_title(quantity.claim),
        unit,
        true,
        lines_of(points, x, keys),
        thresholds_of(quantity.claims, x),
        possible_name(points)};
    figures.push_back(line_figure(plot, context.style));
  }
  return figures;
}

}  // namespace longhaul
