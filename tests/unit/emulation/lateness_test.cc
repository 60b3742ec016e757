// When the times of a world are called those of the machine. That a relay counts what it does late is tested
// where namespaces may be made (tests/integration/network/emulate_test.cc).
#include "emulation/lateness.h"

#include <gtest/gtest.h>

#include "tests/support/said.h"

namespace longhaul::lateness_test {

// Half a per cent of 1000 packets are five; a tuned host drops none.
TEST(Lateness, IsSaidAboveHalfAPerCentAndOfAnyDrop) {
  EXPECT_EQ(lateness_in_words({0, 0, 0}), "");
  EXPECT_EQ(lateness_in_words({1000, 5, 0}), "");
  EXPECT_SAYS(lateness_in_words({1000, 6, 0}),
              "of 1000 packets 0.6 % were more than 2 ms late and 0 were dropped");
  EXPECT_SAYS(lateness_in_words({1000, 0, 1}),
              "of 1000 packets 0 % were more than 2 ms late and 1 were dropped");
}

}  // namespace longhaul::lateness_test
