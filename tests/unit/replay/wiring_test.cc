// Who gets the next micro-batch, by hand.
#include "replay/wiring.h"

#include <gtest/gtest.h>

#include <vector>

namespace longhaul::wiring_test {

// Workers of two stages in turn: 0, 2 and 4 hand to 1, 3 and 5.
constexpr int kFirst = 0, kSecond = 2;
const std::vector<int> kNext = {1, 3, 5};

// Of three that nobody knows each gets one, its own replica's first; then they took 1, 2 and 4 s. Work given
// so far is 1 each, and the next one goes to the least of 1 + 1, 1 + 2, 1 + 4; then of 2 + 1, 3, 5, where the
// first of equals is its own replica's again; then of 4, 3, 5.
TEST(Wiring, GivesToWhoHasTheLeastWorkWithIt) {
  Wiring wiring(3, 2);
  for (const int to : kNext) EXPECT_EQ(wiring.choose(kFirst), to);
  wiring.measured(kFirst, 1, 1);
  wiring.measured(kFirst, 3, 2);
  wiring.measured(kFirst, 5, 4);
  for (const int to : {1, 1, 3, 1, 1}) EXPECT_EQ(wiring.choose(kFirst), to);
  EXPECT_EQ(wiring.choose(kSecond), 3) << "each worker knows what it has measured itself";
}

// A fifth of a new measurement: 1, then 1 + 0.2 · (6 − 1) = 2.
TEST(Wiring, AveragesWhatItMeasures) {
  Wiring wiring(2, 2);
  wiring.measured(kFirst, 1, 1);
  wiring.measured(kFirst, 3, 1.5);
  EXPECT_EQ(wiring.choose(kFirst), 1);
  wiring.measured(kFirst, 1, 6);
  EXPECT_EQ(wiring.choose(kFirst), 3) << "1 + 2 against 1.5";
}

// Worker 2 leaves stage 0 for stage 1. While it is away worker 0 has 1, 3 and 5; then it is one of four,
// which counts as having the least work that 0 has given, and as fast as the fastest: 1 s.
TEST(Wiring, AWorkerThatJoinsGetsItsShare) {
  Wiring wiring(3, 2);
  for (const int to : kNext) wiring.measured(kFirst, to, to == 1 ? 1 : 2);
  for (const int to : {1, 1, 3, 5}) EXPECT_EQ(wiring.choose(kFirst), to);  // 2, 2 and 2 s of work
  wiring.leave(kSecond);
  for (const int to : {1, 1, 3, 5}) EXPECT_EQ(wiring.choose(kFirst), to);  // 4 each
  wiring.join(kSecond, 1);
  // 1 would have 5 s, 2 too, 3 and 5 6 s; then 1 6 and 2 5.
  for (const int to : {1, 2, 1, 2, 3, 5}) EXPECT_EQ(wiring.choose(kFirst), to);
}

}  // namespace longhaul::wiring_test
