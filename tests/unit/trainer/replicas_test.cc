#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <thread>

#include "tests/support/said.h"
#include "trainer/replicas/arena.h"
#include "trainer/replicas/backend.h"
#include "trainer/weight_spread.h"

namespace longhaul::replicas_test {

TEST(Arena, HasFourBytesPerParameterReplicaAndSlot) {
  Arena arena(slots_with({"slow_weights", "outer_momentum"}), 3, 1000);
  EXPECT_EQ(arena.bytes(), 4 * 6 * 3 * 1000);
  EXPECT_EQ(arena.row(Slot::kGradient, 2), arena.row(Slot::kGradient, 0) + 2000);
  EXPECT_EQ(arena.row(Slot::kOuterMomentum, 2)[999], 0.f);
  const Arena without(slots_with({}), 1, 1);
  EXPECT_FALSE(without.has(Slot::kSlowWeights));
  EXPECT_THROW(without.row(Slot::kSlowWeights, 0), std::logic_error);
  EXPECT_THROW(without.row(Slot::kWeights, 1), std::logic_error);
}

// A sanitizer's own allocator ends the program instead.
#ifndef __SANITIZE_ADDRESS__
TEST(Arena, TooLargeIsAnErrorOfTheRun) {
  EXPECT_THROW(Arena(slots_with({}), 1 << 20, std::int64_t{1} << 40), RunError);
}
#endif

// What a task leaves behind depends on all that came before it for the same i, and on nothing else.
TEST(BackendRounds, EachGoesThroughAllRoundsInOrderAndAfterSeesThemWhole) {
  constexpr int kCount = 7, kRounds = 40;
  const auto run = [](Backend& backend) {
    std::vector<std::uint64_t> state(kCount, 1);
    std::vector<std::vector<std::uint64_t>> at(kRounds, std::vector<std::uint64_t>(kCount));
    std::vector<int> seen;
    backend.for_each_round(
        kCount, kRounds,
        [&](int round, int i) {
          auto& mine = state[static_cast<std::size_t>(i)];
          // Some are slow, now and then.
          if ((round * 5 + i * 3) % 11 == 0) std::this_thread::sleep_for(std::chrono::microseconds(300));
          mine = mine * 6364136223846793005u + static_cast<std::uint64_t>(round * kCount + i);
          at[static_cast<std::size_t>(round)][static_cast<std::size_t>(i)] = mine;
        },
        [&](int round) {
          EXPECT_EQ(std::count(at[static_cast<std::size_t>(round)].begin(),
                               at[static_cast<std::size_t>(round)].end(), 0u),
                    0);
          seen.push_back(round);
          return true;
        });
    std::vector<int> all(kRounds);
    std::iota(all.begin(), all.end(), 0);
    EXPECT_EQ(seen, all);
    return at;
  };
  const auto expected = run(*make_loop_backend());
  for (int threads : {1, 2, 5, 9}) EXPECT_EQ(run(*make_thread_backend(threads)), expected) << threads;
}

// One that sleeps in round 0 keeps nobody else from round 1: with a meeting after each round this never ends.
TEST(BackendRounds, NobodyWaitsForAnother) {
  std::atomic<int> in_round_1{0};
  make_thread_backend(2)->for_each_round(
      4, 2,
      [&](int round, int i) {
        if (round == 1) ++in_round_1;
        while (round == 0 && i == 0 && in_round_1 == 0) std::this_thread::yield();
      },
      [](int) { return true; });
  EXPECT_EQ(in_round_1, 4);
}

// What is begun has to be finished after a stop.
TEST(BackendRounds, NobodyIsFarAhead) {
  std::atomic<int> rounds_of_other{0};
  int most = 0;
  make_thread_backend(2)->for_each_round(
      2, 100,
      [&](int round, int i) {
        if (i == 1) ++rounds_of_other;
        if (i == 1 || round > 0) return;
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        most = rounds_of_other;
      },
      [](int) { return true; });
  EXPECT_LE(most, 4);
  EXPECT_EQ(rounds_of_other, 100);
}

TEST(BackendRounds, AfterAStopAllHaveTakenTheRoundsThatWereSeen) {
  for (int threads : {0, 1, 2, 5})
    for (int stop : {0, 3, 9}) {
      const auto backend = threads == 0 ? make_loop_backend() : make_thread_backend(threads);
      std::vector<std::atomic<int>> taken(6);
      int seen = 0;
      backend->for_each_round(
          6, 10, [&](int, int i) { ++taken[static_cast<std::size_t>(i)]; },
          [&](int round) {
            ++seen;
            return round < stop;
          });
      EXPECT_GT(seen, stop);
      if (threads == 0) {
        EXPECT_EQ(seen, stop + 1);
      }
      for (const auto& rounds : taken) EXPECT_EQ(rounds, seen) << threads << " threads, stop " << stop;
    }
}

TEST(BackendRounds, ThrowsWhatTheLowestRoundThrewAfterTheRoundsBeforeIt) {
  for (int threads : {0, 1, 3}) {
    const auto backend = threads == 0 ? make_loop_backend() : make_thread_backend(threads);
    int seen = 0;
    const auto error = thrown_by<std::runtime_error>([&] {
      backend->for_each_round(
          5, 9,
          [](int round, int i) {
            if (round == 4 && i >= 2) {
              std::this_thread::sleep_for(std::chrono::milliseconds(5 - i));  // the lowest is the slowest
              throw std::runtime_error(std::to_string(i));
            }
          },
          [&](int) {
            ++seen;
            return true;
          });
    });
    EXPECT_STREQ(error.what(), "2");
    EXPECT_EQ(seen, 4);
    EXPECT_THROW(backend->for_each_round(
                     3, 3, [](int, int) {}, [](int) -> bool { throw RunError("a full disk"); }),
                 RunError);
    int sum = 0;  // and goes on
    backend->for_each(1, [&](int) { ++sum; });
    EXPECT_EQ(sum, 1);
  }
}

TEST(BackendRounds, NothingIsAtWorkAnyMoreWhenAnErrorArrives) {
  std::atomic<bool> is_ahead{false}, has_ended{false};
  const auto backend = make_thread_backend(2);
  EXPECT_THROW(backend->for_each_round(
                   2, 2,
                   [&](int round, int i) {
                     while (round == 0 && i == 0 && !is_ahead) std::this_thread::yield();
                     if (i == 0) throw std::runtime_error("round 0");
                     if (round == 0) return;
                     is_ahead = true;
                     std::this_thread::sleep_for(std::chrono::milliseconds(30));
                     has_ended = true;
                   },
                   [](int) { return true; }),
               std::runtime_error);
  EXPECT_TRUE(has_ended);
}

// Of three replicas the first and the last, at -1 and 3 in the first of two columns, whatever the second
// holds: deviations 2 and 2, mean over 4 weights: sqrt(8/4).
TEST(Spread, IsTheRootOfTheMeanSquaredDeviationOfThoseWhoAreAskedFor) {
  Arena arena({Slot::kWeights}, 3, 2);
  arena.row(Slot::kWeights, 0)[0] = -1;
  arena.row(Slot::kWeights, 1)[1] = 1000;
  arena.row(Slot::kWeights, 2)[0] = 3;
  float mean[2];
  EXPECT_DOUBLE_EQ(weight_spread(one_rank(), arena, Slot::kWeights, {0, 2}, *make_loop_backend(), mean),
                   std::sqrt(2.));
  EXPECT_EQ(mean[0], 1.f);
  EXPECT_EQ(mean[1], 0.f);
  EXPECT_FALSE(rows_are_equal(one_rank(), arena, Slot::kWeights, {0, 2}, mean));
  arena.row(Slot::kWeights, 2)[0] = -1;
  EXPECT_TRUE(rows_are_equal(one_rank(), arena, Slot::kWeights, {0, 2}, mean));
  EXPECT_FALSE(rows_are_equal(one_rank(), arena, Slot::kWeights, {0, 1}, mean));
}

TEST(Spread, IsZeroForEqualRowsOfAnyNumber) {
  Arena arena({Slot::kWeights}, 7, 3000);
  for (int r = 0; r < 7; ++r)
    for (int i = 0; i < 3000; ++i) arena.row(Slot::kWeights, r)[i] = 0.1f * static_cast<float>(i);
  std::vector<float> mean(3000);
  const std::vector<int> all = arena.held().replicas();
  EXPECT_EQ(weight_spread(one_rank(), arena, Slot::kWeights, all, *make_thread_backend(2), mean.data()), 0);
  EXPECT_TRUE(rows_are_equal(one_rank(), arena, Slot::kWeights, all, mean.data()));
  EXPECT_EQ(mean[2999], arena.row(Slot::kWeights, 3)[2999]);
}

}  // namespace longhaul::replicas_test
