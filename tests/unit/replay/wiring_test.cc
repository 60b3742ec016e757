// Who gets the next micro-batch, by hand.
#include "replay/wiring.h"

#include <gtest/gtest.h>

namespace longhaul {
namespace {

// Of three that nobody knows each gets one, its own replica's first; then they took 1, 2 and 4 s. Work given
// so far is 1 each, and the next one goes to the least of 1 + 1, 1 + 2, 1 + 4; then of 2 + 1, 3, 5, where the
// first of equals is its own replica's again; then of 4, 3, 5.
TEST(Wiring, GivesToWhoHasTheLeastWorkWithIt) {
  Wiring wiring(3, 2);
  for (const int peer : {0, 1, 2}) EXPECT_EQ(wiring.choose(0, 0), peer);
  wiring.measured(0, 0, 0, 1);
  wiring.measured(0, 0, 1, 2);
  wiring.measured(0, 0, 2, 4);
  for (const int peer : {0, 0, 1, 0, 0}) EXPECT_EQ(wiring.choose(0, 0), peer);
  EXPECT_EQ(wiring.choose(1, 0), 1) << "each worker knows what it has measured itself";
}

// In the long run as many as their speeds say: of 70, 40, 20 and 10.
TEST(Wiring, SharesByThroughput) {
  Wiring wiring(3, 1);
  for (const int peer : {0, 1, 2}) wiring.measured(0, 0, peer, 1 << peer);
  int count[3] = {};
  for (int i = 0; i < 70; ++i) ++count[wiring.choose(0, 0)];
  EXPECT_EQ(count[0], 40);
  EXPECT_EQ(count[1], 20);
  EXPECT_EQ(count[2], 10);
}

// A fifth of a new measurement: 1, then 1 + 0.2 · (6 − 1) = 2.
TEST(Wiring, AveragesWhatItMeasures) {
  Wiring wiring(2, 1);
  wiring.measured(0, 0, 0, 1);
  wiring.measured(0, 0, 1, 1.5);
  EXPECT_EQ(wiring.choose(0, 0), 0);
  wiring.measured(0, 0, 0, 6);
  EXPECT_EQ(wiring.choose(0, 0), 1) << "1 + 2 against 1.5";
}

}  // namespace
}  // namespace longhaul
