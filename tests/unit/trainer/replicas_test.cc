#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <stdexcept>

#include "core/errors.h"
#include "trainer/exchange_log.h"
#include "trainer/replicas/arena.h"
#include "trainer/replicas/backend.h"
#include "trainer/replicas/spread.h"

namespace longhaul {
namespace {

TEST(Arena, HasFourBytesPerParameterReplicaAndSlot) {
  Arena arena(kSlotsWithOuterOptimizer, 3, 1000);
  EXPECT_EQ(arena.bytes(), 4 * 6 * 3 * 1000);
  EXPECT_EQ(arena.row(Slot::kGradient, 2), arena.row(Slot::kGradient, 0) + 2000);
  EXPECT_EQ(arena.row(Slot::kOuterMomentum, 2)[999], 0.f);
  EXPECT_FALSE(Arena(kSlotsOfInnerOptimizer, 1, 1).has(Slot::kSlowWeights));
}

// A sanitizer's own allocator ends the program instead.
#ifndef __SANITIZE_ADDRESS__
TEST(Arena, TooLargeIsAnErrorOfTheRun) {
  EXPECT_THROW(Arena(6, 1 << 20, std::int64_t{1} << 40), RunError);
}
#endif

TEST(Backend, EveryTaskRunsOnceOnAnyNumberOfThreads) {
  for (int threads : {1, 2, 5}) {
    const auto backend = make_thread_backend(threads);
    for (int round = 0; round < 50; ++round) {
      std::vector<std::atomic<int>> ran(23);
      backend->for_each(23, [&](int task) { ++ran[static_cast<std::size_t>(task)]; });
      for (const auto& count : ran) EXPECT_EQ(count, 1);
    }
  }
}

TEST(Backend, ThrowsWhatTheLowestTaskThrew) {
  for (const auto& backend : {make_loop_backend(), make_thread_backend(3)}) {
    try {
      backend->for_each(20, [](int task) {
        if (task % 7 == 3) throw std::runtime_error(std::to_string(task));
      });
      FAIL();
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "3");
    }
    int sum = 0;  // and goes on
    backend->for_each(1, [&](int) { ++sum; });
    EXPECT_EQ(sum, 1);
  }
}

TEST(Spread, IsTheRootOfTheMeanSquaredDeviation) {
  // Two replicas at -1 and 3 in the first of two columns: deviations 2 and 2, mean over 4 weights: sqrt(8/4).
  Arena arena(1, 2, 2);
  arena.row(Slot::kWeights, 0)[0] = -1;
  arena.row(Slot::kWeights, 1)[0] = 3;
  float mean[2];
  EXPECT_DOUBLE_EQ(weight_spread(arena, Slot::kWeights, *make_loop_backend(), mean), std::sqrt(2.));
  EXPECT_EQ(mean[0], 1.f);
  EXPECT_FALSE(rows_are_equal(arena, Slot::kWeights));
}

TEST(Spread, IsZeroForEqualRowsOfAnyNumber) {
  Arena arena(1, 7, 3000);
  for (int r = 0; r < 7; ++r)
    for (int i = 0; i < 3000; ++i) arena.row(Slot::kWeights, r)[i] = 0.1f * static_cast<float>(i);
  std::vector<float> mean(3000);
  EXPECT_EQ(weight_spread(arena, Slot::kWeights, *make_thread_backend(2), mean.data()), 0);
  EXPECT_TRUE(rows_are_equal(arena, Slot::kWeights));
  EXPECT_EQ(mean[2999], arena.row(Slot::kWeights, 3)[2999]);
}

TEST(ExchangeLog, AddsUpWhatOneParticipantSent) {
  ExchangeLog log;
  log.begin(5, "outer");
  log.group({0, 1});
  for (int replica : {0, 1}) {
    log.sent(replica, "delta", 8);
    log.sent(replica, "phi", 8);
  }
  log.end();
  ASSERT_EQ(log.records().size(), 1u);
  EXPECT_EQ(log.records()[0].bytes, 16);
  EXPECT_EQ(log.records()[0].tensors, (std::vector<std::string>{"delta", "phi"}));
}

}  // namespace
}  // namespace longhaul
