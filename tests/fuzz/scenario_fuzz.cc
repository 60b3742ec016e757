// Scenarios: read, made cases of, planned and put on networks, as longhaul check does, without other files.
#include <algorithm>

#include "core/scenario/scenario.h"
#include "core/scenario/scenario_options.h"
#include "methods/common/registry.h"
#include "net/topologies/registry.h"
#include "replay/predict/estimate.h"
#include "tests/fuzz/fuzz.h"

namespace longhaul {
namespace {

// Larger ones are right, and take longer than a fuzzer has.
bool is_small(const Case& config) {
  const bool has_small_model = !config.workload.model || config.workload.model->layers <= 64;
  return config.workers() <= 256 && has_small_model && config.pipeline.microbatches <= 64;
}

void check(const Case& config) {
  if (!is_small(config)) return;
  method_named(config.method.name).check(config);
  method_named(config.method.name).warnings(config);
  const OperationPlan plan = plan_of(config);
  if (config.train && config.train->model.layers <= 64) trained_plan_of(config);
  if (config.network.rank_order.kind == RankOrderSpec::Kind::kOptimized || needs_sites(plan)) return;
  check_network(config);
  check_collectives(config, plan);
  // A method that deals hidden units deals each one in every round.
  const bool has_few_units =
      !config.workload.model ||
      std::int64_t{config.workload.model->ffn} * config.workload.model->layers <= 1 << 16;
  if (config.steps() <= 64 && config.workers() <= 32 && has_few_units) estimate(config, trace_of(config));
}

}  // namespace

void read_input(const std::string& input) {
  static const Node declaration = scenario_options(method_options(), topology_options());
  const std::string file = file_with("scenario.json", input);
  const Scenario scenario = load_scenario(file, {}, declaration, [](const Case& config) {
    if (is_small(config)) check_topology(config);
  });
  for (std::size_t i = 0; i < std::min<std::size_t>(scenario.cases.size(), 8); ++i)
    allow_errors([&] { check(scenario.cases[i]); });
}

}  // namespace longhaul
