// Replays that a resumed plan takes from a file: the same to the bit, and of nothing else.
#include "cli/replay_journal.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "core/base/errors.h"
#include "core/plan/trace.h"
#include "tests/support/files.h"
#include "tests/support/said.h"
#include "tests/unit/net/cases.h"

namespace longhaul::replay_journal_test {

const Json kPlan = {{"program", "0.1"}, {"plan", {{"nodes", 4}}}, {"measured", nullptr}};

ReplayTask ring_of_four(const std::string& folder) {
  Case config = star_case(4, 1e8, 0.02);
  config.folder = folder;
  config.workload.steps = 3;
  config.network.fidelity = "analytic";
  config.resolved["network"]["topology"] = {{"regions", {{"matrix", "sites.json"}}}};
  OperationRule rule;
  rule.name = "outer";
  rule.collective = "ring";
  rule.payload = whole({"delta"}, Wire::kBf16);
  return {"a ring", config, make_trace({{rule}}, {1, 4, 3, 100000}), {1, 2, 3}};
}

class ReplayJournalFile : public ::testing::Test {
 protected:
  void SetUp() override {
    write_text(folder_.file("sites.json"), "{}");
    ProgressReporter silent("test", -1, true);
    made_ = ring_of_four(folder_.path);
    replay_here(made_, silent);
    ASSERT_TRUE(made_.times) << made_.error;
  }

  std::string file() const { return folder_.file("replays.jsonl"); }
  // As a resumed plan reads and writes it anew.
  bool knows(ReplayTask task) const {
    return ReplayJournal(file(), kPlan, read_replays(file(), kPlan)).take(task);
  }

