#include "analysis/report/words.h"

#include <algorithm>
#include <cstdio>
#include <string>

#include "analysis/sweep_point.h"
#include "core/errors.h"
#include "core/json.h"
#include "net/topologies/registry.h"

namespace longhaul {
namespace {

constexpr std::size_t kMostValues = 10;

// "8", or "8, 16, 32" where it is swept.
std::string values_in(const std::vector<Json>& records, const std::string& key) {
  std::vector<std::string> values;
  for (const Json& record : records) {
    const std::string value = text_of(record, key);
    if (value != "?" && std::find(values.begin(), values.end(), value) == values.end())
      values.push_back(value);
  }
  if (values.size() <= kMostValues) return join(values);
  const std::string last = values.back(), count = std::to_string(values.size());
  values.resize(kMostValues - 1);
  return join(values) + ", …, " + last + " (" + count + " values)";
}

std::string method_in_words(const Json& method) {
  std::vector<std::string> parts;
  const std::string name = text_of(method, "name"), label = text_of(method, "label");
  if (!member(method, "inner_steps").is_null())
    parts.push_back(text_of(method, "inner_steps") + " inner steps");
  if (!member(method, "all_reduce").is_null()) parts.push_back(text_of(method, "all_reduce") + " all-reduce");
  if (!member(method, "pattern").is_null()) parts.push_back("pattern " + text_of(method, "pattern"));
  if (text_of(method, "pairing") == "sites")
    parts.push_back("pairs inside sites, across at every " + text_of(method, "across_every") +
                    ". outer step");
  std::string words = label == "?" || label == name ? name : label + " = " + name;
  return parts.empty() ? words : words + " (" + join(parts) + ")";
}

std::string methods_in_words(const Json& scenario) {
  std::vector<std::string> methods;
  for (const Json& method : member(scenario, "methods")) methods.push_back(method_in_words(method));
  return join(methods, "; ");
}

std::string shape_in_words(const Json& shape) {
  return "width " + text_of(shape, "hidden") + ", " + text_of(shape, "layers") + " layers, " +
         text_of(shape, "heads") + " heads, FFN " + text_of(shape, "ffn") + ", context " +
         text_of(shape, "context");
}

std::string data_in_words(const Json& data) {
  if (!data.is_object() || data.empty()) return "";
  const std::string kind = data.begin().key();
  if (kind == "corpus") return "the corpus " + plain(data.begin().value());
  if (kind == "synthetic") return "a synthetic source";
  return (kind == "shards" ? "token shards " : "text ") + data.begin().value().dump();
}

std::string parameters_in_words(double count) {
  const double scale = count < 1e6 ? 1e3 : count < 1e9 ? 1e6 : 1e9;
  char text[64];
  std::snprintf(text, sizeof text, "%.3g %s parameters", count / scale,
                count < 1e6   ? "thousand"
                : count < 1e9 ? "million"
                              : "billion");
  return text;
}

std::string training_in_words(const Json& train, const std::vector<Json>& records) {
  std::string text = shape_in_words(member(train, "model"));
  for (const Json& record : records)
    if (record.contains("trained_parameters") && record["trained_parameters"].is_number()) {
      text += " (" + parameters_in_words(record["trained_parameters"]) + ")";
      break;
    }
  text += ", trained on " + data_in_words(member(train, "data")) + " for " + text_of(train, "steps") +
          " steps of " + text_of(train, "batch") + " sequences per replica";
  return text;
}

std::string step_time_in_words(const Json& time) {
  if (!time.is_object() || time.empty()) return "";
  const std::string kind = time.begin().key();
  const Json& value = time.begin().value();
  if (kind == "constant") return "a step takes " + plain(value);
  if (kind == "measured") return "a step takes what the trainer measured on this machine";
  if (kind == "flops") return "a step takes what its floating-point operations need";
  std::string mean =
      member(value, "mean").is_null() ? "µ " + text_of(value, "mu") : "mean " + text_of(value, "mean");
  return "a step takes a log-normal time, " + mean + ", σ " + text_of(value, "sigma");
}

std::string workload_in_words(const Json& scenario, const std::vector<Json>& records) {
  const Json workload = member(scenario, "workload");
  const Json model = member(workload, "model");
  std::string text = model.is_string() ? plain(model) + ", " : "";
  for (const Json& record : records)
    if (record.contains("model_parameters") && record["model_parameters"].is_number()) {
      text += parameters_in_words(record["model_parameters"]) + " ";
      break;
    }
  text += "as " + text_of(workload, "wire");
  const std::string time = step_time_in_words(member(workload, "step_time"));
  if (!time.empty()) text += "; " + time;
  const Json factors = member(workload, "step_time_factors");
  return factors.is_object() && !factors.empty() ? text + ", times " + factors.dump() : text;
}

// Null where the scenario names no topology that exists.
const TopologyKind* kind_of(const Json& topology) {
  for (const TopologyKind& kind : topologies())
    if (!member(topology, kind.name()).is_null()) return &kind;
  return nullptr;
}

// Only topologies with sites have an order. A run from before there was a choice is in blocks.
std::string rank_order_in_words(const Json& network, const std::vector<Json>& records) {
  const TopologyKind* kind = kind_of(member(network, "topology"));
  if (!kind || !kind->has_sites) return "";
  const Json order = member(network, "rank_order");
  const std::vector<std::string> swept = swept_keys(records);
  if (std::find(swept.begin(), swept.end(), "network.rank_order") != swept.end())
    return "; order of ranks over the sites: " + values_in(records, "rank_order");
  if (order.is_array()) return "; ranks are placed by a list";
  if (order == "round-robin") return "; ranks are numbered round robin over the sites";
  if (order == "random") return "; ranks are in random order, drawn from the seed";
  if (order == "optimized") return "; ranks are in an order optimized for the all-reduce";
  return "; ranks are numbered site by site";
}

std::string topology_in_words(const Json& topology) {
  const TopologyKind* kind = kind_of(topology);
  return kind ? kind->words(topology[kind->name()]) : topology.dump();
}

std::string variation_in_words(const Json& variation) {
  std::vector<std::string> parts;
  const auto add = [&](const char* key, const std::string& words) {
    if (!member(variation, key).is_null() && !variation[key].empty()) parts.push_back(words);
  };
  add("traces", "traces of links");
  add("background", "background traffic");
  const Json jitter = member(variation, "jitter");
  add("jitter", "jitter σ " + text_of(jitter, "rate_sigma") + " of rates, " + text_of(jitter, "delay_sigma") +
                    " of delays");
  return parts.empty() ? "" : "; changes with time: " + join(parts);
}

// What differs from whole messages that travel once both ends are ready.
std::string sending_in_words(const Json& network) {
  std::string text;
  if (const Json slice = member(network, "slice"); slice.is_string() && slice != "whole")
    text += "; slices: " + slice.get<std::string>();
  if (const Json eager = member(network, "eager"); eager.is_string() && eager != "0B")
    text += "; eager: " + eager.get<std::string>();
  return text;
}

std::string network_in_words(const Json& network, const std::vector<Json>& records) {
  const Json topology = member(network, "topology"), tcp = member(network, "tcp");
  std::string text = topology_in_words(topology);
  const Json overrides = member(network, "overrides");
  if (overrides.is_array() && !overrides.empty()) text += ", with overrides " + overrides.dump();
  text += rank_order_in_words(network, records);
  text += "; fidelity " + text_of(network, "fidelity");
  if (tcp.is_object())
    text += "; TCP " + text_of(tcp, "congestion_control") + ", " + text_of(tcp, "connections") +
            " connection" + (text_of(tcp, "connections") == "1" ? "" : "s") + ", window " +
            text_of(tcp, "window");
  if (member(tcp, "slow_start_after_idle") == false) text += ", no slow start after idle";
  text += sending_in_words(network);
  return text + variation_in_words(member(network, "variation"));
}

std::string sweep_in_words(const std::vector<Json>& records) {
  std::vector<std::string> parts;
  for (const std::string& key : swept_keys(records)) parts.push_back(key + ": " + values_in(records, key));
  return join(parts, "; ");
}

}  // namespace

Json run_in_words(const Json& scenario, const std::vector<Json>& records) {
  Json words = Json::array();
  const auto say = [&](const char* term, const std::string& text) {
    if (!text.empty()) words.push_back({{"term", term}, {"text", text}});
  };
  say("Replicas", values_in(records, "replicas"));
  say("Methods", methods_in_words(scenario));
  if (!member(scenario, "train").is_null())
    say("Model trained", training_in_words(scenario["train"], records));
  say("What travels", workload_in_words(scenario, records));
  if (!member(scenario, "network").is_null()) say("Network", network_in_words(scenario["network"], records));
  say("Swept", sweep_in_words(records));
  say("Seeds", values_in(records, "seed"));
  return words;
}

}  // namespace longhaul
