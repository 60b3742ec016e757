#include <fmt/core.h>

#include <algorithm>
#include <string>

#include "analysis/record_values.h"
#include "analysis/report/parts.h"
#include "analysis/text.h"
#include "core/base/errors.h"
#include "core/base/json.h"
#include "core/codecs/codec.h"
#include "core/scenario/fault.h"
#include "net/topologies/registry.h"

namespace longhaul {
namespace {

// JSON as people write it: "a.txt, b.txt" of a list, "link a-b rate 1Gbps" of an object.
std::string listed(const Json& value) {
  std::vector<std::string> parts;
  if (value.is_array()) {
    for (const Json& entry : value) parts.push_back(listed(entry));
    return join(parts);
  }
  if (!value.is_object()) return plain(value);
  for (const auto& [key, of_key] : value.items()) parts.push_back(key + " " + listed(of_key));
  return join(parts, " ");
}

constexpr std::size_t kMostValues = 10;

// "8", or "8, 16, 32" where it is swept.
std::string values_in(const std::vector<Json>& records, const std::string& key) {
  std::vector<std::string> values;
  for (const Json& record : records) {
    const std::string value = text_of(record, key);
    if (value != "?") add_new(value, values);
  }
  if (values.size() <= kMostValues) return join(values);
  const std::vector<std::string> first(values.begin(), values.begin() + kMostValues - 1);
  return fmt::format("{}, …, {} ({} values)", join(first), values.back(), values.size());
}

// "int4", or "top_k: chunk 4096, kept 64, numbers two_bit"; "" where nothing is compressed.
std::string codec_in_words(const Json& codec) {
  if (codec.is_null() || codec == "wire") return "";
  if (codec.is_string()) return codec;
  if (!codec.is_object() || codec.empty()) return codec.dump();
  const auto chosen = codec.items().begin();
  std::vector<std::string> details;
  for (const auto& [key, value] : chosen.value().items())
    details.push_back(fmt::format("{} {}", key, plain(value)));
  return fmt::format("{}: {}", chosen.key(), join(details));
}

void add_compression(const Json& method, std::vector<std::string>& parts) {
  const std::string codec = codec_in_words(member(method, "codec")),
                    feedback = text_of(method, "error_feedback"), reduction = text_of(method, "reduction");
  if (!codec.empty()) parts.push_back("codec " + codec);
  if (reduction != "?" && reduction != "once") parts.push_back(reduction + " reduction");
  if (feedback != "?" && feedback != "none") parts.push_back(feedback + " error feedback");
}

std::string method_in_words(const Json& method) {
  std::vector<std::string> parts;
  const std::string name = text_of(method, "name"), label = text_of(method, "label");
  if (!member(method, "inner_steps").is_null())
    parts.push_back(text_of(method, "inner_steps") + " inner steps");
  if (!option_adds_up(member(method, "codec")))
    parts.push_back("all-gather");  // whatever all_reduce says (docs/methods.md)
  else if (!member(method, "all_reduce").is_null())
    parts.push_back(text_of(method, "all_reduce") + " all-reduce");
  add_compression(method, parts);
  if (const Json share = member(method, "share"); share.is_number())
    parts.push_back(fmt::format("a random {} % of the weights", 100 * share.get<double>()));
  if (!member(method, "targets").is_null())
    parts.push_back(fmt::format("to {} others", text_of(method, "targets")));
  if (text_of(method, "data") == "own") parts.push_back("each its own part of the text");
  const Json optimizer = member(method, "optimizer");
  if (optimizer.is_object() && !member(optimizer, "name").is_null())
    parts.push_back("inner optimizer " + text_of(optimizer, "name"));
  if (!member(method, "pattern").is_null()) parts.push_back("pattern " + text_of(method, "pattern"));
  if (text_of(method, "pairing") == "sites")
    parts.push_back(
        fmt::format("pairs inside sites, across at every {}. outer step", text_of(method, "across_every")));
  const std::string words = label == "?" || label == name ? name : label + " = " + name;
  return parts.empty() ? words : fmt::format("{} ({})", words, join(parts));
}

std::string methods_in_words(const Json& scenario) {
  std::vector<std::string> methods;
  for (const Json& method : member(scenario, "methods")) methods.push_back(method_in_words(method));
  return join(methods, "; ");
}

std::string shape_in_words(const Json& shape) {
  return fmt::format("width {}, {} layers, {} heads, FFN {}, context {}", text_of(shape, "hidden"),
                     text_of(shape, "layers"), text_of(shape, "heads"), text_of(shape, "ffn"),
                     text_of(shape, "context"));
}

std::string data_in_words(const Json& data) {
  if (!data.is_object() || data.empty()) return "";
  const std::string kind = data.begin().key();
  if (kind == "corpus") return "the corpus " + plain(data.begin().value());
  if (kind == "synthetic") return "a synthetic source";
  return (kind == "shards" ? "token shards " : "text ") + listed(data.begin().value());
}

// "125 million parameters" from the first record that says how many under `key`; "" without one.
std::string parameters_in_words(const std::vector<Json>& records, const char* key) {
  for (const Json& record : records) {
    const Json count = member(record, key);
    if (!count.is_number()) continue;
    const double number = count;
    const auto [scale, word] = number < 1e6   ? std::pair(1e3, "thousand")
                               : number < 1e9 ? std::pair(1e6, "million")
                                              : std::pair(1e9, "billion");
    return fmt::format("{:.3g} {} parameters", number / scale, word);
  }
  return "";
}

std::string training_in_words(const Json& train, const std::vector<Json>& records) {
  std::string text = shape_in_words(member(train, "model"));
  if (const std::string count = parameters_in_words(records, "trained_parameters"); !count.empty())
    text += fmt::format(" ({})", count);
  return fmt::format("{}, trained on {} for {} steps of {} sequences per replica", text,
                     data_in_words(member(train, "data")), text_of(train, "steps"), text_of(train, "batch"));
}

std::string step_time_in_words(const Json& time) {
  if (!time.is_object() || time.empty()) return "";
  const std::string kind = time.begin().key();
  const Json& value = time.begin().value();
  if (kind == "constant") return "a step takes " + plain(value);
  if (kind == "measured") return "a step takes what the trainer measured on this machine";
  if (kind == "flops") return "a step takes what its floating-point operations need";
  const std::string mean =
      member(value, "mean").is_null() ? "µ " + text_of(value, "mu") : "mean " + text_of(value, "mean");
  return fmt::format("a step takes a log-normal time, {}, σ {}", mean, text_of(value, "sigma"));
}

std::string workload_in_words(const Json& scenario, const std::vector<Json>& records) {
  const Json workload = member(scenario, "workload");
  const Json model = member(workload, "model");
  std::string text = model.is_string() ? plain(model) + ", " : "";
  if (const std::string count = parameters_in_words(records, "model_parameters"); !count.empty())
    text += count + " ";
  text += "as " + text_of(workload, "wire");
  const std::string time = step_time_in_words(member(workload, "step_time"));
  if (!time.empty()) text += "; " + time;
  const Json factors = member(workload, "step_time_factors");
  return factors.is_object() && !factors.empty() ? text + ", times " + listed(factors) : text;
}

// Null where the scenario names no topology that exists.
const TopologyKind* topology_kind_of(const Json& topology) {
  for (const TopologyKind& kind : topologies())
    if (!member(topology, kind.name()).is_null()) return &kind;
  return nullptr;
}

// Only topologies with sites have an order.
std::string rank_order_in_words(const Json& network, const std::vector<Json>& records) {
  const TopologyKind* kind = topology_kind_of(member(network, "topology"));
  if (!kind || !kind->has_sites) return "";
  const Json order = member(network, "rank_order");
  if (contains(swept_keys(records), "network.rank_order"))
    return "; order of ranks over the sites: " + values_in(records, "rank_order");
  if (order.is_array()) return "; ranks are placed by a list";
  if (order == "round-robin") return "; ranks are numbered round robin over the sites";
  if (order == "random") return "; ranks are in random order, drawn from the seed";
  if (order == "optimized") return "; ranks are in an order optimized for the all-reduce";
  return "; ranks are numbered site by site";
}

std::string topology_in_words(const Json& topology) {
  const TopologyKind* kind = topology_kind_of(topology);
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
  add("jitter", fmt::format("jitter σ {} of rates, {} of delays", text_of(jitter, "rate_sigma"),
                            text_of(jitter, "delay_sigma")));
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
  if (overrides.is_array() && !overrides.empty()) text += ", with overrides " + listed(overrides);
  text += rank_order_in_words(network, records) + "; fidelity " + text_of(network, "fidelity");
  const std::string connections = text_of(tcp, "connections");
  if (tcp.is_object())
    text += fmt::format("; TCP {}, {} connection{}, window {}", text_of(tcp, "congestion_control"),
                        connections, connections == "1" ? "" : "s", text_of(tcp, "window"));
  if (member(tcp, "slow_start_after_idle") == false) text += ", no slow start after idle";
  text += sending_in_words(network);
  return text + variation_in_words(member(network, "variation"));
}

std::string pipeline_in_words(const Json& pipeline) {
  if (pipeline.is_null()) return "";
  const int microbatches = pipeline.value("microbatches", 1);
  std::string text =
      fmt::format("{} stages, each a worker of its own; {} micro-batch{}, {}, {} paths, {} sends",
                  text_of(pipeline, "stages"), microbatches, microbatches == 1 ? "" : "es",
                  text_of(pipeline, "schedule"), text_of(pipeline, "routing"), text_of(pipeline, "sends"));
  if (const int skip = pipeline.value("skip", 0); skip > 0)
    text += fmt::format("; each micro-batch leaves out {} of the stages in the middle", skip);
  if (pipeline.value("reorder", false)) text += "; neighbours may be taken in the other order";
  return text;
}

std::string faults_in_words(const Json& faults) {
  std::vector<std::string> parts;
  for (const Json& fault : faults) parts.push_back(fault_in_words(fault));
  return join(parts, "; ");
}

// What is left out has its default (core/scenario/recovery.cc).
std::string recovery_in_words(const Json& recovery) {
  const std::string on_failure = recovery.value("on_failure", "retry"),
                    detect = recovery.contains("detect") ? text_of(recovery, "detect") : "10s";
  if (on_failure == "wait") return "all wait for those who are gone";
  return fmt::format(
      "{} after a crash an exchange that lacks a replica {}; who is back {}", detect,
      on_failure == "retry" ? "begins anew without it" : "fails for its group",
      recovery.value("start", "peer") == "own" ? "has its own state" : "downloads a peer's state");
}

// Of drawn groups that leave some replicas over; "" where none does.
std::string sitting_out_in_words(const std::vector<Json>& records) {
  std::vector<Json> those;
  for (const Json& record : records)
    if (record.contains("sitting_out")) those.push_back(record);
  if (those.empty()) return "";
  return fmt::format("; with {} some sit out each outer step, drawn anew: {} of {}",
                     values_in(those, "label"), values_in(those, "sitting_out"),
                     values_in(those, "replicas"));
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
  say("Replicas", values_in(records, "replicas") + sitting_out_in_words(records));
  say("Methods", methods_in_words(scenario));
  say("Pipeline", pipeline_in_words(member(scenario, "pipeline")));
  if (!member(scenario, "train").is_null())
    say("Model trained", training_in_words(scenario["train"], records));
  say("What travels", workload_in_words(scenario, records));
  if (!member(scenario, "network").is_null()) say("Network", network_in_words(scenario["network"], records));
  if (!member(scenario, "faults").is_null()) say("Faults", faults_in_words(scenario["faults"]));
  const bool any_crash = std::any_of(records.begin(), records.end(),
                                     [](const Json& record) { return record.contains("crashes"); });
  if (any_crash)
    say("Recovery",
        recovery_in_words(member(scenario, "recovery").is_null() ? Json::object() : scenario["recovery"]));
  say("Swept", sweep_in_words(records));
  say("Seeds", values_in(records, "seed"));
  return words;
}

}  // namespace longhaul
