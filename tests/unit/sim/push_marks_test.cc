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

TEST(PushMarks, AreOnTheLastOfThoseThatLeaveTogether) {
  struct Burst {
    int begin, count;
    double now_s;
  };
  const struct {
    const char* what;
    std::vector<Burst> bursts;
    int end;
    std::vector<int> expected;
  } cases[] = {
      {"three together", {{0, 3, 1}}, 30, {30}},
      {"two, each alone", {{0, 1, 1}, {10, 1, 2}}, 20, {}},
      {"two bursts and a lone one that all leave first", {{0, 2, 1}, {20, 3, 2}, {50, 1, 3}}, 60, {20, 50}},
      // Bytes 0 … 10 at the moment when bytes 20 … 40 leave: they are no part of that burst.
      {"a repetition", {{0, 1, 1}, {10, 1, 2}, {0, 1, 3}, {20, 2, 3}}, 40, {40}}};
  for (const auto& [what, bursts, end, expected] : cases) {
    PushMarks marks;
    for (const Burst& burst : bursts) send_burst(marks, burst.begin, burst.count, burst.now_s);
    EXPECT_EQ(marked(marks, end), expected) << what;
  }
}

}  // namespace longhaul::push_marks_test
