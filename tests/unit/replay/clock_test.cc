// Nanoseconds in 63 bits are 292 years: 9.22e9 s.
#include "replay/network/clock.h"

#include <gtest/gtest.h>

#include "core/base/errors.h"
#include "replay/flow/flow_clock.h"

namespace longhaul::clock_test {

template <typename AnyClock>
void expect_bounded(AnyClock& clock) {
  EXPECT_THROW(clock.after(1e10, [] {}), RunError) << "317 years";
  EXPECT_THROW(clock.after(1e300, [] {}), RunError);
  EXPECT_THROW(clock.after_ns(-1, [] {}), std::logic_error);
  bool is_late = false;
  clock.after(5e9, [&] {
    EXPECT_THROW(clock.after(5e9, [] {}), RunError) << "twice 158 years";
    is_late = true;
  });
  clock.run();
  EXPECT_TRUE(is_late);
  EXPECT_EQ(clock.now_s(), 5e9);
}

TEST(Clocks, EndAt292Years) {
  EventQueue queue;
  expect_bounded(queue);
  FlowEventQueue flow;
  expect_bounded(flow);
}

}  // namespace longhaul::clock_test
