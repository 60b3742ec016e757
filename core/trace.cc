#include "core/trace.h"

#include <algorithm>
#include <istream>
#include <ostream>

#include "core/errors.h"
#include "core/options.h"

namespace longhaul {
namespace {

std::string to_string(Grouping grouping) {
  return grouping == Grouping::kEveryone ? "everyone" : grouping == Grouping::kRandom ? "random" : "sites";
}

Grouping grouping_from(const std::string& word) {
  return word == "everyone" ? Grouping::kEveryone : word == "sites" ? Grouping::kSites : Grouping::kRandom;
}

Json to_json(const ExchangeRule& rule) {
  Json json = {{"name", rule.name},
               {"collective", rule.collective},
               {"every", rule.every},
               {"grouping", to_string(rule.grouping)},
               {"group_size", rule.group_size},
               {"tensors", rule.tensors},
               {"sharded", rule.sharded},
               {"overlap_steps", rule.overlap_steps},
               {"overlap_backward", rule.overlap_backward},
               {"buckets", rule.buckets}};
  if (rule.grouping == Grouping::kSites) json["across_every"] = rule.across_every;
  return json;
}

ExchangeRule rule_from(const Json& json) {
  ExchangeRule rule;
  rule.name = json.at("name").get<std::string>();
  rule.collective = json.at("collective").get<std::string>();
  rule.every = json.at("every");
  rule.grouping = grouping_from(json.at("grouping"));
  rule.across_every = json.value("across_every", 0);
  rule.group_size = json.at("group_size");
  rule.tensors = json.at("tensors").get<std::vector<std::string>>();
  rule.sharded = json.value("sharded", false);
  rule.overlap_steps = json.at("overlap_steps");
  rule.overlap_backward = json.value("overlap_backward", 0.);
  rule.buckets = std::max(1, json.value("buckets", 1));
  return rule;
}

void read_header(const Json& json, Trace& trace) {
  if (json.at("longhaul_trace") != kTraceVersion)
    throw InputError({"", "longhaul_trace", "found version " + json["longhaul_trace"].dump(),
                      std::to_string(kTraceVersion), ""});
  trace.context.seed = json.at("seed");
  trace.context.replicas = json.at("replicas");
  trace.context.steps = json.at("steps");
  trace.context.parameters = json.at("parameters");
  trace.context.wire_bytes = json.at("wire_bytes");
  trace.evaluate_every = json.at("evaluate_every");
  if (json.contains("sites")) trace.context.site_of = json["sites"].get<std::vector<int>>();
  for (const Json& rule : json.at("rules")) trace.plan.rules.push_back(rule_from(rule));
}

void read_line(const Json& json, Trace& trace) {
  if (json.contains("groups")) {
    const int rule = json.at("rule");
    if (rule < 0 || rule >= static_cast<int>(trace.plan.rules.size()))
      throw InputError(
          {"", "rule", "found " + std::to_string(rule), "the index of a rule in the header", ""});
    trace.groups[{rule, json.at("step").get<int>()}] = json["groups"].get<std::vector<std::vector<int>>>();
  } else if (json.contains("compute_s")) {
    const std::size_t step = json.at("step").get<std::size_t>();
    if (step != trace.measured_s.size() + 1)
      throw InputError({"", "step", "found " + std::to_string(step), "the steps in order", ""});
    trace.measured_s.push_back(json["compute_s"].get<std::vector<double>>());
  } else {
    throw InputError({"", "", "found a line without groups or compute_s", "one of them", ""});
  }
}

}  // namespace

std::vector<Exchange> Trace::exchanges_at(int step) const {
  std::vector<Exchange> exchanges = longhaul::exchanges_at(plan, context, step);
  for (Exchange& exchange : exchanges) {
    if (exchange.rule->grouping == Grouping::kEveryone) continue;
    const auto found = groups.find({static_cast<int>(exchange.rule - plan.rules.data()), step});
    if (found != groups.end()) exchange.groups = found->second;
  }
  return exchanges;
}

Trace make_trace(ExchangePlan plan, const PlanContext& context) {
  Trace trace;
  trace.plan = std::move(plan);
  trace.context = context;
  for (int step = 1; step <= context.steps; ++step)
    for (Exchange& exchange : longhaul::exchanges_at(trace.plan, context, step))
      if (exchange.rule->grouping != Grouping::kEveryone)
        trace.groups[{static_cast<int>(exchange.rule - trace.plan.rules.data()), step}] =
            std::move(exchange.groups);
  return trace;
}

void write_trace(const Trace& trace, std::ostream& out) {
  Json rules = Json::array();
  for (const ExchangeRule& rule : trace.plan.rules) rules.push_back(to_json(rule));
  const PlanContext& context = trace.context;
  Json header = {{"longhaul_trace", kTraceVersion},        {"seed", context.seed},
                 {"replicas", context.replicas},           {"steps", context.steps},
                 {"parameters", context.parameters},       {"wire_bytes", context.wire_bytes},
                 {"evaluate_every", trace.evaluate_every}, {"rules", rules}};
  if (needs_sites(trace.plan)) header["sites"] = context.site_of;
  out << header.dump() << '\n';
  for (const auto& [key, groups] : trace.groups)
    out << Json{{"rule", key.first}, {"step", key.second}, {"groups", groups}}.dump() << '\n';
  for (std::size_t i = 0; i < trace.measured_s.size(); ++i)
    out << Json{{"step", i + 1}, {"compute_s", trace.measured_s[i]}}.dump() << '\n';
}

Trace read_trace(std::istream& in, const std::string& file) {
  Trace trace;
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    try {
      const Json json = Json::parse(line);
      number == 1 ? read_header(json, trace) : read_line(json, trace);
    } catch (const Json::exception& error) {
      throw InputError(
          {file, "line " + std::to_string(number), error.what(), "a line of a trace (docs/formats.md)", ""});
    } catch (const InputError& error) {
      InputErrorParts parts = error.parts();
      parts.file = file;
      parts.path = "line " + std::to_string(number) + (parts.path.empty() ? "" : ", " + parts.path);
      throw InputError(parts);
    }
  }
  if (trace.context.replicas == 0)
    throw InputError({file, "", "is empty", "a trace written by longhaul", ""});
  return trace;
}

}  // namespace longhaul
