#include "core/scenario/case.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "core/base/errors.h"
#include "core/base/files.h"
#include "core/base/index.h"
#include "core/base/limits.h"
#include "core/base/model_presets.h"
#include "core/base/units.h"
#include "core/scenario/scenario_options.h"

namespace longhaul {
namespace {

DataSpec parse_data(const Json& json) {
  DataSpec data;
  const std::string kind = json.begin().key();
  const Json& value = json.begin().value();
  if (kind == "corpus") {
    data.kind = DataSpec::Kind::kCorpus;
    data.corpus = value.get<std::string>();
  } else if (kind == "synthetic") {
    data.kind = DataSpec::Kind::kSynthetic;
    data.synthetic = {value.at("branching").get<int>(), value.at("tokens").get<std::int64_t>()};
  } else {
    data.kind = kind == "text" ? DataSpec::Kind::kText : DataSpec::Kind::kShards;
    data.globs = value.get<std::vector<std::string>>();
  }
  if (!json.contains("validation")) return data;
  if (data.globs.empty())
    throw InputError("train.data.validation", fmt::format("found beside \"{}\"", kind),
                     "validation files beside text or shards",
                     "a corpus holds out files of its own, a synthetic source its end");
  data.validation = json["validation"].get<std::vector<std::string>>();
  return data;
}

TrainSpec parse_train(const Json& json) {
  TrainSpec train;
  train.steps = json.at("steps");
  train.model = parse_model(json.at("model"), "train.model");
  train.data = parse_data(json.at("data"));
  train.validation_fraction = json.at("validation_fraction");
  const Json& sequences = json.at("evaluate_sequences");
  train.evaluate_sequences = sequences.is_string() ? 0 : sequences.get<int>();
  train.evaluate_every = json.value("evaluate_every", std::max(1, train.steps / 10));
  train.checkpoint_every = json.value("checkpoint_every", std::max(1, train.steps / 10));
  train.changed_values_every = json.value("changed_values_every", 0);
  train.batch = json.at("batch");
  train.evaluate_ensemble = json.value("evaluate_ensemble", false);
  train.optimizer = parse_optimizer(json.at("optimizer"), train.steps, "train.optimizer");
  train.device = json.at("device").get<std::string>();
  train.precision =
      from_word<Precision>(json.value("precision", word_of(train.precision)), "train.precision");
  if (json.contains("target_loss")) train.target_loss = json["target_loss"].get<double>();
  const bool bytes = train.data.kind == DataSpec::Kind::kCorpus || train.data.kind == DataSpec::Kind::kText;
  if (bytes && train.model.vocabulary < 256)
    throw InputError("train.model.vocabulary",
                     fmt::format("found {} with byte tokens", train.model.vocabulary), "at least 256");
  return train;
}

// 0 where nothing says it.
std::int64_t tokens_of_step(const Json& workload, const std::optional<TrainSpec>& train) {
  const Json flops = workload.at("step_time").value("flops", Json::object());
  if (workload.contains("tokens") && flops.contains("tokens") && workload["tokens"] != flops["tokens"])
    throw InputError("workload.tokens",
                     fmt::format("found {}, but {} in workload.step_time.flops.tokens",
                                 workload["tokens"].dump(), flops["tokens"].dump()),
                     "the same number", "leave one of them out");
  if (workload.contains("tokens")) return workload["tokens"];
  if (flops.contains("tokens")) return flops["tokens"];
  return train ? std::int64_t{train->batch} * train->model.context : 0;
}

StepTime parse_step_time(const Json& json, std::int64_t active_parameters, std::int64_t tokens) {
  StepTime time;
  const std::string kind = json.begin().key();
  const Json& value = json.begin().value();
  if (kind == "constant") {
    time.seconds = parse_duration(value);
  } else if (kind == "lognormal") {
    time.kind = StepTime::Kind::kLognormal;
    time.sigma = value.at("sigma");
    if (value.contains("mean") == value.contains("mu"))
      throw InputError("workload.step_time.lognormal", "found " + value.dump(),
                       "sigma with exactly one of mean (the expectation) and mu (of the logarithm)");
    time.mu = value.contains("mu") ? value["mu"].get<double>()
                                   : std::log(parse_duration(value["mean"])) - time.sigma * time.sigma / 2;
  } else if (kind == "measured") {
    if (!value.get<bool>())
      throw InputError("workload.step_time.measured", "found false",
                       "true, or one of constant, lognormal, flops");
    time.kind = StepTime::Kind::kMeasured;
  } else {
    if (tokens == 0)
      throw InputError("workload.step_time.flops.tokens", "this key is missing", "an integer of at least 1",
                       "tokens per replica and step; or give workload.tokens");
    time.seconds = 6. * static_cast<double>(active_parameters) * static_cast<double>(tokens) /
                   (value.at("peak").get<double>() * value.at("utilisation").get<double>());
  }
  return time;
}

// None where the scenario gives a bare number of parameters.
std::optional<ModelShape> workload_model(const Json& json, const std::optional<TrainSpec>& train) {
  if (json.contains("parameters") && json.contains("model"))
    throw InputError("workload", "found both model and parameters", "one of them");
  if (json.contains("parameters")) return std::nullopt;
  if (!json.contains("model")) {
    if (train) return train->model;
    throw InputError("workload.model", "this key is missing",
                     "a preset (longhaul list models), dimensions, or workload.parameters",
                     "without train nothing else says what travels");
  }
  return parse_model(json["model"], "workload.model");
}

// Empty where the scenario lists none.
std::vector<std::int64_t> workload_tensors(const Json& json, std::int64_t parameters) {
  if (!json.contains("tensors")) return {};
  const std::string path = "workload.tensors";
  if (!json.contains("parameters"))
    throw InputError(path, "found without workload.parameters", "one of them with the other",
                     "a model, or what is trained, knows its own tensors");
  std::vector<std::int64_t> tensors = json["tensors"];
  double sum = 0;
  for (const std::int64_t tensor : tensors) sum += static_cast<double>(tensor);
  if (sum != static_cast<double>(parameters))
    throw InputError(path, fmt::format("found {} tensors with {:.0f} parameters", tensors.size(), sum),
                     fmt::format("as many as workload.parameters, {}", parameters));
  return tensors;
}

// What `total_tokens` need; `tokens` are those of a replica and step.
int steps_for_tokens(const Json& json, bool trains, std::int64_t tokens, int replicas) {
  const std::string path = "workload.total_tokens";
  if (trains)
    throw InputError(path, "found beside a train section", "train.steps",
                     "what is trained has its own steps, which are replayed");
  if (json.contains("steps"))
    throw InputError(path, fmt::format("found beside workload.steps ({})", json["steps"].dump()),
                     "one of them", "the steps follow from the tokens");
  if (tokens == 0)
    throw InputError(path, "found, but nothing says how many tokens a step has", "workload.tokens",
                     "tokens per replica and step; the steps are total_tokens over replicas times tokens");
  const std::int64_t total = json["total_tokens"], together = tokens * replicas;
  const std::int64_t steps = (total - 1) / together + 1;
  if (steps > kMostOfACount)
    throw InputError(path, fmt::format("found {}, which are {} steps", total, steps),
                     fmt::format("at most {} steps", kMostOfACount), "more tokens a step, or more replicas");
  return static_cast<int>(steps);
}

WorkloadSpec parse_workload(const Json& json, const std::optional<TrainSpec>& train, int replicas) {
  WorkloadSpec workload;
  workload.model = workload_model(json, train);
  workload.parameters =
      workload.model ? workload.model->parameters() : json["parameters"].get<std::int64_t>();
  workload.tensors = workload_tensors(json, workload.parameters);
  workload.wire = from_word<Wire>(json.at("wire"), "workload.wire");
  workload.tokens = tokens_of_step(json, train);
  if (json.contains("total_tokens"))
    workload.steps = steps_for_tokens(json, train.has_value(), workload.tokens, replicas);
  else if (train)
    workload.steps = train->steps;
  else if (json.contains("steps"))
    workload.steps = json["steps"];
  else
    throw InputError("workload.steps", "this key is missing", "an integer of at least 1",
                     "without train it says how many inner steps are replayed; or give total_tokens");
  workload.active_parameters =
      active_parameters_of(json, workload.model, workload.parameters, "workload.active_parameters");
  workload.step_time = parse_step_time(json.at("step_time"), workload.active_parameters, workload.tokens);
  if (!train && workload.step_time.kind == StepTime::Kind::kMeasured)
    throw InputError("workload.step_time.measured", "nothing is trained, so nothing is measured",
                     "constant, lognormal or flops", "or add a train section");
  workload.accelerators = json.value("accelerators", 1);
  if (train && workload.wire == Wire::kInt8)
    throw InputError("workload.wire", "found \"int8\" with a train section", "fp32, bf16 or fp16",
                     "the trainer does not quantize to int8; without train it is replayed");
  return workload;
}

std::vector<double> parse_step_time_factors(const Json& workload, int replicas) {
  std::vector<double> factors;
  if (!workload.contains("step_time_factors")) return factors;
  const std::string path = "workload.step_time_factors";
  factors.assign(as_index(replicas), 1);
  for (const auto& [range, factor] : workload["step_time_factors"].items()) {
    const auto [first, last] = parse_replica_range(range, replicas, child_path(path, range));
    for (int replica = first; replica <= last; ++replica) factors[as_index(replica)] = factor.get<double>();
  }
  return factors;
}

// A method may give the batches of all replicas to one machine.
void check_counts(const Case& config) {
  if (config.replicas > kMostReplicas / config.pipeline.stages)
    throw InputError("replicas",
                     fmt::format("found {} of {} stages each", config.replicas, config.pipeline.stages),
                     fmt::format("at most {} workers", kMostReplicas));
  if (config.train && std::int64_t{config.train->batch} * config.replicas > kMostOfACount)
    throw InputError(
        "train.batch",
        fmt::format("found {} sequences for each of {} replicas", config.train->batch, config.replicas),
        fmt::format("at most {} together", kMostOfACount));
}

void check_together(const Case& config) {
  const double together = static_cast<double>(config.workload.parameters) * config.workers();
  if (together > kMostTogether)
    throw InputError(
        "workload",
        fmt::format("found {} parameters on {} workers", config.workload.parameters, config.workers()),
        fmt::format("at most {:.0e} together", kMostTogether));
}

// A sequence is not cut.
void check_microbatches(const Case& config) {
  if (!config.train || config.train->batch % config.pipeline.microbatches == 0) return;
  throw InputError("pipeline.microbatches",
                   fmt::format("found {} for batches of {} sequences (train.batch)",
                               config.pipeline.microbatches, config.train->batch),
                   "a divisor of train.batch");
}

// A list of places is read without knowledge of stages: what it lacks with them are workers.
void check_placed_workers(const Case& config, const Json& network) {
  const Json order = member(network, "rank_order");
  const int stages = config.pipeline.stages, workers = config.workers();
  if (stages == 1 || !order.is_array() || static_cast<int>(order.size()) == workers) return;
  throw InputError(
      "network.rank_order",
      fmt::format("found {} places, the scenario has {} workers ({} replicas of {} stages)", order.size(),
                  workers, config.replicas, stages),
      fmt::format("every place from 0 to {} once: entry r · {} + s is the place of stage s of replica r",
                  workers - 1, stages));
}

// The fidelities that carry an outage of a link.
void check_link_faults(const NetworkSpec& network) {
  if (network.variation.faults.empty()) return;
  const std::string path = element_path("faults", as_index(network.variation.faults.front().number));
  if (network.message_time)
    throw InputError(path, "found a link beside network.message_time", "a network without message_time",
                     "drawn times do not depend on links");
  if (network.fidelity != "flow" && network.fidelity != "linux")
    throw InputError(path, fmt::format("found a link with fidelity \"{}\"", network.fidelity),
                     "fidelity \"flow\" or \"linux\"",
                     "the others have no link that carries nothing for a while");
}

// Written by a `longhaul run` of this version or another one: numbers that the program counts with are as a
// scenario may say them. Topologies have options that net/ knows, methods some that methods/ knows: they
// check those.
void check_resolved(const Json& resolved) {
  static const Node declaration = [] {
    Node scenario = scenario_options({}, {});
    const auto keep = [&](const char* key) { return *scenario.child(key); };
    return section("", {text("case").required(), text("scenario").required(), text("folder").required(),
                        keep("seed"), keep("replicas"), keep("pipeline"), keep("parallelism"), keep("train"),
                        keep("workload"), keep("network").required(), keep("faults"), keep("recovery"),
                        keep("rollouts"), table_of("swept", anything("")),
                        section("method", {text("name").required(), text("label").required()}).required(),
                        list_of("sites", integer("").at_least(0))});
  }();
  check_declared(declaration, resolved, "");
}

}  // namespace

namespace {

Experts parse_experts(const Json& json) {
  Experts experts;
  experts.count = json.at("count");
  experts.per_token = json.at("per_token");
  experts.ffn = json.at("ffn");
  experts.shared_ffn = json.value("shared_ffn", 0);
  experts.dense_layers = json.value("dense_layers", 0);
  experts.every = json.value("every", 1);
  return experts;
}

LatentAttention parse_latent(const Json& json) {
  LatentAttention latent;
  latent.rank = json.at("rank");
  latent.query_rank = json.value("query_rank", 0);
  latent.plain = json.at("plain");
  latent.turned = json.at("turned");
  latent.value = json.at("value");
  return latent;
}

}  // namespace

ModelShape parse_model(const Json& json, const std::string& path) {
  if (!json.is_object()) {
    for (const ModelPreset& preset : model_presets())
      if (preset.name == json) return preset.shape;
    throw InputError(path, "found " + json.dump(), "see longhaul list models");
  }
  ModelShape shape{json.at("hidden"), json.at("layers"),  json.at("heads"),
                   json.at("ffn"),    json.at("context"), json.at("vocabulary")};
  shape.kv_heads = json.value("kv_heads", 0);
  shape.head_width = json.value("head_width", 0);
  shape.gated = json.value("gated", true);
  shape.tied = json.value("tied", false);
  shape.qkv_bias = json.value("qkv_bias", false);
  shape.further = json.value("further", 0);
  if (json.contains("experts")) shape.experts = parse_experts(json["experts"]);
  if (json.contains("latent")) shape.latent = parse_latent(json["latent"]);
  shape.check(path);
  return shape;
}

std::int64_t active_parameters_of(const Json& json, const std::optional<ModelShape>& model,
                                  std::int64_t parameters, const std::string& path) {
  const std::int64_t active =
      json.value("active_parameters", model ? model->active_parameters() : parameters);
  if (active > parameters)
    throw InputError(path, fmt::format("found {} of {} parameters", active, parameters),
                     "at most the parameters of the model",
                     "those of the router, the shared parts and the experts that compute a token");
  return active;
}

double StepTime::mean_s() const {
  if (kind == Kind::kLognormal) return std::exp(mu + sigma * sigma / 2);
  return seconds;
}

bool Case::has_absences() const {
  return std::any_of(faults.begin(), faults.end(), [](const Fault& fault) { return fault.absence; });
}

Case parse_case(const Json& written) {
  Case config;
  config.resolved = with_effective_parallelism(with_effective_pipeline(with_effective_optimizer(written)));
  const Json& resolved = config.resolved;
  config.name = resolved.at("case").get<std::string>();
  config.scenario = resolved.at("scenario").get<std::string>();
  config.folder = resolved.at("folder").get<std::string>();
  config.swept = resolved.at("swept");
  config.seed = resolved.at("seed");
  config.replicas = resolved.at("replicas");
  config.method.options = resolved.at("method");
  config.method.name = config.method.options.at("name").get<std::string>();
  config.method.label = config.method.options.at("label").get<std::string>();
  if (resolved.contains("sites")) config.site_of = resolved["sites"].get<std::vector<int>>();
  config.pipeline = parse_pipeline(resolved);
  config.parallelism = parse_parallelism(resolved, config.replicas);
  if (resolved.contains("train")) config.train = parse_train(resolved["train"]);
  check_counts(config);
  check_microbatches(config);
  config.workload = parse_workload(resolved.at("workload"), config.train, config.replicas);
  config.workload.step_time_factors = parse_step_time_factors(resolved["workload"], config.workers());
  check_together(config);
  check_placed_workers(config, resolved.at("network"));
  config.rollouts = parse_rollouts(resolved, config.workload.parameters, config.workers());
  config.network = parse_network(resolved.at("network"), config.workers(), config.folder, config.hosts());
  config.faults = parse_faults(resolved, config.workers());
  config.recovery = parse_recovery(resolved);
  for (const Fault& fault : config.faults)
    if (fault.is_of_links()) config.network.variation.faults.push_back(fault);
  check_link_faults(config.network);
  return config;
}

Case read_case(const std::string& file) {
  const std::optional<std::string> text = read_file(file);
  if (!text) throw InputError({file, "", "cannot be read", "a case.json written by longhaul", ""});
  try {
    const Json resolved = parse_json(*text);
    check_resolved(resolved);
    return parse_case(resolved);
  } catch (const Json::exception& error) {
    throw in_our_words(error).in_file(file);
  } catch (const InputError& error) {
    throw error.in_file(file);
  }
}

}  // namespace longhaul
