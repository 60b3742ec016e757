// Scenarios: read, resolved, made cases of, planned and put on their networks, as longhaul check does. Files
// that they name are not there.
#include <algorithm>

#include "core/scenario.h"
#include "core/scenario_options.h"
#include "methods/common/registry.h"
#include "net/topologies/registry.h"
#include "replay/estimate.h"
#include "tests/fuzz/fuzz.h"

using namespace longhaul;

namespace {

// Larger ones are right, and take longer than a fuzzer has.
bool is_small(const Case& one) {
  const bool has_small_model = !one.workload.model || one.workload.model->layers <= 64;
  return one.workers() <= 256 && has_small_model && one.pipeline.microbatches <= 64;
}

void check(const Case& one) {
  if (!is_small(one)) return;
  method_named(one.method.name).check(one);
  method_named(one.method.name).warnings(one);
  const OperationPlan plan = plan_of(one);
  if (one.train && one.train->model.layers <= 64) trained_plan_of(one);
  if (one.network.rank_order.kind == RankOrderSpec::Kind::kOptimized || needs_sites(plan)) return;
  check_network(one);
  check_collectives(one, plan);
  // A method that deals hidden units deals each one in every round.
  const bool has_few_units =
      !one.workload.model || std::int64_t{one.workload.model->ffn} * one.workload.model->layers <= 1 << 16;
  if (one.steps() <= 64 && one.workers() <= 32 && has_few_units) estimate(one, trace_of(one));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Node declaration = scenario_options(method_options(), topology_options());
  const std::string file = file_with("scenario.json", text_of_input(data, size));
  return allow_errors([&] {
    const Scenario scenario = load_scenario(file, {}, declaration, [](const Case& one) {
      if (is_small(one)) check_topology(one);
    });
    for (std::size_t i = 0; i < std::min<std::size_t>(scenario.cases.size(), 8); ++i)
      allow_errors([&] { check(scenario.cases[i]); });
  });
}
