#include "analysis/figures/axis.h"

#include <algorithm>
#include <cmath>

#include "core/errors.h"
#include "core/units.h"

namespace longhaul {
namespace {

constexpr double kDecades = 20;

std::optional<AxisValue> parsed(const std::string& text, double (*parse)(const std::string&),
                                const char* unit) {
  try {
    return AxisValue{parse(text), unit};
  } catch (const InputError&) {
    return std::nullopt;
  }
}

// The largest unit in which the largest value is at least 1.
AxisScale fitting(double largest, const std::vector<AxisScale>& scales) {
  for (const AxisScale& scale : scales)
    if (largest >= scale.divisor) return scale;
  return scales.back();
}

}  // namespace

std::optional<AxisValue> axis_value(const Json& value) {
  if (value.is_number()) return AxisValue{value.get<double>(), ""};
  if (!value.is_string()) return std::nullopt;
  const std::string text = value;
  if (const auto time = parsed(text, parse_duration, "s")) return time;
  if (const auto rate = parsed(text, parse_rate, "bit/s")) return rate;
  return parsed(text, parse_bytes, "B");
}

AxisScale axis_scale(const std::string& unit, double largest) {
  if (unit == "s" && largest >= 120) return fitting(largest / 2, {{86400, "d"}, {3600, "h"}, {60, "min"}});
  if (unit == "s") return fitting(largest, {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}});
  if (unit == "bit/s")
    return fitting(largest, {{1e9, "Gbit/s"}, {1e6, "Mbit/s"}, {1e3, "kbit/s"}, {1, "bit/s"}});
  if (unit == "B") return fitting(largest, {{1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}, {1, "B"}});
  return {1, unit};
}

bool spans_decades(const std::vector<double>& values) {
  if (values.empty()) return false;
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return *least > 0 && *most >= kDecades * *least;
}

bool is_geometric(const std::vector<double>& values) {
  if (values.size() < 3 || values.front() <= 0) return false;
  std::vector<double> ratios, differences;
  for (std::size_t i = 1; i < values.size(); ++i) {
    ratios.push_back(std::log(values[i] / values[i - 1]));
    differences.push_back(values[i] - values[i - 1]);
  }
  const auto unevenness = [](const std::vector<double>& steps) {
    const auto [least, most] = std::minmax_element(steps.begin(), steps.end());
    return *most / *least;
  };
  return unevenness(ratios) < unevenness(differences);
}

std::string axis_words(const std::string& path) {
  const std::size_t dot = std::min(path.find('.'), path.size());
  std::string words = path.substr(0, dot);
  if (words.size() > 2 && words.compare(words.size() - 2, 2, "_s") == 0) words.erase(words.size() - 2);
  if (dot < path.size()) words += ", " + path.substr(dot + 1);
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

std::string axis_title(const std::string& what, const std::string& unit) {
  return unit.empty() ? what : what + " (" + unit + ")";
}

}  // namespace longhaul
