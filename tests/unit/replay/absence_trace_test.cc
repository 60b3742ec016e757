// Files that say when replicas are gone, and what is said of files that do not.
#include "replay/absence_trace.h"

#include <gtest/gtest.h>

#include "tests/support/said.h"

namespace longhaul::absence_trace_test {

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

TEST(AbsenceTrace, WhatIsWrongIsSaidWithItsLine) {
  const std::string header = "replica,left_s,back_s\n";
  EXPECT_EQ(error_of(""), ": has no rows; a header line, replica,left_s,back_s, and rows");
  EXPECT_EQ(error_of(header), ": has no rows; a header line, replica,left_s,back_s, and rows");
  EXPECT_EQ(error_of("replica,left_s\n0,1\n"),
            "line 1: found the columns replica, left_s; replica, left_s, back_s");
  EXPECT_EQ(error_of("replica,left_s,back\n0,1,2\n"),
            "line 1: found the column \"back\"; replica, left_s, back_s");
  EXPECT_EQ(error_of(header + "0,1\n"), "line 2: has 2 cells; as many as the header: 3");
  EXPECT_EQ(error_of(header + "4,1,2\n"), "line 2, column replica: found 4; a replica, 0 … 3");
  EXPECT_EQ(error_of(header + "-1,1,2\n"), "line 2, column replica: found -1; a replica, 0 … 3");
  EXPECT_EQ(error_of(header + "0.5,1,2\n"), "line 2, column replica: found 0.5; a replica, 0 … 3");
  EXPECT_EQ(error_of(header + ",1,2\n"), "line 2, column replica: the cell is empty; a replica, 0 … 3");
  EXPECT_EQ(error_of(header + "0,,2\n"), "line 2, column left_s: the cell is empty; a time in seconds");
  EXPECT_EQ(error_of(header + "0,-1,2\n"), "line 2, column left_s: found -1; seconds from 0 to 1e+09");
  EXPECT_EQ(error_of(header + "0,1,1e300\n"), "line 2, column back_s: found 1e+300; seconds from 0 to 1e+09");
  EXPECT_EQ(error_of(header + "0,soon,\n"),
            "line 2, column left_s: found \"soon\"; seconds, or a duration as \"90min\"");
  EXPECT_EQ(error_of(header + "0,1;2,\n"), "line 2, column left_s: found \"1;2\"; a number");
  EXPECT_EQ(error_of(header + "0,2,2\n"),
            "line 2, column back_s: found 2; more than left_s, 2, or an empty cell: it does not come back");
}

TEST(AbsenceTrace, AbsencesOfOneReplicaFollowEachOther) {
  const std::string header = "replica,left_s,back_s\n";
  EXPECT_EQ(error_of(header + "0,1,5\n1,2,3\n0,4.5,6\n"),
            "line 4, column left_s: found 4.5; not before replica 0 is back in line 2: 5");
  EXPECT_EQ(error_of(header + "0,5,6\n0,1,2\n"),
            "line 3, column left_s: found 1; not before replica 0 is back in line 2: 6");
  EXPECT_EQ(error_of(header + "0,1,\n0,5,6\n"),
            "line 3, column replica: replica 0 does not come back in line 2; no row behind that one");
}

}  // namespace longhaul::absence_trace_test
