// An average in several operations (OperationRule::sizes): one after another, or handed over at once to a
// library that runs two at a time. Times by closed form on an idle star, and beside those that torch 2.15's
// Gloo took in emulated worlds (results/reference/libraries/rows.csv, all_reduce_many).
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "net/library.h"
#include "net/tcp/framing.h"
#include "replay/predict/estimate.h"
#include "tests/unit/replay/replayed.h"

namespace longhaul::many_operations_test {

using Sizes = std::vector<std::int64_t>;  // numbers of fp32

constexpr double kLatency = 0.05;

enum class Order { kOneByOne, kTogether };

OperationRule rule_in(const Sizes& sizes, Order order, const std::string& collective = kLibraryChoice) {
  OperationRule rule = rule_of(collective);
  rule.payload = whole({"delta"}, Wire::kFp32);
  rule.sizes = sizes;
  rule.together = order == Order::kTogether;
  return rule;
}

Trace average_trace(const OperationRule& rule, int members) {
  return make_trace({{rule}},
                    {1, members, 1, std::accumulate(rule.sizes.begin(), rule.sizes.end(), std::int64_t{0})});
}

Case star_of(const std::string& library, int members, double rate) {
  Case config = star_case(members, rate, 2 * kLatency);
  config.network.library = library;
  return config;
}

double average_s(const std::string& library, int members, double rate, const Sizes& sizes, Order order) {
  return walked(star_of(library, members, rate), average_trace(rule_in(sizes, order), members)).sync_time_s();
}

// One all-reduce over Gloo of so many numbers, s of a segment (net/libraries/gloo.cc).
double gloo_s(int members, std::int64_t numbers, double rate) {
  const double s = 8 * 4 * static_cast<double>(numbers) / (2 * members) / (rate * payload_share(1448));
  return members == 2 ? 2 * (2 * kLatency + 2 * s)
                      : 2 * ((members - 1) * std::max(2 * s, 2 * kLatency + s) + s);
}

TEST(ManyOperations, EachPaysItsRoundTripsAndTwoRunAtATime) {
  for (const int members : {2, 4, 8})
    for (const int count : {5, 6}) {
      const Sizes sizes(static_cast<std::size_t>(count), 1000);
      const double one_s = gloo_s(members, 1000, 5e7), all_s = gloo_s(members, count * 1000, 5e7);
      const auto expect_s = [&](double took_s, double expected_s) {
        EXPECT_NEAR(took_s, expected_s, 0.02 * expected_s) << count << " among " << members;
      };
      expect_s(average_s("gloo", members, 5e7, sizes, Order::kOneByOne), count * one_s);
      expect_s(average_s("gloo", members, 5e7, sizes, Order::kTogether), (count + 1) / 2 * one_s);
      expect_s(average_s("gloo", members, 5e7, {count * 1000}, Order::kTogether), all_s);
    }
}

// Medians of the measured calls, round trip 100 ms.
TEST(ManyOperations, TakeAsLongAsGlooTook) {
  struct Measured {
    int members;
    double rate;
    int count;
    std::int64_t numbers;  // of each vector
    double one_by_one_s, together_s, flat_s;
  };
  const Measured measured[] = {{2, 5e7, 6, 1000, 1.220, 0.617, 0.206},
                               {4, 5e7, 6, 1000, 3.662, 1.839, 0.621},
                               {4, 5e7, 30, 1000, 18.26, 9.142, 0.644},
                               {4, 5e7, 30, 65536, 19.61, 9.877, 2.256},
                               {8, 2.5e7, 6, 1000, 8.522, 4.316, 1.431}};
  for (const Measured& row : measured) {
    const Sizes sizes(static_cast<std::size_t>(row.count), row.numbers);
    const auto expect_s = [&](double took_s, double measured_s, const char* how) {
      EXPECT_NEAR(took_s / measured_s, 1, 0.05)
          << how << ", " << row.count << " of " << row.numbers << " among " << row.members;
    };
    expect_s(average_s("gloo", row.members, row.rate, sizes, Order::kOneByOne), row.one_by_one_s,
             "one by one");
    expect_s(average_s("gloo", row.members, row.rate, sizes, Order::kTogether), row.together_s, "together");
    expect_s(average_s("gloo", row.members, row.rate, {row.count * row.numbers}, Order::kTogether),
             row.flat_s, "flat");
  }
}

// What accelerate's LocalSGD sends of a LLaMA of 16 layers, 8 wide, so of hardly any bytes: 146 tensors,
// each of which takes seven round trips twice.
TEST(ManyOperations, ALlamaOf16LayersTakes204SecondsTensorByTensor) {
  Sizes sizes = {32 * 8};
  for (int layer = 0; layer < 16; ++layer)
    for (const std::int64_t numbers : {8, 64, 64, 64, 64, 8, 128, 128, 128}) sizes.push_back(numbers);
  sizes.push_back(8);
  ASSERT_EQ(sizes.size(), 146u);
  EXPECT_NEAR(average_s("gloo", 8, 2.5e7, sizes, Order::kOneByOne), 204, 0.02 * 204);
  EXPECT_NEAR(average_s("gloo", 8, 2.5e7, sizes, Order::kTogether), 102, 0.02 * 102);
  const std::int64_t all = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
  EXPECT_NEAR(average_s("gloo", 8, 2.5e7, {all}, Order::kTogether), 1.4, 0.02 * 1.4);
}

// Each of two workers takes the next operation when it is free.
TEST(ManyOperations, AFreeWorkerTakesTheNextOne) {
  const Sizes sizes = {500000, 50000, 50000, 300000, 100000, 20000};
  double free_s[2] = {0, 0};
  for (const std::int64_t numbers : sizes) *std::min_element(free_s, free_s + 2) += gloo_s(2, numbers, 2e7);
  const double expected_s = std::max(free_s[0], free_s[1]);
  EXPECT_NEAR(average_s("gloo", 2, 2e7, sizes, Order::kTogether), expected_s, 0.02 * expected_s);
}

// Without workers of a library "together" is one after another: messages of 5 s, two of each operation.
TEST(ManyOperations, OfNoLibraryFollowEachOther) {
  const Trace trace = average_trace(rule_in({1000, 2000, 4000}, Order::kTogether, "direct"), 2);
  const Replayed replayed = walked(drawn_case(2, 5, 0), trace);
  expect_row(replayed, 1, 0, 1, 1, 1 + 3 * 2 * 5);
  EXPECT_EQ(replayed.row(1, 0).bytes, 4 * 7000) << "half of each, twice";
  EXPECT_EQ(replayed.report["transfers"], 3 * 4);
  EXPECT_EQ(estimate(drawn_case(2, 5, 0), trace).transfers, 3 * 4);
  EXPECT_EQ(estimate(drawn_case(2, 5, 0), trace).payload_bytes, 2 * 4 * 7000);
}

// Steps of 12 s, of whose second half buckets of 6, 3 and 3 MB are released at 7.2, 9.6 and 12 s: each takes
// two messages of half of it at 1 MB/s.
TEST(ManyOperations, UnequalBucketsGoWhenTheyAreReleased) {
  OperationRule rule = rule_in({2, 1, 1}, Order::kOneByOne, "direct");
  rule.overlap_backward = 0.5;
  rule.buckets = 3;
  rule.releases = {0.4, 0.2, 0};
  Case config = mesh_case(2, 8e6 / payload_share(1448), 2 * kLatency);
  config.workload.step_time.seconds = 12;
  const Replayed replayed = walked(config, make_trace({{rule}}, {1, 2, 1, 3000000}));
  EXPECT_NEAR(replayed.row(1, 0).done_s, 7.2 + 6 + 3 + 3 + 3 * 2 * kLatency, 1e-6);
  EXPECT_NEAR(replayed.row(1, 0).ready_s, 12, 1e-9);
}

// The third of three is ten seconds late: after a grace of one second the other two do both operations.
TEST(ManyOperations, OfAQuorumAreAmongThoseInTime) {
  OperationRule rule = rule_in({1, 1}, Order::kOneByOne, "direct");
  rule.completion.quorum = 2;
  rule.completion.grace_s = 1;
  Case config = drawn_case(3, 0.5, 0);
  config.workload.step_time_factors = {1, 1, 10};
  const Replayed replayed = walked(config, average_trace(rule, 3));
  EXPECT_DOUBLE_EQ(replayed.row(1, 0).done_s, 1 + 1 + 2 * 2 * 0.5);
  EXPECT_EQ(replayed.row(1, 2).bytes, 0);
}

}  // namespace longhaul::many_operations_test
