// The section `workload` of a resolved case: what the network carries and how long a step takes.
#include <cmath>

#include "core/case_parts.h"
#include "core/errors.h"
#include "core/index.h"
#include "core/units.h"

namespace longhaul {
namespace {

// 0 where nothing says it.
std::int64_t tokens_of_step(const Json& workload, const std::optional<TrainSpec>& train) {
  const Json flops = workload.at("step_time").value("flops", Json::object());
  if (workload.contains("tokens") && flops.contains("tokens") && workload["tokens"] != flops["tokens"])
    throw InputError("workload.tokens",
                     "found " + workload["tokens"].dump() + ", but " + flops["tokens"].dump() +
                         " in workload.step_time.flops.tokens",
                     "the same number", "leave one of them out");
  if (workload.contains("tokens")) return workload["tokens"];
  if (flops.contains("tokens")) return flops["tokens"];
  return train ? std::int64_t{train->batch} * train->model.context : 0;
}

StepTime parse_step_time(const Json& json, std::int64_t parameters, std::int64_t tokens) {
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
    time.seconds = 6. * static_cast<double>(parameters) * static_cast<double>(tokens) /
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
  if (json["model"].is_object()) return parse_shape(json["model"], "workload.model");
  for (const ModelPreset& preset : model_presets())
    if (preset.name == json["model"]) return preset.shape;
  throw InputError("workload.model", "found " + json["model"].dump(), "see longhaul list models");
}

}  // namespace

WorkloadSpec parse_workload(const Json& json, const std::optional<TrainSpec>& train) {
  WorkloadSpec workload;
  workload.model = workload_model(json, train);
  workload.parameters =
      workload.model ? workload.model->parameters() : json["parameters"].get<std::int64_t>();
  workload.wire = parse_wire(json.at("wire"));
  if (train)
    workload.steps = train->steps;
  else if (json.contains("steps"))
    workload.steps = json["steps"];
  else
    throw InputError("workload.steps", "this key is missing", "an integer of at least 1",
                     "without train it says how many inner steps are replayed");
  workload.tokens = tokens_of_step(json, train);
  workload.step_time = parse_step_time(json.at("step_time"), workload.parameters, workload.tokens);
  if (!train && workload.step_time.kind == StepTime::Kind::kMeasured)
    throw InputError("workload.step_time.measured", "nothing is trained, so nothing is measured",
                     "constant, lognormal or flops", "or add a train section");
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

}  // namespace longhaul
