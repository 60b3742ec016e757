#include "fitting/fit_files.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string_view>
#include <vector>

#include "analysis/report/report.h"
#include "analysis/statistics.h"
#include "analysis/text.h"
#include "core/base/index.h"
#include "core/base/units.h"
#include "core/scenario/scenario.h"

namespace longhaul {

// Defined by longhaul_embed: the files of fitting/page/, by name.
const std::map<std::string, std::string_view>& fit_page_files();

namespace {

namespace fs = std::filesystem;

constexpr int kFormat = 1;

const char* spread_in_words(FitSpread spread) {
  switch (spread) {
    case FitSpread::kRepeats:
      return "what repeats of the same thing differ by";
    case FitSpread::kDifferences:
      return "what the scenario leaves of different things";
    case FitSpread::kPublished:
      break;
  }
  return "what published figures are off, for lack of repeats";
}

Json axis_end(const FitResult& result, const std::vector<double>& values) {
  Json end = Json::object();
  for (std::size_t k = 0; k < values.size(); ++k) {
    const Unknown& unknown = result.values[k].unknown;
    end[unknown.path()] = unknown.written(values[k]);
  }
  return end;
}

void rename(Json& place, const char* key, const std::string& from, const std::string& to) {
  if (!place.is_object() || !place.contains(key)) return;
  Json& name = place[key];
  if (name.is_array())
    for (Json& one : name)
      if (one.is_string()) one = fs::proximate(fs::path(from) / one.get<std::string>(), to).generic_string();
  if (!name.is_string()) return;
  const fs::path file = fs::path(from) / name.get<std::string>();
  if (fs::is_regular_file(file)) name = fs::proximate(file, to).generic_string();
}

void rename_files(Json& scenario, const std::string& from, const std::string& to) {
  if (scenario.contains("network") && scenario["network"].is_object()) {
    Json& network = scenario["network"];
    if (network.contains("topology") && network["topology"].is_object())
      for (auto& [kind, topology] : network["topology"].items())
        for (const char* key : {"file", "matrix"}) rename(topology, key, from, to);
    if (member(member(network, "variation"), "traces").is_array())
      for (Json& trace : network["variation"]["traces"]) rename(trace, "file", from, to);
  }
  if (member(scenario, "faults").is_array())
    for (Json& fault : scenario["faults"]) rename(fault, "file", from, to);
  if (member(scenario, "methods").is_array())
    for (Json& method : scenario["methods"]) rename(method, "file", from, to);
  if (scenario.contains("workload")) rename(scenario["workload"], "model", from, to);
  if (member(member(scenario, "train"), "data").is_object())
    for (const char* key : {"text", "shards", "validation"}) rename(scenario["train"]["data"], key, from, to);
}

std::string residual_text(const FitResidual& residual, double value) {
  return residual.is_time ? human_duration(value) : human_number(value);
}

std::string percent(double ratio) {
  return fmt::format("{:+.1f} %", 100 * (ratio - 1));
}

std::string residual_table(const FitResult& result) {
  TextColumn what{"observed", {}, true}, count{"times", {}}, observed{"took", {}}, predicted{"predicted", {}},
      off{"off", {}}, from{"from", {}}, to{"to", {}}, role{"", {}, true};
  for (const FitResidual& one : result.residuals) {
    what.cells.push_back(one.what);
    count.cells.push_back(std::to_string(one.count));
    observed.cells.push_back(residual_text(one, one.observed));
    predicted.cells.push_back(residual_text(one, one.predicted));
    off.cells.push_back(percent(one.predicted / one.observed));
    from.cells.push_back(residual_text(one, one.low));
    to.cells.push_back(residual_text(one, one.high));
    role.cells.push_back(one.is_fitted ? "fitted" : one.is_inside() ? "inside" : "OUTSIDE");
  }
  return aligned_columns({what, count, observed, predicted, off, from, to, role});
}

std::string predicted_in_words(const FitResult& result) {
  std::vector<double> off;
  std::size_t inside = 0;
  for (const FitResidual& one : result.residuals) {
    if (one.is_fitted) continue;
    off.push_back(std::abs(one.predicted / one.observed - 1));
    if (one.is_inside()) ++inside;
  }
  if (off.empty()) return "";
  constexpr double kMedian = 50;
  return fmt::format(
      "Of what was not fitted {} of {} are inside their ranges of {:.0f} %; the median is {:.1f} % off, the "
      "worst {:.1f} %.",
      inside, off.size(), 100 * kFitConfidence, 100 * percentile(off, kMedian),
      100 * *std::max_element(off.begin(), off.end()));
}

}  // namespace

Json fit_data(const FitSource& source, const FitResult& result) {
  Json values = Json::array(), residuals = Json::array(), choices = Json::array(), axes = Json::array();
  for (const FittedValue& one : result.values) {
    values.push_back({{"path", one.unknown.path()},
                      {"value", one.value},
                      {"low", one.low},
                      {"high", one.high},
                      {"is_bounded_below", one.is_bounded_below},
                      {"is_bounded_above", one.is_bounded_above},
                      {"written", one.unknown.written(one.value)},
                      {"words", one.unknown.for_people(one.value)},
                      {"low_words", one.unknown.for_people(one.low)},
                      {"high_words", one.unknown.for_people(one.high)}});
  }
  for (const FitResidual& one : result.residuals)
    residuals.push_back({{"what", one.what},
                         {"unit", one.is_time ? "s" : ""},
                         {"count", one.count},
                         {"observed", one.observed},
                         {"predicted", one.predicted},
                         {"low", one.low > 0 ? Json(one.low) : Json()},
                         {"high", one.high > 0 ? Json(one.high) : Json()},
                         {"is_fitted", one.is_fitted}});
  for (const FittedChoice& one : result.choices)
    choices.push_back({{"values", one.values}, {"spread", one.spread}, {"is_possible", one.is_possible}});
  for (const auto& [minus, plus] : result.axes)
    axes.push_back({axis_end(result, minus), axis_end(result, plus)});
  return {{"format", kFormat},
          {"name", source.name},
          {"scenario", source.scenario},
          {"observed", source.observed},
          {"confidence", kFitConfidence},
          {"values", values},
          {"choices", choices},
          {"residuals", residuals},
          {"variance_from", word_of(result.variance.spread)},
          {"variance_in_words", spread_in_words(result.variance.spread)},
          {"deviation", result.variance.deviation},
          {"degrees_of_freedom", result.variance.freedom},
          {"observations", result.observations},
          {"replays", result.replays},
          {"axes", axes},
          {"notes", result.words}};
}

Json fitted_scenario(const Json& written, const FitSource& source, const FitResult& result,
                     const std::string& from, const std::string& to) {
  Json scenario = written;
  rename_files(scenario, from, to);
  Json found = Json::object(), axes = Json::array();
  if (!result.choices.empty())
    for (const auto& [path, value] : result.choices[0].values.items()) {
      assign_in_scenario(scenario, path, value, "fit.unknown");
      found[path] = {{"value", value}};
    }
  for (const FittedValue& one : result.values) {
    const Unknown& unknown = one.unknown;
    assign_in_scenario(scenario, unknown.path(), unknown.written(one.value), "fit.unknown");
    found[unknown.path()] = {{"value", unknown.written(one.value)}};
    found[unknown.path()]["low"] = unknown.written(one.low);
    found[unknown.path()]["high"] = unknown.written(one.high);
  }
  for (const auto& [minus, plus] : result.axes)
    axes.push_back({axis_end(result, minus), axis_end(result, plus)});
  Json& fit = scenario["fit"];
  if (!fit.is_object()) fit = Json::object();
  fit["found"] = found;
  fit["confidence"] = kFitConfidence;
  fit["axes"] = axes;
  fit["variance_from"] = word_of(result.variance.spread);
  fit["deviation"] = result.variance.deviation;
  fit["degrees_of_freedom"] = result.variance.freedom;
  fit["source"] =
      fmt::format("longhaul fit {} {}{}: {}, standard deviation {:.2g} % ({})", source.scenario,
                  source.observed, source.content.empty() ? "" : " (content " + source.content + ")",
                  counted(result.observations, "observation"), 100 * result.variance.deviation,
                  spread_in_words(result.variance.spread));
  return scenario;
}

std::string fit_page(const Json& data) {
  std::map<std::string, std::string_view> parts = report_files();
  for (const auto& [name, text] : fit_page_files()) parts[name] = text;
  const bool is_predicted = data.at("values").empty() && data.at("choices").empty();
  return filled_page("fit.html", parts,
                     data.at("name").get<std::string>() +
                         (is_predicted ? " – Longhaul: predicted beside observed" : " – Longhaul fit"),
                     data, {});
}

std::string fit_text(const FitResult& result) {
  std::string text;
  TextColumn path{"unknown", {}, true}, value{"value", {}}, low{"low", {}}, high{"high", {}};
  if (!result.choices.empty())
    for (const auto& [key, chosen] : result.choices[0].values.items()) {
      path.cells.push_back(key);
      value.cells.push_back(plain(chosen));
      low.cells.emplace_back();
      high.cells.emplace_back();
    }
  for (const FittedValue& one : result.values) {
    path.cells.push_back(one.unknown.path());
    value.cells.push_back(one.unknown.for_people(one.value));
    low.cells.push_back(one.is_bounded_below ? one.unknown.for_people(one.low) : "not bounded");
    high.cells.push_back(one.is_bounded_above ? one.unknown.for_people(one.high) : "not bounded");
  }
  constexpr std::size_t kWidth = 110;
  if (!path.cells.empty()) text += aligned_columns({path, value, low, high}) + "\n";
  if (!result.residuals.empty()) text += residual_table(result) + "\n";
  if (!path.cells.empty() && result.residuals.empty())
    text +=
        wrapped(fmt::format("Intervals of {:.0f} %, from what the steps differ by.", 100 * kFitConfidence),
                kWidth, "", "") +
        "\n";
  if (!path.cells.empty() && !result.residuals.empty())
    text += wrapped(fmt::format("Intervals of {:.0f} %, from {}{}.", 100 * kFitConfidence,
                                spread_in_words(result.variance.spread),
                                result.variance.deviation > 0
                                    ? fmt::format(": {:.2g} % a time", 100 * result.variance.deviation)
                                    : ""),
                    kWidth, "", "") +
            "\n";
  if (const std::string words = predicted_in_words(result); !words.empty())
    text += wrapped(words, kWidth, "", "") + "\n";
  for (const std::string& words : result.words) text += wrapped(words, kWidth, "- ", "  ") + "\n";
  return text;
}

}  // namespace longhaul
