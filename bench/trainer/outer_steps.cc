// How long outer steps take in C++ and in Python (methods/common/python_step.h), by turns:
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

constexpr int kRounds = 21;

// One method's outer steps, on replicas of its own.
class Steps {
 public:
  Steps(const Json& written, std::int64_t parameters, int replicas, Backend& backend)
      : method_(resolved(written)),
        plan_(planned(method_, parameters)),
        context_{1, replicas, 1 << 20, parameters},
        update_(make_update(method_)),
        arena_(slots_with(plan_.keeps), replicas, parameters),
        all_{arena_, backend, log_},
        runner_(*update_, all_) {
    update_->follow(plan_, context_);
    for (int replica = 0; replica < replicas; ++replica)
      for (std::int64_t i = 0; i < parameters; ++i)
        arena_.row(Slot::kWeights, replica)[i] = static_cast<float>((i * 7 + replica) % 1000) / 1000;
    update_->start(all_);
  }

  void take(int round) {
    const auto begin = std::chrono::steady_clock::now();
    for (const Operation& operation : operations_at(plan_, context_, round * plan_.rules[0].every))
      runner_.run(operation);
    ms_.push_back(1e3 * std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }

  double quantile(double share) {
    std::sort(ms_.begin(), ms_.end());
    return ms_[static_cast<std::size_t>(share * static_cast<double>(ms_.size() - 1))];
  }

 private:
  static MethodSpec resolved(const Json& written) {
    Json scenario = {{"methods", {written}}};
    PythonSteps().expand(scenario, LONGHAUL_SOURCE_DIR "/scenarios/methods/python");
    const Json& expanded = scenario["methods"][0];
    const Method& like = method_named(expanded["name"]);
    std::vector<Node> options = common_method_options(like.optimizer);
    options.insert(options.end(), like.options.begin(), like.options.end());
    return {like.name, like.name, resolve(section("", options), expanded, "method")};
  }
  static OperationPlan planned(const MethodSpec& method, std::int64_t parameters) {
    OperationPlan plan = method_named(method.name).plan(method, {parameters, {}});
    plan.keeps = rows_kept_by(method);
    return plan;
  }

  const MethodSpec method_;
  const OperationPlan plan_;
  const PlanContext context_;
  const std::unique_ptr<Update> update_;
  Arena arena_;
  ExchangeLog log_;
  Replicas all_;
  OperationRunner runner_;
  std::vector<double> ms_;
};

}  // namespace
}  // namespace longhaul

int main(int argc, char** argv) {
  const int threads = argc > 3 ? std::atoi(argv[3]) : longhaul::available_threads();
  std::vector<std::pair<int, int>> sizes;
  for (const int parameters : {71000, 1000000, 10000000})
    for (const int replicas : {8, 32}) sizes.emplace_back(parameters, replicas);
  if (argc > 2) sizes = {{std::atoi(argv[1]), std::atoi(argv[2])}};
  std::printf("an outer step with %d threads, the fastest of %d and the median, ms\n", threads,
              longhaul::kRounds);
  const std::unique_ptr<longhaul::Backend> backend = longhaul::make_thread_backend(threads);
  for (const auto& [parameters, replicas] : sizes)
    for (const std::string name : {"diloco", "noloco"}) {
      longhaul::Steps cpp({{"name", name}}, parameters, replicas, *backend),
          python({{"name", "python"}, {"file", name + ".py"}}, parameters, replicas, *backend);
      for (int round = 1; round <= longhaul::kRounds; ++round)
        for (longhaul::Steps* steps : {&cpp, &python}) steps->take(round);
      std::printf("%8d parameters, %2d replicas, %s:", parameters, replicas, name.c_str());
      for (const double share : {0., 0.5})
        std::printf(" C++ %.2f, Python %.2f, ratio %.2f%s", cpp.quantile(share), python.quantile(share),
                    python.quantile(share) / cpp.quantile(share), share == 0 ? ";" : "\n");
      std::fflush(stdout);
    }
}
