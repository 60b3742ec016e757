// Replicas that are slow for a while, by hand; and files that say when replicas are gone, and what is said of
// files that do not.
#include "replay/faults.h"

#include <gtest/gtest.h>

#include "replay/absence_trace.h"
#include "tests/support/faults.h"
#include "tests/support/said.h"
#include "tests/unit/replay/replayed.h"

namespace longhaul::faults_test {

FaultTimes once(double at_s, double for_s) {
  return {at_s, 0, for_s};
}

// Replicas that take 1 s a step, four of them; messages take no time.
Case two_replicas() {
  Case config = drawn_case(2, 0, 0);
  config.workload.steps = 4;
  return config;
}

// Ten times slower from 2.5 s to 7.5 s: half of the third step is done at 2.5, the other half at 7.5.
const Fault kSlow = slow_fault(0, {0, 0}, 10, once(2.5, 5));

TEST(SlowReplicas, ComputeIsStretchedWhereItIsSlow) {
  const SlowReplicas slow({kSlow}, 1, 2);
  EXPECT_EQ(slow.stretched_s(1, 0, 3), 3) << "another replica";
  EXPECT_EQ(slow.stretched_s(0, 0, 2.5), 2.5);
  EXPECT_NEAR(slow.stretched_s(0, 2, 1), 0.5 + 5, 1e-9);
  EXPECT_NEAR(slow.stretched_s(0, 3, 0.1), 1, 1e-9);
  EXPECT_NEAR(slow.stretched_s(0, 7, 1), 0.5 + 0.95, 1e-9);
  EXPECT_NEAR(slow.stretched_s(0, 0, 4), 2.5 + 5 + 1, 1e-9);
  EXPECT_EQ(slow.stretched_s(0, 8, 1), 1);
  // Factors of several faults multiply.
  const SlowReplicas slower({kSlow, slow_fault(1, {0, 1}, 2, once(0, 4))}, 1, 2);
  EXPECT_NEAR(slower.stretched_s(0, 3, 0.05), 1, 1e-9) << "20 times";
  EXPECT_NEAR(slower.stretched_s(1, 3, 1), 1 + 0.5, 1e-9);
}

// Whether a step ends with an exchange or all are one event together.
TEST(SlowReplicas, TheOthersWaitWhereTheyExchange) {
  Case config = two_replicas();
  config.faults = {kSlow};
  const Replayed alone = walked(config, make_trace({}, {1, 2, 4, 1000}));
  EXPECT_NEAR(simulated_s(alone), 8.5, 1e-9);
  EXPECT_EQ(alone.files.at("replicas.csv").find("\n1,4,0,4"), alone.files.at("replicas.csv").find("\n1,"));

  const Replayed together = walked(config, make_trace({{rule_of("ring")}}, {1, 2, 4, 1000}));
  EXPECT_NEAR(together.row(3, 0).ready_s, 7.5, 1e-9);
  EXPECT_NEAR(together.row(3, 1).ready_s, 3, 1e-9);
  EXPECT_NEAR(together.row(3, 1).done_s, 7.5, 1e-9);
  EXPECT_NEAR(together.row(4, 1).done_s, 8.5, 1e-9);
  EXPECT_EQ(together.files.at("faults.csv"), "fault,kind,subject,begin_s,end_s\n0,slow,replica 0,2.5,7.5\n");
}

TEST(SlowReplicas, AFaultAfterTheEndChangesNothing) {
  Case config = two_replicas();
  const Trace trace = make_trace({{rule_of("ring", 2)}}, {1, 2, 4, 1000});
  const Replayed without = walked(config, trace);
  config.faults = {slow_fault(0, {0, 1}, 10, once(1000, 5))};
  Replayed with = walked(config, trace);
  EXPECT_EQ(with.files.at("faults.csv"), "fault,kind,subject,begin_s,end_s\n");
  with.files.erase("faults.csv");
  EXPECT_EQ(with.files, without.files);
}

// Two stages, one micro-batch, forward 1 s and back 2 s each: the second worker begins at 1 s and is twice as
// slow from 2 s to 4 s. F1 1-2, B1 2-4 does half, the rest by 5; B0 5-7.
TEST(SlowReplicas, PassesOfAStageToo) {
  Case config = drawn_case(1, 0, 0, false);
  config.pipeline.stages = 2;
  config.workload.step_time.seconds = 6;
  config.faults = {slow_fault(0, {1, 1}, 2, once(2, 2))};
  Trace trace = make_trace({}, {1, 1, 1, 1000});
  trace.plan.pipeline = equal_plan(config.pipeline);
  const Replayed replayed = walked(config, trace);
  EXPECT_NEAR(simulated_s(replayed), 7, 1e-6);
  EXPECT_NE(replayed.files.at("tasks.csv").find("1,1,1,0,backward,2,5"), std::string::npos)
      << replayed.files.at("tasks.csv");
}

constexpr std::int64_t kSecond = 1000000000;

AbsenceTrace absences_of(const std::string& text) {
  return parse_absences(text, "spot.csv", 4);
}

// "line and column: what was found; what is allowed"
std::string error_of(const std::string& text) {
  const InputErrorParts parts = refused_parts([&] { absences_of(text); });
  EXPECT_EQ(parts.file, "spot.csv");
  return parts.path + ": " + parts.found + "; " + parts.allowed;
}

TEST(AbsenceTrace, ARowIsAnAbsence) {
  const AbsenceTrace absences =
      absences_of("# made up\nleft_s, replica, back_s\n\n90, 2, 2min\r\n1.5,0,\n2min,2,0.1h\n");
  ASSERT_EQ(absences.size(), 2u) << "replicas 1 and 3 stay";
  ASSERT_EQ(absences.at(0).size(), 1u);
  EXPECT_EQ(absences.at(0)[0].begin_ns, 1500000000);
  EXPECT_EQ(absences.at(0)[0].end_ns, FaultWindows::kNever);
  ASSERT_EQ(absences.at(2).size(), 2u);
  EXPECT_EQ(absences.at(2)[0].begin_ns, 90 * kSecond);
  EXPECT_EQ(absences.at(2)[0].end_ns, 120 * kSecond);
  EXPECT_EQ(absences.at(2)[1].begin_ns, 120 * kSecond) << "in the moment in which it is back";
  EXPECT_EQ(absences.at(2)[1].end_ns, 360 * kSecond);
}

// Of one replica absences follow each other.
TEST(AbsenceTrace, WhatIsWrongIsSaidWithItsLine) {
  EXPECT_EQ(error_of(""), ": has no rows; a header line, replica,left_s,back_s, and rows");
  EXPECT_EQ(error_of("replica,left_s\n0,1\n"),
            "line 1: found the columns replica, left_s; replica, left_s, back_s");
  EXPECT_EQ(error_of("replica,left_s,back\n0,1,2\n"),
            "line 1: found the column \"back\"; replica, left_s, back_s");
  const std::pair<const char*, const char*> below_a_header[] = {
      {"", ": has no rows; a header line, replica,left_s,back_s, and rows"},
      {"0,1\n", "line 2: has 2 cells; as many as the header: 3"},
      {"4,1,2\n", "line 2, column replica: found 4; a replica, 0 … 3"},
      {"-1,1,2\n", "line 2, column replica: found -1; a replica, 0 … 3"},
      {"0.5,1,2\n", "line 2, column replica: found 0.5; a replica, 0 … 3"},
      {",1,2\n", "line 2, column replica: the cell is empty; a replica, 0 … 3"},
      {"0,,2\n", "line 2, column left_s: the cell is empty; a time in seconds"},
      {"0,-1,2\n", "line 2, column left_s: found -1; seconds from 0 to 1e+09"},
      {"0,1,1e300\n", "line 2, column back_s: found 1e+300; seconds from 0 to 1e+09"},
      {"0,soon,\n", "line 2, column left_s: found \"soon\"; seconds, or a duration as \"90min\""},
      {"0,1;2,\n", "line 2, column left_s: found \"1;2\"; a number"},
      {"0,2,2\n",
       "line 2, column back_s: found 2; more than left_s, 2, or an empty cell: it does not come back"},
      {"0,1,5\n1,2,3\n0,4.5,6\n",
       "line 4, column left_s: found 4.5; not before replica 0 is back in line 2: 5"},
      {"0,5,6\n0,1,2\n", "line 3, column left_s: found 1; not before replica 0 is back in line 2: 6"},
      {"0,1,\n0,5,6\n",
       "line 3, column replica: replica 0 does not come back in line 2; no row behind that one"}};
  for (const auto& [rows, said] : below_a_header)
    EXPECT_EQ(error_of(std::string("replica,left_s,back_s\n") + rows), said);
}

}  // namespace longhaul::faults_test
