// Threads that share loops: each item once, whatever the number of threads, and what it throws.
#include "net/linux/crew.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace longhaul::linux_tcp {

TEST(Crew, EachItemIsDoneOnce) {
  for (const int threads : {1, 2, 3}) {
    Crew crew(threads);
    for (std::size_t count = 0; count < 300; ++count) {
      std::vector<int> times(count);
      crew.run(count, [&](std::size_t item) { ++times[item]; });
      EXPECT_EQ(times, std::vector<int>(count, 1)) << threads;
    }
  }
}

TEST(Crew, ThrowsWhatTheLowestItemThrew) {
  Crew crew(2);
  for (int loop = 0; loop < 20; ++loop) {
    std::vector<int> times(100);
    std::string found;
    try {
      crew.run(times.size(), [&](std::size_t item) {
        ++times[item];
        if (item % 30 == 29) throw std::runtime_error(std::to_string(item));
      });
    } catch (const std::runtime_error& error) {
      found = error.what();
    }
    EXPECT_EQ(found, "29");
    EXPECT_EQ(times, std::vector<int>(100, 1)) << "the others are done";
  }
}

}  // namespace longhaul::linux_tcp
