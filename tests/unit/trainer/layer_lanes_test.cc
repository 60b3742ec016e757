// The functions over rows by 32 lanes, each row in packs, against one lane that goes through it number by
// number: what a warp of a GPU does, without one.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/base/random.h"
#include "tests/unit/trainer/lane_launch.h"
#include "trainer/model/layer_operators.h"

namespace longhaul::layer_lanes_test {

// One number after the other, nothing kept.
template <typename Work>
void one_by_one(const Work& work, std::int64_t rows) {
  HostLaunch().rows(rows, layer::InPacks<Work, 1, 0>{work});
}

template <typename Number>
class Rows : public testing::Test {
 protected:
  using Numbers = std::vector<Number>;

  Numbers random(std::int64_t count) {
    Numbers numbers(static_cast<std::size_t>(count));
    for (Number& number : numbers) store(number, static_cast<float>(stream_.normal()));
    return numbers;
  }
  std::vector<float> random_floats(std::int64_t count) {
    std::vector<float> numbers(static_cast<std::size_t>(count));
    for (float& number : numbers) number = static_cast<float>(stream_.normal());
    return numbers;
  }

  // Sums in another order, which may tip a rounding to bf16.
  template <typename Element>
  static void expect_near(const std::vector<Element>& found, const std::vector<Element>& expected,
                          const char* what) {
    const double relative = sizeof(Element) == 2 ? 8e-3 : 2e-5;
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i)
      ASSERT_NEAR(load(found[i]), load(expected[i]), relative * (std::abs(load(expected[i])) + 0.1))
          << what << " at " << i;
  }

  const LaunchedLayerOperators<Number, testing_lanes::LaneLaunch> lanes_{{}};
  RandomStream stream_{3, Purpose::kInitialWeights, 1};
};

using NumberTypes = testing::Types<float, Bf16>;
TYPED_TEST_SUITE(Rows, NumberTypes);

// No pack; a few lanes at work; a last pack of some lanes; three and four packs a lane; more than are kept.
constexpr std::int64_t kWidths[] = {7, 12, 264, 776, 1000, 2304};
constexpr std::int64_t kReplicas = 2, kRowsOfOne = 5, kRows = kReplicas * kRowsOfOne;

TYPED_TEST(Rows, AddNormIsThatOfOneLane) {
  for (const std::int64_t width : kWidths)
    for (const bool adds : {false, true}) {
      const std::vector<float> x = this->random_floats(kRows * width), w = this->random_floats(2 * width + 8);
      const std::vector<TypeParam> y = this->random(kRows * width);
      std::vector<float> sums[2], scales[2];
      std::vector<TypeParam> normed[2];
      for (int i = 0; i < 2; ++i) {
        sums[i].assign(x.size(), 0), normed[i].resize(x.size()), scales[i].resize(kRows);
        const layer::AddNorm<TypeParam> work{x.data(),
                                             adds ? y.data() : nullptr,
                                             w.data(),
                                             sums[i].data(),
                                             normed[i].data(),
                                             scales[i].data(),
                                             width + 8,
                                             kRowsOfOne,
                                             width,
                                             1e-5f};
        i == 0 ? one_by_one(work, kRows) : this->lanes_.run(work, kRows);
      }
      this->expect_near(sums[1], sums[0], "sum");
      this->expect_near(normed[1], normed[0], "normed");
      this->expect_near(scales[1], scales[0], "scale");
    }
}

TYPED_TEST(Rows, NormBackwardIsThatOfOneLane) {
  for (const std::int64_t width : kWidths)
    for (const bool accumulates : {false, true}) {
      const std::int64_t slices = 3;
      const std::vector<float> x = this->random_floats(kRows * width), w = this->random_floats(2 * width + 8),
                               scale = this->random_floats(kRows),
                               before = this->random_floats(kRows * width);
      const std::vector<TypeParam> dy = this->random(kRows * width);
      std::vector<float> dx[2], partial[2];
      std::vector<TypeParam> narrow[2];
      for (int i = 0; i < 2; ++i) {
        dx[i] = before, narrow[i].resize(x.size());
        partial[i].assign(static_cast<std::size_t>(kReplicas * slices * width), 123.f);
        const layer::NormBackward<TypeParam> work{
            dy.data(),         x.data(),  w.data(),   scale.data(), dx[i].data(), narrow[i].data(),
            partial[i].data(), width + 8, kRowsOfOne, slices,       width,        accumulates};
        i == 0 ? one_by_one(work, kReplicas * slices) : this->lanes_.run(work, kReplicas * slices);
      }
      this->expect_near(dx[1], dx[0], "dx");
      this->expect_near(narrow[1], narrow[0], "narrow");
      this->expect_near(partial[1], partial[0], "partial sums");
    }
}

