#include "analysis/record_values.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "analysis/statistics.h"
#include "analysis/text.h"
#include "core/base/errors.h"

namespace longhaul {
namespace {

Json swept_of(const Json& record) {
  const Json swept = record.value("swept", Json::object());
  return swept.is_object() ? swept : Json::object();
}

}  // namespace

std::optional<double> value_at(const Json& record, const std::string& path) {
  const Json* value = &record;
  std::size_t start = 0;
  while (start <= path.size()) {
    const std::size_t dot = std::min(path.find('.', start), path.size());
    const auto member = value->is_object() ? value->find(path.substr(start, dot - start)) : value->end();
    if (!value->is_object() || member == value->end()) return std::nullopt;
    value = &*member;
    start = dot + 1;
  }
  if (!value->is_number()) return std::nullopt;
  return value->get<double>();
}

void put_at(Json& record, const std::string& path, const Json& value) {
  Json* at = &record;
  std::size_t start = 0;
  for (std::size_t dot; (dot = path.find('.', start)) != std::string::npos; start = dot + 1)
    at = &(*at)[path.substr(start, dot - start)];
  (*at)[path.substr(start)] = value;
}

std::vector<double> values_at(const std::vector<const Json*>& records, const std::string& path) {
  std::vector<double> values;
  for (const Json* record : records)
    if (const auto value = value_at(*record, path)) values.push_back(*value);
  return values;
}

double rounding_of(const Json& record, const Metric& metric) {
  if (metric.unit != Metric::Unit::kSeconds) return 0;
  if (metric.path.rfind("wait_s.", 0) != 0) return kLeastSeconds;
  return std::max(kLeastSeconds, 1e-3 * value_at(record, "sync_time_s.mean").value_or(0));
}

double six_digits(double value) {
  return std::strtod(fmt::format("{:.6g}", value).c_str(), nullptr);
}

Json six_digits_or_null(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? Json(six_digits(*value)) : Json(nullptr);
}

Json distribution_or_null(const std::vector<double>& values) {
  if (values.empty()) return nullptr;
  const Distribution d = distribution(values);
  return {{"mean", d.mean}, {"p50", d.p50}, {"p95", d.p95}, {"max", d.max}};
}

bool is_method_option(const std::string& key) {
  return key.rfind("methods.", 0) == 0;
}

std::string assignment(const std::string& key, const Json& value) {
  return key + " = " + plain(value);
}

std::string sweep_point(const Json& record) {
  std::vector<std::string> parts;
  const Json swept = swept_of(record);
  for (const auto& [key, value] : swept.items())
    if (!is_method_option(key)) parts.push_back(assignment(key, value));
  return join(parts);
}

std::string method_variant(const Json& record) {
  const std::string label = record.value("label", record.value("method", "?"));
  const std::string prefix = "methods." + label + ".";
  std::vector<std::string> options;
  const Json swept = swept_of(record);
  for (const auto& [key, value] : swept.items())
    if (key.rfind(prefix, 0) == 0) options.push_back(assignment(key.substr(prefix.size()), value));
  return options.empty() ? label : fmt::format("{} ({})", label, join(options));
}

std::vector<std::string> swept_keys(const std::vector<Json>& records) {
  std::vector<std::string> keys;
  for (const Json& record : records) {
    const Json swept = swept_of(record);
    for (const auto& [key, value] : swept.items()) add_new(key, keys);
  }
  return keys;
}

bool has_byte_tokens(const Json& scenario) {
  const Json data = scenario.is_object() && scenario.contains("train")
                        ? scenario["train"].value("data", Json::object())
                        : Json::object();
  return data.is_object() && (data.contains("text") || data.contains("corpus"));
}

}  // namespace longhaul
