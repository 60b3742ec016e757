// How long outer steps take in C++ and in Python (methods/common/python_step.h), one beside the other:
//
//   build/bin/outer_steps [PARAMETERS REPLICAS [THREADS]]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "core/scenario/scenario_options.h"
#include "methods/common/python_step.h"
#include "methods/common/registry.h"
#include "trainer/operations/operation_runner.h"
#include "trainer/operations/update.h"

namespace longhaul {
namespace {

constexpr int kRounds = 15;

// The fastest of so many outer steps, s: others use the machine too.
double seconds_of(const Json& written, std::int64_t parameters, int replicas, int threads) {
  Json scenario = {{"methods", {written}}};
  PythonSteps().expand(scenario, LONGHAUL_SOURCE_DIR "/scenarios/methods/python");
  const Json& expanded = scenario["methods"][0];
  const Method& like = method_named(expanded["name"]);
  std::vector<Node> options = common_method_options(like.optimizer);
  options.insert(options.end(), like.options.begin(), like.options.end());
  const MethodSpec method{like.name, like.name, resolve(section("", options), expanded, "method")};
  OperationPlan plan = like.plan(method, {parameters, {}});
  plan.keeps = rows_kept_by(method);
  const PlanContext context{1, replicas, 1 << 20, parameters};
  const std::unique_ptr<Update> update = make_update(method);
  update->follow(plan, context);
  Arena arena(slots_with(plan.keeps), replicas, parameters);
  for (int replica = 0; replica < replicas; ++replica)
    for (std::int64_t i = 0; i < parameters; ++i)
      arena.row(Slot::kWeights, replica)[i] = static_cast<float>((i * 7 + replica) % 1000) / 1000;
  const std::unique_ptr<Backend> backend = make_thread_backend(threads);
  ExchangeLog log;
  Replicas all{arena, *backend, log};
  update->start(all);
  OperationRunner runner(*update, all);
  std::vector<double> seconds;
  for (int round = 1; round <= kRounds; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    for (const Operation& operation : operations_at(plan, context, round * plan.rules[0].every))
      runner.run(operation);
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds.front();
}

}  // namespace
}  // namespace longhaul

int main(int argc, char** argv) {
  using longhaul::Json;
  const int threads = argc > 3 ? std::atoi(argv[3]) : longhaul::available_threads();
  std::vector<std::pair<int, int>> sizes;
  for (const int parameters : {71000, 1000000, 10000000})
    for (const int replicas : {8, 32}) sizes.emplace_back(parameters, replicas);
  if (argc > 2) sizes = {{std::atoi(argv[1]), std::atoi(argv[2])}};
  std::printf("an outer step with %d threads: the fastest of %d, ms\n", threads, longhaul::kRounds);
  for (const auto& [parameters, replicas] : sizes)
    for (const char* name : {"diloco", "noloco"}) {
      const double cpp = longhaul::seconds_of({{"name", name}}, parameters, replicas, threads),
                   python = longhaul::seconds_of({{"name", "python"}, {"file", std::string(name) + ".py"}},
                                                 parameters, replicas, threads);
      std::printf("%8d parameters, %2d replicas, %s: C++ %.2f, Python %.2f, ratio %.2f\n", parameters,
                  replicas, name, 1e3 * cpp, 1e3 * python, python / cpp);
      std::fflush(stdout);
    }
}