TYPED_TEST(Rows, CrossEntropyIsThatOfOneLane) {
  for (const std::int64_t classes : kWidths) {
    const std::vector<TypeParam> logits = this->random(kRows * classes);
    std::vector<std::int64_t> tokens;
    for (std::int64_t i = 0; i < kReplicas * (kRowsOfOne + 1); ++i) tokens.push_back(i * 5 % classes);
    std::vector<TypeParam> gradients[2];
    std::vector<float> losses[2];
    for (int i = 0; i < 2; ++i) {
      gradients[i] = logits, losses[i].resize(kRows);
      const layer::Embed places{nullptr,        tokens.data(), nullptr,    0,
                                kRowsOfOne + 1, kRowsOfOne,    kRowsOfOne, 1};
      const layer::CrossEntropy<TypeParam> work{places, gradients[i].data(), losses[i].data(), classes, 2.f};
      i == 0 ? one_by_one(work, kRows) : this->lanes_.run(work, kRows);
    }
    this->expect_near(losses[1], losses[0], "losses");
    this->expect_near(gradients[1], gradients[0], "gradients");
  }
}

TYPED_TEST(Rows, SwigluAndItsGradientAreThoseOfOneLane) {
  for (const std::int64_t width : kWidths) {
    const std::vector<TypeParam> gate_up = this->random(kRows * 2 * width), dy = this->random(kRows * width);
    std::vector<TypeParam> active[2], gradient[2];
    for (int i = 0; i < 2; ++i) {
      active[i].resize(dy.size()), gradient[i] = gate_up;
      const layer::Swiglu<TypeParam> forward{gate_up.data(), active[i].data(), width};
      const layer::SwigluBackward<TypeParam> backward{dy.data(), gradient[i].data(), width};
      i == 0 ? one_by_one(forward, kRows) : this->lanes_.run(forward, kRows);
      i == 0 ? one_by_one(backward, kRows) : this->lanes_.run(backward, kRows);
    }
    this->expect_near(active[1], active[0], "active");
    this->expect_near(gradient[1], gradient[0], "gradient");
  }
}

