// Which segments carry PSH, on histories of a few segments.
#include "sim/network/push_marks.h"

#include <gtest/gtest.h>

namespace longhaul {
namespace {

TEST(PushMarks, TheLastOfThoseThatLeaveTogether) {
  PushMarks marks;
  marks.sent(0, 10, 1);
  marks.sent(10, 20, 1);
  marks.sent(20, 30, 1);
  EXPECT_FALSE(marks.take(10));
  EXPECT_FALSE(marks.take(20));
  EXPECT_TRUE(marks.take(30));
}

TEST(PushMarks, NoneOnOneThatLeavesAlone) {
  PushMarks marks;
  marks.sent(0, 10, 1);
  marks.sent(10, 20, 2);
  EXPECT_FALSE(marks.take(10));
  EXPECT_FALSE(marks.take(20));
}

// Two bursts have left before the first one arrives.
TEST(PushMarks, OfSeveralBurstsUnderWay) {
  PushMarks marks;
  for (const int begin : {0, 10}) marks.sent(begin, begin + 10, 1);
  for (const int begin : {20, 30, 40}) marks.sent(begin, begin + 10, 2);
  marks.sent(50, 60, 3);
  EXPECT_FALSE(marks.take(10));
  EXPECT_TRUE(marks.take(20));
  EXPECT_FALSE(marks.take(30));
  EXPECT_TRUE(marks.take(50));
  EXPECT_FALSE(marks.take(60));
}

// Bytes 0 … 10 are sent again at the moment when bytes 20 … 40 leave: the repetition is no part of that
// burst.
TEST(PushMarks, ARepetitionIsABurstOfItsOwn) {
  PushMarks marks;
  marks.sent(0, 10, 1);
  marks.sent(10, 20, 2);
  marks.sent(0, 10, 3);
  marks.sent(20, 30, 3);
  marks.sent(30, 40, 3);
  EXPECT_FALSE(marks.take(20));
  EXPECT_TRUE(marks.take(40));
}

}  // namespace
}  // namespace longhaul