  const TemporaryFolder folder_;
  ReplayTask made_;
};

TEST_F(ReplayJournalFile, ATimeIsTheSameToTheBit) {
  // Numbers that no short decimal has.
  ReplayedTimes times = *made_.times;
  times.totals.at(1) = {0.1, 1. / 3, 2e-300, 1LL << 53, 4, 5.5, 6, 7e77, 8, 9, 1e-9, 0.7};
  times.loads.at(0) = {(1LL << 60) + 1, 0.1 + 0.2};
  times.exchanges.push_back({2, 0, 1e-17, 12345.678901234567});
  made_.times = std::make_shared<const ReplayedTimes>(times);
  ReplayJournal(file(), kPlan, {}).add(made_);

  ReplayJournal again(file(), kPlan, read_replays(file(), kPlan));
  EXPECT_EQ(again.taken_over(), 1u);
  ReplayTask task = ring_of_four(folder_.path);
  ASSERT_TRUE(again.take(task));
  EXPECT_EQ(task.times->clocks.of_periods, times.clocks.of_periods);
  EXPECT_EQ(task.times->clocks.end_s, times.clocks.end_s);
  ASSERT_EQ(task.times->totals.size(), times.totals.size());
  for (std::size_t i = 0; i < times.totals.size(); ++i) {
    const ReplicaTotals &one = task.times->totals[i], &other = times.totals[i];
    EXPECT_EQ(one.compute_s, other.compute_s);
    EXPECT_EQ(one.idle_s, other.idle_s);
    EXPECT_EQ(one.clock_s, other.clock_s);
    EXPECT_EQ(one.bytes_sent, other.bytes_sent);
    EXPECT_EQ(one.bubble_s, other.bubble_s);
    EXPECT_EQ(one.stage_wait_s, other.stage_wait_s);
    EXPECT_EQ(one.stage, other.stage);
    EXPECT_EQ(one.inside_wait_s, other.inside_wait_s);
    EXPECT_EQ(one.batch_wait_s, other.batch_wait_s);
    EXPECT_EQ(one.useful_steps, other.useful_steps);
    EXPECT_EQ(one.lost_s, other.lost_s);
    EXPECT_EQ(one.gone_s, other.gone_s);
  }
  ASSERT_EQ(task.times->loads.size(), times.loads.size());
  EXPECT_EQ(task.times->loads[0].bytes, times.loads[0].bytes);
  EXPECT_EQ(task.times->loads[0].busy_s, times.loads[0].busy_s);
  ASSERT_EQ(task.times->exchanges.size(), times.exchanges.size());
  EXPECT_EQ(task.times->exchanges.back().last_done_s, times.exchanges.back().last_done_s);
  EXPECT_EQ(task.times->exchanges.back().first_ready_s, times.exchanges.back().first_ready_s);
}

// A line that says something else than what was written ends what is read.
TEST_F(ReplayJournalFile, AChangedLineIsNotBelieved) {
  ReplayJournal(file(), kPlan, {}).add(made_);
  const std::string whole = read_text(file()), header = whole.substr(0, whole.find('\n') + 1);
  for (const char* line : {"{}", "[]", "{\"key\": 5}", "{\"key\": \"a\", \"times\": {}, \"hash\": \"b\"}"}) {
    write_text(file(), header + line + "\n" + whole.substr(header.size()));
    EXPECT_FALSE(knows(ring_of_four(folder_.path))) << line;
  }
  const std::string clocks = "\"clocks\":[[";
  std::string changed = whole;
  changed.insert(whole.find(clocks) + clocks.size(), "1");
  write_text(file(), changed);
  EXPECT_FALSE(knows(ring_of_four(folder_.path)));
  write_text(file(), whole);
  EXPECT_TRUE(knows(ring_of_four(folder_.path)));
}

// An estimate has the case of its candidate, and a trace with another collective.
TEST_F(ReplayJournalFile, AnotherReplayIsNotTaken) {
  ReplayJournal(file(), kPlan, {}).add(made_);
  EXPECT_TRUE(knows(ring_of_four(folder_.path)));
  ReplayTask moved = ring_of_four(folder_.path);
  moved.config.resolved["folder"] = "/another";
  EXPECT_TRUE(knows(moved));
  ReplayTask estimate = ring_of_four(folder_.path);
  estimate.trace.plan.rules[0].collective = "double-tree-8";
  EXPECT_FALSE(knows(estimate));
  ReplayTask other_steps = ring_of_four(folder_.path);
  other_steps.kept = {2};
  EXPECT_FALSE(knows(other_steps));
  ReplayTask faster = ring_of_four(folder_.path);
  faster.config.resolved["network"]["overrides"] = Json::array({{{"link", "a-b"}, {"up", "1Gbps"}}});
  EXPECT_FALSE(knows(faster));
  write_text(folder_.file("sites.json"), "{\"about\": 1}");
  EXPECT_FALSE(knows(ring_of_four(folder_.path))) << "the network's file is another one";
  ReplayTask traced = made_;
  traced.config.resolved["network"]["variation"]["traces"] =
      Json::array({{{"link", "a-b"}, {"file", "trace.csv"}}});
  write_text(folder_.file("trace.csv"), "0,1e9\n");
  ReplayJournal(file(), kPlan, {}).add(traced);
  EXPECT_TRUE(knows(traced));
  write_text(folder_.file("trace.csv"), "0,2e8\n");
  EXPECT_FALSE(knows(traced)) << "a link's rates are others";
}

TEST_F(ReplayJournalFile, OfAnotherPlanOrCutOff) {
  ReplayJournal(file(), kPlan, {}).add(made_);
  const auto said = [&](const char* key) {
    Json other = kPlan;
    other[key] = "another";
    return said_by([&] { read_replays(file(), other); });
  };
  EXPECT_SAYS(said("plan"), "replays of another plan file");
  EXPECT_SAYS(said("measured"), "replays of other measurements");
  EXPECT_SAYS(said("program"), "replays of another longhaul (0.1; this is another)");
  const std::string whole = read_text(file());
  // Up to the end of each of the last letters: a line counts with its end.
  write_text(file(), whole.substr(0, whole.size() - 1));
  EXPECT_FALSE(knows(ring_of_four(folder_.path)));
  write_text(file(), whole + whole.substr(whole.find('\n') + 1, 100));
  EXPECT_TRUE(knows(ring_of_four(folder_.path)));
  write_text(file(), "");
  EXPECT_FALSE(knows(ring_of_four(folder_.path)));
  write_text(file(), "{}\n");
  EXPECT_SAYS(said("plan"), "no replays that this program can read");
}

}  // namespace longhaul::replay_journal_test
