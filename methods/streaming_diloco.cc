// Streaming DiLoCo (arXiv 2501.18512): the model is cut into fragments of layers, each with an outer step of
// its own every H steps, one fragment after the other; its outer gradient is compressed, is under way while τ
// inner steps go on, and what arrives is mixed with what the replica has meanwhile become.
#include "methods/streaming_diloco.h"

#include <fmt/core.h>

#include "core/base/errors.h"
#include "methods/common/compression.h"

namespace longhaul {

std::vector<Node> fragment_options(const FragmentDefaults& defaults) {
  return joined(
      {{inner_steps_option(defaults.inner_steps),
        integer("fragment_layers")
            .at_least(1)
            .by_default(defaults.fragment_layers)
            .in("layers")
            .means("layers of a fragment; the embedding goes with the first fragment, what follows the last "
                   "layer with the last"),
        integer("fragments")
            .at_least(0)
            .by_default(0)
            .means(
                "how many fragments; 0: as many as fragment_layers makes, which needs a model with layers"),
        choice("pattern", {"strided", "consecutive"})
            .by_default("strided")
            .means("strided: layer l is in fragment l mod F (the paper's choice); consecutive: neighbouring "
                   "layers are together"),
        integer("overlap")
            .at_least(defaults.least_overlap)
            .by_default(defaults.overlap)
            .in("steps")
            .means(defaults.least_overlap == 0
                       ? "inner steps that go on while a fragment is under way (τ); 0: none"
                       : "inner steps that go on while a fragment is under way (τ), at least"),
        number("mixing").at_least(0).at_most(1).by_default(0.5).means(
            "share α of its own weights that a replica keeps when a fragment has arrived"),
        number("outer_lr").above(0).by_default(0.4).means("outer learning rate η"),
        number("outer_momentum").at_least(0).at_most(1).by_default(0.9).means("outer momentum μ (Nesterov)")},
       compression_options({"e3m0"})});
}

int fragment_count(const Json& options, int layers) {
  if (const int given = options.at("fragments"); given > 0) return given;
  const int each = options.at("fragment_layers");
  return (layers + each - 1) / each;
}

FragmentPattern fragment_pattern(const Json& options) {
  return options.at("pattern") == "strided" ? FragmentPattern::kStrided : FragmentPattern::kConsecutive;
}

std::vector<OperationRule> fragment_rules(const Json& options, const PlannedModel& model,
                                          bool embeddings_apart) {
  const std::vector<Columns> parts =
      fragments(model, fragment_count(options, static_cast<int>(model.layers.size())),
                fragment_pattern(options), embeddings_apart);
  const int count = static_cast<int>(parts.size()), every = options.at("inner_steps");
  std::vector<OperationRule> rules;
  for (int part = 0; part < count; ++part) {
    OperationRule rule;
    rule.name = fmt::format("fragment-{}", part);
    rule.every = every;
    rule.phase = static_cast<int>(std::int64_t{part} * every / count);
    rule.overlap_steps = options.at("overlap");
    rule.payload = whole({"delta"}, model.wire);
    if (count > 1) rule.payload[0].columns = parts[static_cast<std::size_t>(part)];
    rules.push_back(std::move(rule));
  }
  return rules;
}

void check_fragments(const Case& config) {
  const Json& options = config.method.options;
  if (!config.workload.model && options.at("fragments") == 0)
    throw InputError("method.fragments", "found 0 without a model", "the number of fragments",
                     "workload.parameters says nothing of layers; or give workload.model");
  for (const auto& [model, path] :
       {std::pair(config.workload.model, "workload.model"),
        std::pair(config.train ? std::optional(config.train->model) : std::nullopt, "train.model")})
    if (model && fragment_count(options, model->layers) > model->layers)
      throw InputError(
          "method.fragments",
          fmt::format("found {} with {} layers ({})", options["fragments"].dump(), model->layers, path),
          fmt::format("at most {}", model->layers), "a fragment has at least one layer");
  const int inner = options.at("inner_steps"), overlap = options.at("overlap");
  if (overlap >= inner)
    throw InputError("method.overlap", fmt::format("found {} with inner_steps {}", overlap, inner),
                     fmt::format("below {}", inner), "a fragment arrives before its next outer step begins");
}

std::vector<std::string> fragment_warnings(const Case& config) {
  if (!config.train || !config.workload.model) return {};
  const Json& options = config.method.options;
  const int trained = fragment_count(options, config.train->model.layers),
            carried = fragment_count(options, config.workload.model->layers);
  if (trained == carried) return {};
  return {fmt::format("{}: {} fragments are trained, but the network carries {}: give method.fragments",
                      config.name, trained, carried)};
}

namespace streaming_diloco {

std::vector<Node> options() {
  std::vector<Node> all = fragment_options({});
  for (Node& option : all_reduce_options())
    if (option.key != "buckets") all.push_back(std::move(option));
  all.push_back(reduction_option());
  return all;
}

// The backward pass, the last share f of a step, goes from the last layer L − 1 to layer 0 and releases each
// layer of the fragment when it is through with it: f · l/L of the step before its end.
void release_by_layers(const Json& options, int layers, int part, int count, FragmentPattern pattern,
                       OperationRule& rule) {
  rule.overlap_backward = options.at("overlap_backward");
  if (rule.overlap_backward == 0) return;
  for (int layer = layers - 1; layer >= 0; --layer)
    if (fragment_of(pattern, layer, layers, count) == part)
      rule.releases.push_back(rule.overlap_backward * layer / layers);
  rule.buckets = std::max(1, static_cast<int>(rule.releases.size()));
}

OperationPlan plan(const MethodSpec& method, const PlannedModel& model) {
  const Json& options = method.options;
  const int layers = static_cast<int>(model.layers.size()), count = fragment_count(options, layers);
  OperationPlan plan{fragment_rules(options, model)};
  for (int part = 0; part < count; ++part) {
    OperationRule& rule = plan.rules[static_cast<std::size_t>(part)];
    rule.collective = options.at("all_reduce");
    compress(options, model, rule);
    release_by_layers(options, layers, part, count, fragment_pattern(options), rule);
  }
  return plan;
}

void check(const Case& config) {
  const Json& options = config.method.options;
  if (!config.workload.model && options.at("overlap_backward") != 0)
    throw InputError("method.overlap_backward",
                     fmt::format("found {} without a model", options["overlap_backward"].dump()), "0",
                     "workload.parameters says nothing of layers; give workload.model");
}

}  // namespace streaming_diloco

Method streaming_diloco_method() {
  using namespace streaming_diloco;
  return Method("streaming-diloco",
                "outer steps of fragments in turn, overlapped with compute (arXiv 2501.18512)", options(),
                plan, {check_inner_steps, check_compression, check_fragments, check}, {fragment_warnings},
                keeps_outer_step);
}

}  // namespace longhaul
