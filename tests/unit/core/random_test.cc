// Philox against the known answers published with Random123 (kat_vectors, philox4x32 with ten rounds).
#include "core/base/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace longhaul::random_test {

TEST(Philox, KnownAnswers) {
  EXPECT_EQ(philox4x32({0, 0, 0, 0}, {0, 0}),
            (PhiloxCounter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox4x32({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
            (PhiloxCounter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox4x32({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (PhiloxCounter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(RandomStream, EveryPartOfItsNameChangesIt) {
  const std::set<std::uint64_t> first = {RandomStream(1, Purpose::kTrainingData, 0, 0).bits64(),
                                         RandomStream(2, Purpose::kTrainingData, 0, 0).bits64(),
                                         RandomStream(1ull << 32 | 1, Purpose::kTrainingData, 0, 0).bits64(),
                                         RandomStream(1, Purpose::kGroups, 0, 0).bits64(),
                                         RandomStream(1, Purpose::kTrainingData, 1, 0).bits64(),
                                         RandomStream(1, Purpose::kTrainingData, 0, 1).bits64()};
  EXPECT_EQ(first.size(), 6u);
}

// The mean of n uniforms has standard deviation sqrt(1/12n); of n normals 1/sqrt(n); five of them are
// allowed.
TEST(RandomStream, MomentsOfUniformAndNormal) {
  RandomStream stream(7, Purpose::kStepTime);
  const int n = 200000;
  double uniform = 0, normal = 0, square = 0;
  for (int i = 0; i < n; ++i) {
    uniform += stream.uniform();
    const double z = stream.normal();
    normal += z;
    square += z * z;
  }
  EXPECT_NEAR(uniform / n, 0.5, 5 * std::sqrt(1. / 12 / n));
  EXPECT_NEAR(normal / n, 0, 5 / std::sqrt(n));
  EXPECT_NEAR(square / n, 1, 5 * std::sqrt(2. / n));
}

TEST(RandomStream, BelowStaysBelowAndReachesAll) {
  RandomStream stream(5, Purpose::kTrainingData);
  std::vector<int> counts(7);
  for (int i = 0; i < 7000; ++i) ++counts.at(stream.below(7));
  for (int count : counts) EXPECT_NEAR(count, 1000, 5 * std::sqrt(1000. * 6 / 7));
}

TEST(RandomPermutation, IsAPermutationAndUniform) {
  int first_is_zero = 0;
  for (int step = 0; step < 3000; ++step) {
    RandomStream stream(11, Purpose::kGroups, 0, static_cast<std::uint32_t>(step));
    std::vector<int> order = random_permutation(5, stream);
    first_is_zero += order[0] == 0;
    std::sort(order.begin(), order.end());
    EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4}));
  }
  EXPECT_NEAR(first_is_zero, 600, 5 * std::sqrt(600 * 0.8));
}

}  // namespace longhaul::random_test
