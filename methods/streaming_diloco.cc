// Streaming DiLoCo (arXiv 2501.18512): the model is cut into fragments of layers, each with an outer step of
// its own every H steps, one fragment after the other; its outer gradient is compressed, is under way while τ
// inner steps go on, and what arrives is mixed with what the replica has meanwhile become.
#include <fmt/core.h>

#include "core/errors.h"
#include "methods/common/method.h"

namespace longhaul {
namespace {

std::vector<Node> options() {
  std::vector<Node> all = {
      inner_steps_option(100),
      integer("fragment_layers")
          .at_least(1)
          .by_default(3)
          .in("layers")
          .means("layers of a fragment; the embedding goes with the first fragment, what follows the last "
                 "layer with the last"),
      integer("fragments")
          .at_least(0)
          .by_default(0)
          .means("how many fragments; 0: as many as fragment_layers makes, which needs a model with layers"),
      choice("pattern", {"strided", "consecutive"})
          .by_default("strided")
          .means("strided: layer l is in fragment l mod F (the paper's choice); consecutive: neighbouring "
                 "layers are together"),
      integer("overlap").at_least(0).by_default(5).in("steps").means(
          "inner steps that go on while a fragment is under way (τ); 0: none"),
      number("mixing").at_least(0).at_most(1).by_default(0.5).means(
          "share α of its own weights that a replica keeps when a fragment has arrived"),
      number("outer_lr").above(0).by_default(0.4).means("outer learning rate η"),
      number("outer_momentum").at_least(0).at_most(1).by_default(0.9).means("outer momentum μ (Nesterov)")};
  for (Node& option : all_reduce_options())
    if (option.key == "all_reduce") all.push_back(std::move(option));
  return all;
}

// Of a model of so many layers; 0: it cannot be told.
int fragment_count(const Json& options, int layers) {
  if (const int given = options.at("fragments"); given > 0) return given;
  const int each = options.at("fragment_layers");
  return (layers + each - 1) / each;
}

OperationPlan plan(const MethodSpec& method, const PlannedModel& model) {
  const Json& options = method.options;
  const int count = fragment_count(options, static_cast<int>(model.layers.size())),
            every = options.at("inner_steps");
  const std::vector<Columns> parts =
      options.at("pattern") == "strided" ? fragments(model, count) : consecutive_fragments(model, count);
  OperationPlan plan;
  for (int part = 0; part < count; ++part) {
    OperationRule rule;
    rule.name = fmt::format("fragment-{}", part);
    rule.collective = options.at("all_reduce");
    rule.every = every;
    rule.phase = static_cast<int>(std::int64_t{part} * every / count);
    rule.overlap_steps = options.at("overlap");
    rule.payload = whole({"delta"}, model.wire);
    if (count > 1) rule.payload[0].columns = parts[static_cast<std::size_t>(part)];
    plan.rules.push_back(rule);
  }
  return plan;
}

void check(const Case& one) {
  check_inner_steps(one);
  const Json& options = one.method.options;
  if (!one.workload.model && options.at("fragments") == 0)
    throw InputError("method.fragments", "found 0 without a model", "the number of fragments",
                     "workload.parameters says nothing of layers; or give workload.model");
  for (const auto& [model, path] :
       {std::pair(one.workload.model, "workload.model"),
        std::pair(one.train ? std::optional(one.train->model) : std::nullopt, "train.model")})
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

std::vector<std::string> warnings(const Case& one) {
  if (!one.train || !one.workload.model) return {};
  const Json& options = one.method.options;
  const int trained = fragment_count(options, one.train->model.layers),
            carried = fragment_count(options, one.workload.model->layers);
  if (trained == carried) return {};
  return {fmt::format("{}: {} fragments are trained, but the network carries {}: give method.fragments",
                      one.name, trained, carried)};
}

}  // namespace

Method streaming_diloco_method() {
  return {"streaming-diloco",
          "outer steps of fragments in turn, overlapped with compute (arXiv 2501.18512)",
          options(),
          plan,
          check,
          warnings};
}

}  // namespace longhaul
