#include "core/case.h"

#include <cmath>
#include <fstream>

#include "core/errors.h"
#include "core/hash.h"
#include "core/units.h"

namespace longhaul {
namespace {

ModelShape parse_shape(const Json& json, const std::string& path) {
  ModelShape shape{json.at("hidden"), json.at("layers"),  json.at("heads"),
                   json.at("ffn"),    json.at("context"), json.at("vocabulary")};
  shape.check(path);
  return shape;
}

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
  return data;
}

OptimizerSpec parse_optimizer(const Json& json, int steps) {
  OptimizerSpec spec;
  spec.lr = json.at("lr");
  spec.min_lr = json.value("min_lr", spec.lr / 10);
  spec.warmup = json.value("warmup", steps / 10);
  const auto betas = json.at("betas").get<std::vector<double>>();
  if (betas.size() != 2 || betas[0] >= 1 || betas[1] >= 1)
    throw InputError(
        {"", "train.optimizer.betas", "found " + json.at("betas").dump(), "two numbers below 1", ""});
  spec.beta1 = betas[0];
  spec.beta2 = betas[1];
  spec.weight_decay = json.at("weight_decay");
  spec.clip = json.at("clip");
  if (spec.min_lr > spec.lr)
    throw InputError({"", "train.optimizer.min_lr", "found " + format_number(spec.min_lr),
                      "at most lr, " + format_number(spec.lr), ""});
  return spec;
}

TrainSpec parse_train(const Json& json) {
  TrainSpec train;
  train.steps = json.at("steps");
  train.model = parse_shape(json.at("model"), "train.model");
  train.data = parse_data(json.at("data"));
  train.validation_fraction = json.at("validation_fraction");
  train.evaluate_sequences = json.at("evaluate_sequences");
  train.evaluate_every = json.value("evaluate_every", std::max(1, train.steps / 10));
  train.checkpoint_every = json.value("checkpoint_every", std::max(1, train.steps / 10));
  train.batch = json.at("batch");
  train.optimizer = parse_optimizer(json.at("optimizer"), train.steps);
  train.device = json.at("device").get<std::string>();
  if (json.contains("target_loss")) train.target_loss = json["target_loss"].get<double>();
  const bool bytes = train.data.kind == DataSpec::Kind::kCorpus || train.data.kind == DataSpec::Kind::kText;
  if (bytes && train.model.vocabulary < 256)
    throw InputError({"", "train.model.vocabulary",
                      "found " + std::to_string(train.model.vocabulary) + " with byte tokens", "at least 256",
                      ""});
  return train;
}

StepTime parse_step_time(const Json& json, std::int64_t parameters) {
  StepTime time;
  const std::string kind = json.begin().key();
  const Json& value = json.begin().value();
  if (kind == "constant") {
    time.seconds = parse_duration(value);
  } else if (kind == "lognormal") {
    time.kind = StepTime::Kind::kLognormal;
    time.sigma = value.at("sigma");
    if (value.contains("mean") == value.contains("mu"))
      throw InputError({"", "workload.step_time.lognormal", "found " + value.dump(),
                        "sigma with exactly one of mean (the expectation) and mu (of the logarithm)", ""});
    time.mu = value.contains("mu") ? value["mu"].get<double>()
                                   : std::log(parse_duration(value["mean"])) - time.sigma * time.sigma / 2;
  } else if (kind == "measured") {
    if (!value.get<bool>())
      throw InputError({"", "workload.step_time.measured", "found false",
                        "true, or one of constant, lognormal, flops", ""});
    time.kind = StepTime::Kind::kMeasured;
  } else {
    time.seconds = 6. * static_cast<double>(parameters) * value.at("tokens").get<double>() /
                   (value.at("peak").get<double>() * value.at("utilisation").get<double>());
  }
  return time;
}

std::int64_t workload_parameters(const Json& json, const std::optional<TrainSpec>& train) {
  if (json.contains("parameters") && json.contains("model"))
    throw InputError({"", "workload", "found both model and parameters", "one of them", ""});
  if (json.contains("parameters")) return json["parameters"];
  if (!json.contains("model")) {
    if (train) return train->model.parameters();
    throw InputError({"", "workload.model", "this key is missing",
                      "a preset (longhaul list models), dimensions, or workload.parameters",
                      "without train nothing else says what travels"});
  }
  if (json["model"].is_object()) return parse_shape(json["model"], "workload.model").parameters();
  for (const ModelPreset& preset : model_presets())
    if (preset.name == json["model"]) return preset.shape.parameters();
  throw InputError({"", "workload.model", "found " + json["model"].dump(), "see longhaul list models", ""});
}

WorkloadSpec parse_workload(const Json& json, const std::optional<TrainSpec>& train) {
  WorkloadSpec workload;
  workload.parameters = workload_parameters(json, train);
  workload.wire = parse_wire(json.at("wire"));
  if (train)
    workload.steps = train->steps;
  else if (json.contains("steps"))
    workload.steps = json["steps"];
  else
    throw InputError({"", "workload.steps", "this key is missing", "an integer of at least 1",
                      "without train it says how many inner steps are replayed"});
  workload.step_time = parse_step_time(json.at("step_time"), workload.parameters);
  if (!train && workload.step_time.kind == StepTime::Kind::kMeasured)
    throw InputError({"", "workload.step_time.measured", "nothing is trained, so nothing is measured",
                      "constant, lognormal or flops", "or add a train section"});
  if (train && workload.wire == Wire::kInt8)
    throw InputError({"", "workload.wire", "found \"int8\" with a train section", "fp32, bf16 or fp16",
                      "the trainer does not quantize to int8; without train it is replayed"});
  return workload;
}

StarSpec parse_star(const Json& json) {
  const std::string path = "network.topology.star";
  StarSpec star;
  star.rtt = parse_duration(json.at("rtt"));
  const bool both = json.contains("up") && json.contains("down"),
             any = json.contains("up") || json.contains("down");
  if (json.contains("rate") == any || any != both)
    throw InputError({"", path, "found " + json.dump(), "either rate, or up and down", ""});
  star.up = parse_rate(json.value("up", json.value("rate", "")));
  star.down = parse_rate(json.value("down", json.value("rate", "")));
  return star;
}

RegionsSpec parse_regions(const Json& json, int replicas) {
  const std::string path = "network.topology.regions";
  RegionsSpec regions;
  regions.matrix = json.at("matrix").get<std::string>();
  regions.rate = parse_rate(json.at("rate"));
  if (json.contains("trunk")) regions.trunk = parse_rate(json["trunk"]);
  regions.even = json.at("replicas").is_string();
  if (regions.even) {
    for (const Json& site : json.value("sites", Json::array())) regions.placement.push_back({site, 0});
    return regions;
  }
  if (json.contains("sites"))
    throw InputError(
        {"", path + ".sites", "found beside a placement by counts", "only with replicas \"even\"", ""});
  int placed = 0;
  for (const auto& [site, count] : json["replicas"].items()) {
    regions.placement.push_back({site, count.get<int>()});
    placed += count.get<int>();
  }
  if (placed != replicas)
    throw InputError(
        {"", path + ".replicas",
         "places " + std::to_string(placed) + " replicas, the scenario has " + std::to_string(replicas),
         "counts that add up to replicas, or \"even\"", ""});
  return regions;
}

TcpSpec parse_tcp(const Json& json) {
  TcpSpec tcp;
  if (json.at("window") != "unlimited") tcp.window = parse_bytes(json["window"]);
  tcp.connections = json.at("connections");
  tcp.congestion_control = json.at("congestion_control").get<std::string>();
  tcp.queue = json.at("queue").get<std::string>();
  tcp.ecn = json.at("ecn");
  tcp.loss = json.at("loss");
  tcp.segment = json.at("segment");
  if (tcp.ecn && tcp.queue != "fq_codel")
    throw InputError({"", "network.tcp.ecn", "found true with queue \"" + tcp.queue + "\"",
                      "only with queue \"fq_codel\"", "the other queues do not mark"});
  return tcp;
}

void check_fidelity(const NetworkSpec& network) {
  if (network.fidelity != "flow") return;
  if (network.tcp.queue != "host")
    throw InputError({"", "network.tcp.queue", "found \"" + network.tcp.queue + "\" with fidelity \"flow\"",
                      "\"host\"",
                      "the flow fidelity has no model of the other queues yet; use fidelity \"packet\""});
  if (network.tcp.loss > 0)
    throw InputError({"", "network.tcp.loss",
                      "found " + format_number(network.tcp.loss) + " with fidelity \"flow\"", "0",
                      "the flow fidelity has no model of random loss yet; use fidelity \"packet\""});
}

NetworkSpec parse_network(const Json& json, int replicas) {
  NetworkSpec network;
  network.fidelity = json.at("fidelity").get<std::string>();
  const Json& topology = json.at("topology");
  if (topology.contains("star"))
    network.topology = parse_star(topology["star"]);
  else
    network.topology = parse_regions(topology.at("regions"), replicas);
  network.tcp = parse_tcp(json.at("tcp"));
  check_fidelity(network);
  return network;
}

}  // namespace

