// The section `train` of a resolved case.
#include <algorithm>

#include "core/case_parts.h"
#include "core/errors.h"
#include "core/units.h"

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
    throw InputError("train.data.validation", "found beside \"" + kind + "\"",
                     "validation files beside text or shards",
                     "a corpus holds out files of its own, a synthetic source its end");
  data.validation = json["validation"].get<std::vector<std::string>>();
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
    throw InputError("train.optimizer.min_lr", "found " + format_number(spec.min_lr),
                     "at most lr, " + format_number(spec.lr));
  return spec;
}

}  // namespace

std::string to_string(Precision precision) {
  return precision == Precision::kBf16 ? "bf16" : "float32";
}

ModelShape parse_shape(const Json& json, const std::string& path) {
  ModelShape shape{json.at("hidden"), json.at("layers"),  json.at("heads"),
                   json.at("ffn"),    json.at("context"), json.at("vocabulary")};
  shape.check(path);
  return shape;
}

TrainSpec parse_train(const Json& json) {
  TrainSpec train;
  train.steps = json.at("steps");
  train.model = parse_shape(json.at("model"), "train.model");
  train.data = parse_data(json.at("data"));
  train.validation_fraction = json.at("validation_fraction");
  const Json& sequences = json.at("evaluate_sequences");
  train.evaluate_sequences = sequences.is_string() ? 0 : sequences.get<int>();
  train.evaluate_every = json.value("evaluate_every", std::max(1, train.steps / 10));
  train.checkpoint_every = json.value("checkpoint_every", std::max(1, train.steps / 10));
  train.batch = json.at("batch");
  train.optimizer = parse_optimizer(json.at("optimizer"), train.steps);
  train.device = json.at("device").get<std::string>();
  // Absent from a case that was resolved before there was a choice.
  if (json.value("precision", "float32") == "bf16") train.precision = Precision::kBf16;
  if (json.contains("target_loss")) train.target_loss = json["target_loss"].get<double>();
  const bool bytes = train.data.kind == DataSpec::Kind::kCorpus || train.data.kind == DataSpec::Kind::kText;
  if (bytes && train.model.vocabulary < 256)
    throw InputError("train.model.vocabulary",
                     "found " + std::to_string(train.model.vocabulary) + " with byte tokens", "at least 256");
  return train;
}

}  // namespace longhaul
