#include "analysis/timeline.h"

#include <map>

#include "core/errors.h"
#include "tests/unit/analysis/run_fixture.h"

namespace longhaul {
namespace {

struct Slice {
  double start = 0, end = 0;  // µs
};

// By (replica, lane).
using Slices = std::map<std::pair<int, std::string>, std::vector<Slice>>;

Slices slices_of(const Json& timeline) {
  Slices slices;
  for (const Json& event : timeline["traceEvents"])
    if (event["ph"] == "X")
      slices[{event["pid"], event["cat"]}].push_back(
          {event["ts"], event["ts"].get<double>() + event["dur"].get<double>()});
  return slices;
}

double total_us(const std::vector<Slice>& slices) {
  double total = 0;
  for (const Slice& slice : slices) total += slice.end - slice.start;
  return total;
}

class Timeline : public testing::Test {
 protected:
  Json timeline(std::int64_t maximum = kMaximumSlices) {
    write_timeline(folder.path, maximum);
    return Json::parse(read_text(folder.path + "/timeline.json"));
  }
  TemporaryFolder folder;
};

TEST_F(Timeline, ComputeSlicesOfAReplicaAddUpToItsComputeTime) {
  write_replay(folder.path);
  const Slices slices = slices_of(timeline());
  EXPECT_DOUBLE_EQ(total_us(slices.at({0, "compute"})), 4e6);
  EXPECT_DOUBLE_EQ(total_us(slices.at({1, "compute"})), 6e6);
  EXPECT_DOUBLE_EQ(total_us(slices.at({0, "wait"})), 2.5e6);
  EXPECT_EQ(slices.count({1, "wait"}), 0u);
  EXPECT_DOUBLE_EQ(total_us(slices.at({0, "exchange"})), 1.5e6);
  EXPECT_DOUBLE_EQ(total_us(slices.at({1, "exchange"})), 2.5e6);
}

TEST_F(Timeline, SlicesOfALaneDoNotOverlap) {
  write_replay(folder.path, kExchangesWithPresend);
  const Slices slices = slices_of(timeline());
  EXPECT_EQ(slices.count({0, "overlapped exchange"}), 1u);
  for (const auto& [lane, list] : slices)
    for (std::size_t i = 1; i < list.size(); ++i) EXPECT_GE(list[i].start, list[i - 1].end) << lane.second;
}

TEST_F(Timeline, NamesReplicasAndLanes) {
  write_replay(folder.path);
  const std::string text = timeline().dump();
  EXPECT_NE(text.find(R"("name":"replica 1")"), std::string::npos);
  EXPECT_NE(text.find(R"("name":"compute")"), std::string::npos);
}

// 4 steps and 2 outer steps of 2 replicas are 8 + 8 slices; up to the first outer step there are 8.
TEST_F(Timeline, ShowsTheFirstOuterStepsAndSaysSo) {
  write_replay(folder.path);
  const Json sampled = timeline(10);
  EXPECT_NE(sampled["otherData"]["sampled"].get<std::string>().find("the first 1 of 2 outer steps"),
            std::string::npos);
  EXPECT_DOUBLE_EQ(total_us(slices_of(sampled).at({0, "compute"})), 2e6);
  EXPECT_FALSE(timeline()["otherData"].contains("sampled"));
  EXPECT_EQ(timeline(1)["otherData"]["outer_steps"], 1);  // at least one
}

// A long replay holds the clocks of evaluations only: the exchanges say when compute ended in between.
TEST_F(Timeline, NeedsOnlyTheStepsWithAnEvaluation) {
  write_replay(folder.path);
  write_text(folder.path + "/steps.csv", "step,replica,computed_s,done_s\n4,0,6,8\n4,1,7.5,8.5\n");
  const Slices slices = slices_of(timeline());
  EXPECT_DOUBLE_EQ(total_us(slices.at({0, "compute"})), 4e6);
  EXPECT_DOUBLE_EQ(total_us(slices.at({1, "compute"})), 6e6);
}

}  // namespace
}  // namespace longhaul
