// Independent subnetwork training (Yuan et al., arXiv 1910.02120): the hidden units of every layer are dealt
// to the replicas anew in each round, a replica trains the subnetwork of its units alone for H steps, and
// then the units are dealt again. What belongs to no unit is in every subnetwork, and is averaged.
//
// The authors' code sends all units to one worker and from there to their next owners; here they go to these
// directly.
#include <fmt/core.h>

#include "core/base/errors.h"
#include "core/base/ranges.h"
#include "methods/common/method.h"

namespace longhaul {
namespace ist {

std::vector<Node> options() {
  return with_all_reduce(
      {inner_steps_option(50),
       choice("unit_outputs", {"mean", "sum"})
           .by_default("mean")
           .means("how the subnetworks make one model: what their units of a layer put out is averaged "
                  "(the weights that read a unit are divided by the number of replicas), or added up")});
}

void check_model_is_known(bool is_known) {
  if (!is_known)
    throw InputError("workload.model", "this key is missing, with method \"ist\"",
                     "a preset (longhaul list models), or dimensions",
                     "workload.parameters says nothing of hidden units; outer-step is told by --model");
}

OperationPlan plan(const MethodSpec& method, const PlannedModel& model) {
  const Json& options = method.options;
  OperationRule shared = all_reduce_rule("shared", "weights", options, model);
  check_model_is_known(!model.layout.empty());
  if (any_of(model.layout, [](const Parameter& parameter) { return parameter.copies > 1; }))
    throw InputError("workload.model", "found a mixture of experts, with method \"ist\"",
                     "a model without experts", "its hidden units are those of one network in each layer");
  OperationRule units{"units", OperationKind::kAllToAll, "pairwise", options.at("inner_steps")};
  units.units = ffn_units(model.layout);
  units.payload = whole({"weights"}, model.wire);
  units.payload[0].columns = columns_of(units.units);
  shared.payload[0].columns = other_columns(units.payload[0].columns, model.parameters);
  return {{shared, units}};
}

// Every replica has a unit of each family, and there are not more than can be dealt.
void check_units(const Case& config, const ModelShape& model, const std::string& path) {
  if (model.ffn < config.replicas)
    throw InputError(path + ".ffn", fmt::format("found {} for {} replicas", model.ffn, config.replicas),
                     fmt::format("at least {}", config.replicas),
                     "method \"ist\" deals the hidden columns of a layer to all replicas");
  const std::int64_t units = std::int64_t{model.layers} * model.ffn;
  if (units > kMostUnits)
    throw InputError(path, fmt::format("found {} hidden units in {} layers", units, model.layers),
                     fmt::format("at most {} together", kMostUnits),
                     "method \"ist\" deals them one by one in each round");
}

void check(const Case& config) {
  check_model_is_known(config.workload.model.has_value());
  check_units(config, *config.workload.model, "workload.model");
  if (config.train) check_units(config, config.train->model, "train.model");
}

std::vector<std::string> warnings(const Case& config) {
  const int left = config.steps() % config.method.options.at("inner_steps").get<int>();
  if (left == 0) return {};
  return {fmt::format("{}: the last {} of {} steps end no round: the model is that of the round before",
                      config.name, left, config.steps())};
}

}  // namespace ist

Method ist_method() {
  using namespace ist;
  return Method(
      "ist",
      "each replica trains its own part of every layer's width, dealt anew each round (arXiv 1910.02120)",
      options(), plan, {check_inner_steps, check}, {overlap_warnings, warnings}, keeps_slow_weights);
}

}  // namespace longhaul
