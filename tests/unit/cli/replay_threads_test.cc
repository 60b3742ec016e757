// Replays of a plan on threads of this process: the times that one after another gives.
#include "cli/replay_threads.h"

#include <gtest/gtest.h>

#include "core/plan/trace.h"
#include "tests/unit/net/cases.h"

namespace longhaul::replay_threads_test {

// Rings of four, of more and more bytes, in fidelities that share nothing but their code.
std::vector<ReplayTask> tasks() {
  std::vector<ReplayTask> tasks;
  for (const char* fidelity : {"flow", "analytic", "linux", "flow", "linux", "flow"}) {
    Case config = star_case(4, 1e8, 0.02);
    config.workload.steps = 3;
    config.network.fidelity = fidelity;
    OperationRule rule;
    rule.name = "outer";
    rule.collective = "ring";
    rule.payload = whole({"delta"}, Wire::kBf16);
    const auto parameters = static_cast<std::int64_t>(100000 * (tasks.size() + 1));
    tasks.push_back({fidelity, config, make_trace({{rule}}, {1, 4, 3, parameters}), {1, 2, 3}});
  }
  return tasks;
}

TEST(ReplayThreads, GiveWhatOneAfterAnotherGives) {
  std::vector<ReplayTask> alone = tasks();
  ProgressReporter silent("test", -1, true);
  for (ReplayTask& task : alone) replay_here(task, silent);
  for (const int threads : {1, 3, 16}) {
    std::vector<ReplayTask> together = tasks();
    LiveDisplay display(/*quiet=*/true);
    replay_on_threads(together, threads, "", display);
    for (std::size_t i = 0; i < alone.size(); ++i) {
      ASSERT_TRUE(alone[i].times && together[i].times) << alone[i].error << together[i].error;
      EXPECT_EQ(together[i].times->clocks.of_periods, alone[i].times->clocks.of_periods);
      EXPECT_EQ(together[i].times->clocks.end_s, alone[i].times->clocks.end_s);
      EXPECT_GT(alone[i].times->clocks.end_s, 3) << "three steps of a second and their exchanges";
    }
  }
}

// What is wrong with one of them is said of that one.
TEST(ReplayThreads, KeepErrorsApart) {
  std::vector<ReplayTask> some = tasks();
  some[1].config.network.fidelity = "packet";
  LiveDisplay display(/*quiet=*/true);
  replay_on_threads(some, 2, "", display);
  EXPECT_FALSE(some[1].times);
  EXPECT_NE(some[1].error.find("packet"), std::string::npos) << some[1].error;
  EXPECT_TRUE(some[0].times && some[2].times && some[5].times);
}

}  // namespace longhaul::replay_threads_test
