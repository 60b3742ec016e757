#include "analysis/comparison/front.h"

#include <fmt/core.h>

#include <algorithm>

#include "analysis/record_values.h"
#include "analysis/statistics.h"
#include "analysis/text.h"
#include "core/base/errors.h"
#include "core/scenario/metrics.h"

namespace longhaul {

namespace {

// What tells cases apart that are no seeds of each other.
std::string point_of(const Json& record) {
  Json swept = record.value("swept", Json::object());
  swept.erase("seed");
  return record.value("label", "") + "\n" + swept.dump();
}

Json mean_record(const std::vector<const Json*>& seeds) {
  Json record = *seeds.front();
  if (record.contains("swept")) record["swept"].erase("seed");
  record["seeds"] = Json::array();
  for (const Json* one : seeds) {
    record["seeds"].push_back(one->value("seed", Json()));
    if (one->value("status", "") != "done") record["status"] = one->value("status", "");
  }
  for (const std::string& metric : metric_paths()) {
    const std::vector<double> values = values_at(seeds, metric);
    if (values.size() == seeds.size())
      put_at(record, metric, mean(values));
    else if (!values.empty())
      put_at(record, metric, nullptr);
  }
  return record;
}

}  // namespace

std::vector<Json> means_over_seeds(const std::vector<Json>& records) {
  std::vector<std::string> points;
  std::map<std::string, std::vector<const Json*>> of_point;
  for (const Json& record : records) {
    std::vector<const Json*>& seeds = of_point[point_of(record)];
    if (seeds.empty()) points.push_back(point_of(record));
    seeds.push_back(&record);
  }
  std::vector<Json> means;
  for (const std::string& point : points) means.push_back(mean_record(of_point.at(point)));
  return means;
}

CaseChoice choose(const std::vector<Json>& records, const CaseRule& rule) {
  CaseChoice found;
  std::vector<std::size_t> allowed;
  for (const Json& record : records) {
    std::vector<std::string> why;
    if (record.value("status", "") != "done") why.push_back("it is not done");
    for (const std::string& metric : {rule.prefer, rule.beside})
      if (!value_at(record, metric)) why.push_back("it has no " + metric);
    for (const auto& [metric, bound] : rule.at_most) {
      const std::optional<double> value = value_at(record, metric);
      if (!value)
        why.push_back("it has no " + metric);
      else if (*value > bound)
        why.push_back(
            fmt::format("{} is {}, not at most {}", metric, human_number(*value), human_number(bound)));
    }
    if (why.empty()) allowed.push_back(found.why.size());
    found.why.push_back(std::move(why));
  }
  const auto at = [&](std::size_t record, const std::string& metric) {
    return *value_at(records[record], metric);
  };
  std::stable_sort(allowed.begin(), allowed.end(), [&](std::size_t a, std::size_t b) {
    return std::make_pair(at(a, rule.prefer), at(a, rule.beside)) <
           std::make_pair(at(b, rule.prefer), at(b, rule.beside));
  });
  for (const std::size_t record : allowed)
    if (found.front.empty() || at(record, rule.beside) < at(found.front.back(), rule.beside))
      found.front.push_back(record);
  if (!found.front.empty()) found.choice = found.front.front();
  return found;
}

CaseRule choice_rule(const Json& scenario) {
  const Json section = member(scenario, "plan");
  const bool is_priced = !member(member(scenario, "rollouts"), "prices").is_null();
  CaseRule rule;
  const auto said = [&](const char* key, const std::string& otherwise) {
    const std::string metric = section.is_object() ? section.value(key, otherwise) : otherwise;
    if (metric_named(metric).better != Metric::Better::kLower)
      throw InputError(std::string("plan.") + key, "found \"" + metric + "\"",
                       "a metric of which lower is better, as simulated_time_s");
    return metric;
  };
  rule.prefer = said("prefer", is_priced ? "cost" : "simulated_time_s");
  rule.beside = said("beside", rule.prefer == "simulated_time_s" ? "refit_time_s.mean" : "simulated_time_s");
  if (section.is_object() && section.contains("at_most"))
    for (const auto& [metric, bound] : section["at_most"].items()) {
      const std::vector<std::string> known = metric_paths();
      if (!contains(known, metric))
        throw InputError("plan.at_most." + metric, "found an unknown metric",
                         "a number of a case record (docs/formats.md)", did_you_mean(metric, known));
      rule.at_most[metric] = bound.get<double>();
    }
  return rule;
}

}  // namespace longhaul