// Queries and keys turned in place, and split into heads; the way back from both layouts undoes it, since a
// turn back by the same angle is the inverse.
TYPED_TEST(Rows, HeadsAreThoseOfOneLaneInBothLayouts) {
  constexpr std::int64_t kContext = 5, kHeads = 3;
  for (const std::int64_t width : {14, 24, 64}) {
    const std::int64_t hidden = kHeads * width;
    std::vector<float> cosine, sine;
    for (std::int64_t i = 0; i < kContext * width / 2; ++i) {
      cosine.push_back(std::cos(0.3f * static_cast<float>(i)));
      sine.push_back(std::sin(0.3f * static_cast<float>(i)));
    }
    const std::vector<TypeParam> qkv = this->random(kRows * 3 * hidden);
    const layer::Heads by_head{kContext, kHeads, width, false}, by_token{kContext, kHeads, width, true};
    std::vector<TypeParam> turned[2], back[2], rows[2];
    std::vector<TypeParam> split[2][3];
    for (int i = 0; i < 2; ++i) {
      const auto run = [&](const auto& work) {
        i == 0 ? one_by_one(work, kRows) : this->lanes_.run(work, kRows);
      };
      turned[i] = qkv, back[i].resize(qkv.size()), rows[i].resize(qkv.size() / 3);
      for (auto& part : split[i]) part.resize(qkv.size() / 3);
      run(layer::TurnHeads<TypeParam>{by_token, turned[i].data(), cosine.data(), sine.data(), 0.5f});
      run(layer::SplitHeads<TypeParam>{by_head, qkv.data(), split[i][0].data(), split[i][1].data(),
                                       split[i][2].data(), cosine.data(), sine.data(), 0.5f});
      run(layer::JoinHeads<TypeParam>{by_head, split[i][0].data(), split[i][1].data(), split[i][2].data(),
                                      back[i].data(), cosine.data(), sine.data(), 2.f});
      run(layer::MoveHeads<TypeParam>{by_head, split[i][2].data(), rows[i].data(), false});
    }
    this->expect_near(turned[1], turned[0], "turned");
    for (int part = 0; part < 3; ++part) this->expect_near(split[1][part], split[0][part], "split");
    this->expect_near(back[1], back[0], "joined");
    // Heads of head order hold what token order holds, at its own place.
    for (std::int64_t row = 0; row < kRows; ++row)
      for (std::int64_t i = 0; i < hidden; ++i)
        for (int part = 0; part < 3; ++part)
          ASSERT_EQ(load(split[1][part][static_cast<std::size_t>(by_head.place(row, i / width) + i % width)]),
                    load(turned[1][static_cast<std::size_t>(row * 3 * hidden + part * hidden + i)]));
    // Turned, halved, turned back and doubled.
    for (std::size_t i = 0; i < qkv.size(); ++i)
      ASSERT_NEAR(load(back[1][i]), load(qkv[i]), sizeof(TypeParam) == 2 ? 4e-2 : 1e-5);
    for (std::int64_t row = 0; row < kRows; ++row)
      for (std::int64_t i = 0; i < hidden; ++i)
        ASSERT_EQ(load(rows[1][static_cast<std::size_t>(row * hidden + i)]),
                  load(qkv[static_cast<std::size_t>(row * 3 * hidden + 2 * hidden + i)]));
  }
}

// Tokens that come back within and across the stretches that a team looks at together. Whole numbers, so that
// no order of the sums matters; what was there stays.
TEST(LanesOfARow, AddUpTheGradientsOfEqualTokens) {
  constexpr std::int64_t kClasses = 9, kTokens = 150;
  for (const std::int64_t width : {7, 12, 264, 2304}) {
    std::vector<std::int32_t> tokens;
    std::vector<float> dx, found(static_cast<std::size_t>(2 * (kClasses * width + 4)), 5), expected = found;
    for (std::int64_t row = 0; row < 2 * kTokens; ++row) {
      tokens.push_back(static_cast<std::int32_t>(row < 20 ? 3 : row * row % kClasses));
      for (std::int64_t i = 0; i < width; ++i) {
        dx.push_back(static_cast<float>((row * 7 + i) % 11));
        expected[static_cast<std::size_t>(row / kTokens * (kClasses * width + 4) + tokens.back() * width +
                                          i)] += dx.back();
      }
    }
    const layer::EmbeddingGradient work{tokens.data(),        dx.data(), found.data(),
                                        kClasses * width + 4, kTokens,   width};
    std::vector<float> serial = found;
    LaunchedLayerOperators<Bf16, testing_lanes::LaneLaunch>({}).run(work, 2 * kTokens);
    EXPECT_EQ(found, expected) << "width " << width;
    layer::EmbeddingGradient again = work;
    again.gradient = serial.data();
    one_by_one(again, 2 * kTokens);
    EXPECT_EQ(serial, expected) << "width " << width;
  }
}

// 1 + 2 + … + n = n(n + 1)/2 for the first replica, n more for each number of the second.
TEST(LanesOfABlock, AddUpLosses) {
  constexpr std::int64_t kCount = 1000;
  std::vector<float> losses;
  for (std::int64_t i = 0; i < 2 * kCount; ++i)
    losses.push_back(static_cast<float>(i < kCount ? i + 1 : i - kCount + 2));
  double total[2] = {1, 1};
  testing_lanes::LaneLaunch().blocks(2, layer::SumLosses{losses.data(), total, kCount, 2., true});
  EXPECT_EQ(total[0], 1 + 1000. * 1001);
  EXPECT_EQ(total[1], 1 + 1000. * 1001 + 2000);
}

}  // namespace longhaul::layer_lanes_test
