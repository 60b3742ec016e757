// The real clock: what runs in which order. How late it is depends on the machine and is not tested.
#include "emulation/real_clock.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace longhaul::real_clock_test {

TEST(RealClock, RunsActionsByTimeAndThoseOfOneTimeInTheirOrderUntilItIsStopped) {
  RealClock clock;
  std::string order;
  clock.after_ns(2000000, [&] { order += 'c', clock.stop(); });
  clock.after_ns(2000000, [&] { order += 'd'; });
  clock.after_ns(1000000, [&] { order += 'a'; });
  clock.after_ns(1000000, [&] { order += 'b'; });
  clock.run();
  EXPECT_EQ(order, "abc");
  EXPECT_GE(clock.now_ns(), 2000000);
}

TEST(RealClock, TimeStandsStillWithinAnActionAndADelayBelowZeroIsNone) {
  RealClock clock;
  std::int64_t begun_ns = -1, ended_ns = -2, next_ns = -3;
  clock.after_ns(0, [&] {
    begun_ns = clock.now_ns();
    usleep(2000);
    ended_ns = clock.now_ns();
    clock.after_ns(-5, [&] { next_ns = clock.now_ns(); });
  });
  clock.run();
  EXPECT_EQ(begun_ns, ended_ns);
  EXPECT_GE(next_ns, ended_ns);
}

// Without actions it waits for what is awaited, and for nothing else.
TEST(RealClock, AwaitsInputAndEndsWithoutAny) {
  RealClock clock;
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  int inputs = 0;
  clock.watch(pipe_ends[0], [&] {
    char byte;
    ASSERT_EQ(read(pipe_ends[0], &byte, 1), 1);
    ++inputs;
    clock.got_input();
  });
  clock.run();
  EXPECT_EQ(inputs, 0);
  clock.await_input();
  clock.after_ns(1000000, [&] { ASSERT_EQ(write(pipe_ends[1], "x", 1), 1); });
  clock.run();
  EXPECT_EQ(inputs, 1);
  for (const int end : pipe_ends) close(end);
}

}  // namespace longhaul::real_clock_test