Wire parse_wire(const std::string& text) {
  if (text == "fp32") return Wire::kFp32;
  if (text == "bf16") return Wire::kBf16;
  if (text == "fp16") return Wire::kFp16;
  return Wire::kInt8;
}

std::string to_string(Wire wire) {
  const char* names[] = {"fp32", "bf16", "fp16", "int8"};
  return names[static_cast<int>(wire)];
}

int bytes_per_parameter(Wire wire) {
  return wire == Wire::kFp32 ? 4 : wire == Wire::kInt8 ? 1 : 2;
}

Case parse_case(const Json& resolved) {
  Case one;
  one.resolved = resolved;
  one.name = resolved.at("case").get<std::string>();
  one.scenario = resolved.at("scenario").get<std::string>();
  one.folder = resolved.at("folder").get<std::string>();
  one.swept = resolved.at("swept");
  one.seed = resolved.at("seed");
  one.replicas = resolved.at("replicas");
  one.method.options = resolved.at("method");
  one.method.name = one.method.options.at("name").get<std::string>();
  one.method.label = one.method.options.at("label").get<std::string>();
  if (resolved.contains("train")) one.train = parse_train(resolved["train"]);
  one.workload = parse_workload(resolved.at("workload"), one.train);
  one.network = parse_network(resolved.at("network"), one.replicas);
  return one;
}

Case read_case(const std::string& file) {
  std::ifstream in(file);
  if (!in) throw InputError({file, "", "cannot be read", "a case.json written by longhaul", ""});
  try {
    return parse_case(Json::parse(in));
  } catch (const Json::exception& error) {
    throw InputError({file, "", error.what(), "a case.json written by longhaul", ""});
  } catch (const InputError& error) {
    throw error.in_file(file);
  }
}

std::string training_key(const Case& one) {
  Json method = one.method.options;
  method.erase("label");
  method.erase("all_reduce");
  Json train = one.resolved.at("train");
  train.erase("target_loss");
  train.erase("checkpoint_every");
  const Json key = {{"seed", one.seed},
                    {"replicas", one.replicas},
                    {"method", method},
                    {"train", train},
                    {"wire", to_string(one.workload.wire)},
                    {"folder", one.train->data.globs.empty() ? "" : one.folder}};
  return one.method.name + "-" + hex64(fnv1a(key.dump()));
}

}  // namespace longhaul
