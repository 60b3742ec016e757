// What a training left, as the trace of its replay: a table with a row less is refused.
#include "cli/replay_job.h"

#include <gtest/gtest.h>

#include "checks/validated_scenario.h"
#include "tests/support/files.h"
#include "tests/support/said.h"

namespace longhaul::replay_job_test {

TEST(FullTrace, RefusesATableOfTheTrainingWithARowLess) {
  const TemporaryFolder folder;
  // Two steps of two replicas; with bits, of two hops of three stages.
  for (const bool of_bits : {false, true}) {
    Json scenario =
        Json::parse(R"({"name": "s", "replicas": 2, "methods": [{"name": "noloco", "inner_steps": 1}],
        "train": {"steps": 2, "batch": 2, "data": {"synthetic": {"tokens": 100000}},
                  "model": {"hidden": 8, "layers": 3, "heads": 2, "ffn": 16, "context": 8}},
        "network": {"topology": {"star": {"rate": "1Gbps", "rtt": "20ms"}}}})");
    if (of_bits)
      scenario["pipeline"] = {{"stages", 3}, {"microbatches", 2}, {"activations", "learned"}};
    else
      scenario["workload"] = {{"step_time", {{"measured", true}}}};
    write_text(folder.file("s.json"), scenario.dump());
    const Case config = validated_scenario(folder.file("s.json"), {}).cases[0];
    const RunLayout layout{folder.path};
    const std::string file =
        layout.training_folder(config) + (of_bits ? "/boundary_bits.csv" : "/step_times.csv");
    std::string rows = of_bits ? "step,replica,hop,bits\n1,0,0,8\n1,0,1,8\n1,1,0,8\n1,1,1,8\n"
                                 "2,0,0,8\n2,0,1,8\n2,1,1,8\n"
                               : "step,replica,compute_s\n1,0,0.5\n1,1,0.5\n2,0,0.5\n";
    write_text(file, rows);
    EXPECT_SAYS(said_by([&] { full_trace(layout, config); }), file + ": lacks a row of step 2 and replica 1");
    write_text(file, rows + (of_bits ? "2,1,0,8\n" : "2,1,0.25\n"));
    const Trace trace = full_trace(layout, config);
    if (of_bits) {
      EXPECT_EQ(trace.bits[1][1], (std::vector<int>{8, 8}));
    }
    if (!of_bits) {
      EXPECT_EQ(trace.measured_s[1][1], 0.25);
    }
  }
}

}  // namespace longhaul::replay_job_test
