#include <map>

#include "analysis/exports/exports.h"
#include "analysis/exports/timeline_writer.h"
#include "core/base/errors.h"
#include "tests/unit/analysis/run_fixture.h"

namespace longhaul::timeline_test {

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
    write_timeline(folder.path, {TimelineFormat::kJson, maximum});
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

TEST_F(Timeline, FaultsAreDrawnWhereTheyStrike) {
  write_replay(folder.path);
  write_text(folder.path + "/faults.csv",
             "fault,kind,subject,begin_s,end_s\n0,slow,replica 1,0.5,1.5\n1,slow,replica 1,1,2\n"
             "2,site,tokyo,0,1\n2,site,tokyo,2,3\n");
  std::map<std::pair<int, int>, double> seconds;  // by process and lane
  std::map<int, std::string> names;
  const Json drawn = timeline();
  for (const Json& event : drawn["traceEvents"]) {
    if (event["name"] == "process_name") names[event["pid"]] = event["args"]["name"];
    if (event["ph"] == "X" && event["tid"] >= 100 && event["tid"] < 1000)
      seconds[{event["pid"], event["tid"]}] += event["dur"].get<double>() / 1e6;
  }
  EXPECT_EQ(seconds, (std::map<std::pair<int, int>, double>{{{1, 100}, 1}, {{1, 101}, 1}, {{2, 100}, 2}}));
  EXPECT_EQ(names[2], "network");
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

// Replica 0 sends 1000 bytes to 1 and, while that goes on, to 2; later once more to 1. Rates: 1000 bytes in 1
// ms are 8 Mb/s, in 2 ms 4 Mb/s.
constexpr const char* kTransfers =
    "step,exchange,from,to,start_s,done_s,bytes\n"
    "2,outer,0,1,0.001,0.002,1000\n2,outer,0,2,0.001,0.003,1000\n4,outer,0,1,0.002,0.004,1000\n";

std::vector<Json> events_of(const Json& timeline, const std::string& kind) {
  std::vector<Json> events;
  for (const Json& event : timeline["traceEvents"])
    if (event["ph"] == kind) events.push_back(event);
  return events;
}

TEST_F(Timeline, GivesMessagesThatOverlapLanesOfTheirOwn) {
  write_replay(folder.path);
  write_text(folder.path + "/transfers.csv", kTransfers);
  std::vector<std::pair<int, double>> sent;  // lane and start
  for (const Json& event : events_of(timeline(), "X"))
    if (event["cat"] == "send") sent.push_back({event["tid"], event["ts"]});
  EXPECT_EQ(sent, (std::vector<std::pair<int, double>>{{kSend, 1000}, {kSend + 1, 1000}, {kSend, 2000}}));
}

TEST_F(Timeline, DrawsAnArrowFromEachSenderToItsReceiver) {
  write_replay(folder.path);
  write_text(folder.path + "/transfers.csv", kTransfers);
  const Json drawn = timeline();
  const std::vector<Json> tails = events_of(drawn, "s"), heads = events_of(drawn, "f");
  ASSERT_EQ(tails.size(), 3u);
  ASSERT_EQ(heads.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(tails[i]["id"], heads[i]["id"]);
    EXPECT_EQ(tails[i]["pid"], 0);
    EXPECT_EQ(heads[i]["pid"], i == 1 ? 2 : 1);
  }
  EXPECT_EQ(tails[2]["ts"], 2000);
  EXPECT_EQ(heads[2]["ts"], 3999.999);  // inside of the slice that ends at 4000
}

TEST_F(Timeline, CountsTheLoadOfAccessLinks) {
  write_replay(folder.path);
  write_text(folder.path + "/transfers.csv", kTransfers);
  std::vector<std::pair<double, double>> sending;
  for (const Json& event : events_of(timeline(), "C"))
    if (event["pid"] == 0) sending.push_back({event["ts"], event["args"]["Mb/s"]});
  EXPECT_EQ(sending, (std::vector<std::pair<double, double>>{{1000, 12}, {2000, 8}, {3000, 4}, {4000, 0}}));
}

TEST_F(Timeline, SaysWhichMessagesAreLeftOut) {
  write_replay(folder.path);
  write_text(folder.path + "/transfers.csv", kTransfers);
  write_text(folder.path + "/replay.json", R"({"transfers": 7})");
  EXPECT_EQ(timeline()["otherData"]["transfers"], "single messages are the first 3 of 7");
  EXPECT_NE(read_text(folder.path + "/log.txt").find("timeline.json: single messages are the first 3 of 7"),
            std::string::npos);
}

// gzip's magic number, and the same text inside.
TEST_F(Timeline, IsCompressedOnDemand) {
  write_replay(folder.path);
  const Json plain = timeline();
  write_timeline(folder.path, {TimelineFormat::kGzip, kMaximumSlices});
  EXPECT_FALSE(std::filesystem::exists(folder.path + "/timeline.json"));
  const std::string file = folder.path + "/timeline.json.gz";
  EXPECT_EQ(read_text(file).substr(0, 2), "\x1f\x8b");
  gzFile in = gzopen(file.c_str(), "rb");
  std::string text(1 << 20, 0);
  text.resize(static_cast<std::size_t>(gzread(in, text.data(), static_cast<unsigned>(text.size()))));
  gzclose(in);
  EXPECT_EQ(Json::parse(text), plain);
  write_timeline(folder.path, {TimelineFormat::kNone, kMaximumSlices});
  EXPECT_FALSE(std::filesystem::exists(file));
}

// A long replay holds the clocks of evaluations only: the exchanges say when compute ended in between.
TEST_F(Timeline, NeedsOnlyTheStepsWithAnEvaluation) {
  write_replay(folder.path);
  write_text(folder.path + "/steps.csv", "step,replica,computed_s,done_s\n4,0,6,8\n4,1,7.5,8.5\n");
  const Slices slices = slices_of(timeline());
  EXPECT_DOUBLE_EQ(total_us(slices.at({0, "compute"})), 4e6);
  EXPECT_DOUBLE_EQ(total_us(slices.at({1, "compute"})), 6e6);
}

}  // namespace longhaul::timeline_test
