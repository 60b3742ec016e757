#include "trainer/checkpoint/background_write.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

namespace longhaul::background_write_test {

TEST(BackgroundWrites, ComeOneAfterTheOtherAndAreWaitedFor) {
  std::atomic<int> done{0};
  int seen_by_second = -1;
  {
    BackgroundWrite writing;
    writing.start([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      ++done;
    });
    writing.start([&] { seen_by_second = done++; });
  }
  EXPECT_EQ(seen_by_second, 1);
  EXPECT_EQ(done, 2) << "the end of its life waits";
}

TEST(BackgroundWrites, SayWhatWentWrongWhenTheyAreWaitedFor) {
  BackgroundWrite writing;
  writing.start([] { throw std::runtime_error("the disk is full"); });
  EXPECT_THROW(writing.start([] {}), std::runtime_error);
  writing.wait();  // once
}

}  // namespace longhaul::background_write_test
