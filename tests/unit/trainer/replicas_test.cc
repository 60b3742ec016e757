#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <thread>

#include "core/base/index.h"
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

const auto kGoOn = [](int) { return true; };

// None: the loop.
std::unique_ptr<Backend> backend_of(int threads) {
  return threads == 0 ? make_loop_backend() : make_thread_backend(threads);
}

// What a task leaves behind depends on all that came before it for the same i, and on nothing else.
TEST(BackendRounds, EachGoesThroughAllRoundsInOrderAndAfterSeesThemWhole) {
  constexpr int kCount = 7, kRounds = 40;
  const auto run = [&](int threads) {
    std::uint64_t state[kCount] = {}, at[kRounds][kCount] = {};
    int seen = 0;
    backend_of(threads)->for_each_round(
        kCount, kRounds,
        [&](int round, int i) {
          // Some are slow, now and then.
          if ((round * 5 + i * 3) % 11 == 0) std::this_thread::sleep_for(std::chrono::microseconds(300));
          at[round][i] = state[i] = state[i] * 6364136223846793005u + as_index(round * kCount + i + 1);
        },
        [&](int round) {
          EXPECT_EQ(std::count(at[round], at[round] + kCount, 0u), 0);
          EXPECT_EQ(round, seen++);
          return true;
        });
    EXPECT_EQ(seen, kRounds);
    return std::vector<std::uint64_t>(at[0], at[0] + kRounds * kCount);
  };
  for (int threads : {1, 2, 5, 9}) EXPECT_EQ(run(threads), run(0)) << threads;
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
      kGoOn);
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
      kGoOn);
  EXPECT_LE(most, 4);
  EXPECT_EQ(rounds_of_other, 100);
}

TEST(BackendRounds, AfterAStopAllHaveTakenTheRoundsThatWereSeen) {
  for (int threads : {0, 1, 2, 5})
    for (int stop : {0, 3, 9}) {
      std::atomic<int> taken[6] = {};
      int seen = 0;
      backend_of(threads)->for_each_round(
          6, 10, [&](int, int i) { ++taken[i]; }, [&](int) { return seen++ < stop; });
      EXPECT_GT(seen, stop);
      EXPECT_TRUE(threads > 0 || seen == stop + 1) << seen;
      for (const auto& rounds : taken) EXPECT_EQ(rounds, seen) << threads << " threads, stop " << stop;
    }
}

TEST(BackendRounds, ThrowsWhatTheLowestRoundThrewAfterTheRoundsBeforeIt) {
  for (int threads : {0, 1, 3}) {
    const auto backend = backend_of(threads);
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
          [&](int) { return ++seen > 0; });
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
                   kGoOn),
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
