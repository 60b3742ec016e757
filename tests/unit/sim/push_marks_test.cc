// Which segments carry PSH, on histories of a few segments.
#include <gtest/gtest.h>

#include <vector>

#include "sim/network/host_acks.h"

namespace longhaul::push_marks_test {

// The segments, of 10 bytes each and in order, that arrive with a mark, by their ends.
std::vector<int> marked(PushMarks& marks, int end) {
  std::vector<int> found;
  for (int at = 10; at <= end; at += 10)
    if (marks.take(at)) found.push_back(at);
  return found;
}

// Segments of 10 bytes from `begin` on that leave together.
void send_burst(PushMarks& marks, int begin, int count, double now_s) {
  for (int i = 0; i < count; ++i) marks.sent(begin + 10 * i, begin + 10 * (i + 1), now_s);
}

TEST(PushMarks, TheLastOfThoseThatLeaveTogether) {
  PushMarks marks;
  send_burst(marks, 0, 3, 1);
  EXPECT_EQ(marked(marks, 30), std::vector<int>{30});
}

TEST(PushMarks, NoneOnOneThatLeavesAlone) {
  PushMarks marks;
  send_burst(marks, 0, 1, 1);
  send_burst(marks, 10, 1, 2);
  EXPECT_TRUE(marked(marks, 20).empty());
}

// Two bursts and a lone segment have left before the first one arrives.
TEST(PushMarks, OfSeveralBurstsUnderWay) {
  PushMarks marks;
  send_burst(marks, 0, 2, 1);
  send_burst(marks, 20, 3, 2);
  send_burst(marks, 50, 1, 3);
  EXPECT_EQ(marked(marks, 60), (std::vector<int>{20, 50}));
}

// Bytes 0 … 10 are sent again at the moment when bytes 20 … 40 leave: the repetition is no part of that
// burst.
TEST(PushMarks, ARepetitionIsABurstOfItsOwn) {
  PushMarks marks;
  send_burst(marks, 0, 1, 1);
  send_burst(marks, 10, 1, 2);
  send_burst(marks, 0, 1, 3);
  send_burst(marks, 20, 2, 3);
  EXPECT_EQ(marked(marks, 40), std::vector<int>{40});
}

}  // namespace longhaul::push_marks_test
