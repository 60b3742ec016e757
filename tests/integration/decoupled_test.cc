// decoupled-diloco from end to end: the replay says who contributed to which merge, the training follows it.
#include <gtest/gtest.h>

#include "tests/integration/recorded_runs.h"

namespace longhaul::decoupled_test {

const Json kMean = {{"merge", "mean"}};
const Json kFragments = {{"inner_steps", 8}, {"fragments", 2}, {"overlap", 3}};

Json method(const char* name, const char* label, const Json& more = Json::object()) {
  Json json = kFragments;
  json["name"] = name;
  json["label"] = label;
  json.update(more);
  return json;
}

class Decoupled : public RecordedRuns {
 protected:
  Decoupled() : RecordedRuns("decoupled") {}

  Json scenario(const Json& methods, const Json& step_time, const char* rate = "1Gbps") const {
    Json json = small_scenario();
    json["methods"] = methods;
    json["train"]["steps"] = 40;
    json["workload"] = {{"step_time", step_time}};
    json["network"] = {{"topology", {{"star", {{"rate", rate}, {"rtt", "50ms"}}}}}};
    return json;
  }
};

const Json kConstant = {{"constant", "400ms"}},
           kDrawn = {{"lognormal", {{"mean", "400ms"}, {"sigma", 0.05}}}},
           kUneven = {{"lognormal", {{"mean", "400ms"}, {"sigma", 0.5}}}};
const Json kSlow =
    Json::array({{{"kind", "slow"}, {"replicas", "3"}, {"factor", 5}, {"at", "2s"}, {"for", "8s"}}});

// Three steps are longer than a fragment's way and what the replicas are apart: no replica of
// streaming-diloco waits, and merges of all contributions are its means. The same bits come out of replicas
// that are each at a step of their own.
TEST_F(Decoupled, OfAllContributionsIsStreamingWhereNobodyWaits) {
  for (const Json& step_time : {kConstant, kDrawn}) {
    const std::string out = run_scenario(
        step_time.dump(),
        scenario({method("streaming-diloco", "streaming"), method("decoupled-diloco", "all", kMean),
                  method("decoupled-diloco", "endless",
                         {{"merge", "mean"}, {"quorum", 2}, {"grace", "1000000s"}})},
                 step_time));
    EXPECT_EQ(record(out, "streaming")["exposed_s"]["max"], 0) << "the premise";
    for (const char* label : {"all", "endless"}) {
      EXPECT_EQ(losses(out, label), losses(out, "streaming")) << label << " " << step_time;
      EXPECT_EQ(record(out, label)["simulated_time_s"], record(out, "streaming")["simulated_time_s"]);
    }
  }
}

// Where replicas of streaming-diloco do wait, those without slack do so too.
TEST_F(Decoupled, WithoutSlackIsStreamingWhateverTheTimes) {
  const std::string out = run_scenario(
      "uneven", scenario({method("streaming-diloco", "streaming"),
                          method("decoupled-diloco", "no slack", {{"merge", "mean"}, {"slack", 0}}),
                          method("decoupled-diloco", "all", kMean)},
                         kUneven, "20Mbps"));
  EXPECT_GT(record(out, "streaming")["exposed_s"]["max"], 0) << "the premise";
  EXPECT_EQ(losses(out, "no slack"), losses(out, "streaming"));
  EXPECT_NE(losses(out, "all"), losses(out, "streaming"));
  EXPECT_EQ(record(out, "all")["exposed_s"]["max"], 0) << "no replica waits";
  EXPECT_EQ(record(out, "all")["idle_fraction"]["max"], 0);
}

// One replica is five times slower for a while: merges go on without it, its own contributions come later,
// and nobody waits.
TEST_F(Decoupled, ASlowReplicaIsMergedLate) {
  Json json = scenario(Json::array({method("decoupled-diloco", "quorum", {{"quorum", 3}, {"grace", "0s"}})}),
                       kConstant);
  json["faults"] = kSlow;
  const std::string out = run_scenario("slow", json);
  const std::vector<Json> merges = schedule(out, "quorum");
  int without = 0, late = 0;
  for (std::size_t line = 1; line < merges.size(); ++line) {
    int slow = 0, newest = 0;
    for (const Json& entry : merges[line]["contributions"]) {
      if (entry[0] == 3) slow = entry[1];
      newest = std::max(newest, entry[1].get<int>());
    }
    without += slow == 0;
    late += slow > 0 && slow < newest;
  }
  EXPECT_GT(without, 0);
  EXPECT_GT(late, 0);
  EXPECT_EQ(record(out, "quorum")["idle_fraction"]["max"], 0);
}

}  // namespace longhaul::decoupled_test
