// The functions over rows by 32 lanes, each row in packs, against one lane that goes through it number by
// number: what a warp of a GPU does, without one.
#include <gtest/gtest.h>
#include <pthread.h>

#include <algorithm>
#include <cmath>
#include <thread>

#include "core/base/index.h"
#include "core/base/random.h"
#include "trainer/model/layer_operators.h"

namespace longhaul::layer_lanes_test {

// A team of 32 does a row, as a warp of a GPU does it, each lane a thread of its own.
constexpr int kLanes = 32;

struct Shared {
  pthread_barrier_t meeting;
  double values[kLanes] = {};
};

class LaneTeam {
 public:
  LaneTeam(Shared& shared, int lane) : shared_(&shared), lane_(lane) {}
  int lane() const { return lane_; }
  int lanes() const { return kLanes; }
  // Each lane with those that are 16, 8, … 1 away, as WarpTeam.
  template <typename Number>
  Number sum(Number value) const {
    for (int away = 16; away > 0; away /= 2) value += from_lane(value, lane_ ^ away);
    return value;
  }
  float largest(float value) const {
    for (int away = 16; away > 0; away /= 2) value = std::max(value, from_lane(value, lane_ ^ away));
    return value;
  }
  std::uint32_t which(bool says_yes) const {
    shared_->values[lane_] = says_yes ? 1 : 0;
    sync();
    std::uint32_t bits = 0;
    for (int lane = 0; lane < kLanes; ++lane)
      if (shared_->values[lane] > 0) bits |= std::uint32_t{1} << lane;
    sync();
    return bits;
  }
  void sync() const { pthread_barrier_wait(&shared_->meeting); }

 private:
  template <typename Number>
  Number from_lane(Number value, int other) const {
    shared_->values[lane_] = value;
    sync();
    const auto found = static_cast<Number>(shared_->values[other]);
    sync();
    return found;
  }

  Shared* shared_;
  int lane_;
};

struct LaneLaunch : HostLaunch {
  static constexpr int kLanes = layer_lanes_test::kLanes;

  template <typename Work>
  void rows(std::int64_t count, const Work& work) const {
    Shared shared;
    pthread_barrier_init(&shared.meeting, nullptr, kLanes);
    std::vector<std::thread> lanes;
    for (int lane = 0; lane < kLanes; ++lane)
      lanes.emplace_back([&, lane] {
        for (std::int64_t row = 0; row < count; ++row) work(LaneTeam(shared, lane), row);
      });
    for (std::thread& lane : lanes) lane.join();
    pthread_barrier_destroy(&shared.meeting);
  }
  template <typename Work>
  void blocks(std::int64_t count, const Work& work) const {
    rows(count, work);
  }
};

// What one lane leaves and what 32 do, of what was there before.
template <typename Element>
struct Twice {
  Twice(const std::vector<Element>& before) : of{before, before} {}
  explicit Twice(std::int64_t count) : Twice(std::vector<Element>(as_index(count))) {}
  Element* operator[](int i) { return of[i].data(); }

  // Sums in another order, which may tip a rounding to bf16.
  void expect_near(const char* what) const {
    const double relative = sizeof(Element) == 2 ? 8e-3 : 2e-5;
    for (std::size_t i = 0; i < of[0].size(); ++i)
      ASSERT_NEAR(load(of[1][i]), load(of[0][i]), relative * (std::abs(load(of[0][i])) + 0.1))
          << what << " at " << i;
  }

  std::vector<Element> of[2];
};

// By one lane, one number after the other, nothing kept (0); or by 32 (1).
template <typename Number, typename Work>
void run(int i, std::int64_t rows, const Work& work) {
  if (i == 0)
    HostLaunch().rows(rows, layer::InPacks<Work, 1, 0>{work});
  else
    LaunchedLayerOperators<Number, LaneLaunch>({}).run(work, rows);
}

struct Draws {
  template <typename Element>
  std::vector<Element> of(std::int64_t count) {
    std::vector<Element> numbers(as_index(count));
    for (Element& number : numbers) store(number, static_cast<float>(stream.normal()));
    return numbers;
  }
  RandomStream stream{3, Purpose::kInitialWeights, 1};
};

template <typename Number>
class Rows : public testing::Test {};

using NumberTypes = testing::Types<float, Bf16>;
TYPED_TEST_SUITE(Rows, NumberTypes);

// No pack; a few lanes at work; a last pack of some lanes; three and four packs a lane; more than are kept.
constexpr std::int64_t kWidths[] = {7, 12, 264, 776, 1000, 2304};
constexpr std::int64_t kReplicas = 2, kRowsOfOne = 5, kRows = kReplicas * kRowsOfOne;

TYPED_TEST(Rows, AddNormIsThatOfOneLane) {
  Draws draws;
  for (const std::int64_t width : kWidths)
    for (const bool adds : {false, true}) {
      const auto x = draws.of<float>(kRows * width), w = draws.of<float>(2 * width + 8);
      const auto y = draws.of<TypeParam>(kRows * width);
      const TypeParam* added = adds ? y.data() : nullptr;
      Twice<float> sums(kRows * width), scales(kRows);
      Twice<TypeParam> normed(kRows * width);
      for (const int i : {0, 1})
        run<TypeParam>(i, kRows,
                       layer::AddNorm<TypeParam>{x.data(), added, w.data(), sums[i], normed[i], scales[i],
                                                 width + 8, kRowsOfOne, width, 1e-5f});
      sums.expect_near("sum");
      normed.expect_near("normed");
      scales.expect_near("scale");
    }
}

TYPED_TEST(Rows, NormBackwardIsThatOfOneLane) {
  constexpr std::int64_t kSlices = 3;
  Draws draws;
  for (const std::int64_t width : kWidths)
    for (const bool accumulates : {false, true}) {
      const auto x = draws.of<float>(kRows * width), w = draws.of<float>(2 * width + 8),
                 scale = draws.of<float>(kRows), before = draws.of<float>(kRows * width);
      const auto dy = draws.of<TypeParam>(kRows * width);
      Twice<float> dx(before), partial(std::vector<float>(as_index(kReplicas * kSlices * width), 123.f));
      Twice<TypeParam> narrow(kRows * width);
      for (const int i : {0, 1})
        run<TypeParam>(
            i, kReplicas * kSlices,
            layer::NormBackward<TypeParam>{dy.data(), x.data(), w.data(), scale.data(), dx[i], narrow[i],
                                           partial[i], width + 8, kRowsOfOne, kSlices, width, accumulates});
      dx.expect_near("dx");
      narrow.expect_near("narrow");
      partial.expect_near("partial sums");
    }
}

TYPED_TEST(Rows, CrossEntropyIsThatOfOneLane) {
  Draws draws;
  for (const std::int64_t classes : kWidths) {
    Twice<TypeParam> gradients(draws.of<TypeParam>(kRows * classes));
    Twice<float> losses(kRows);
    std::vector<std::int64_t> tokens;
    for (std::int64_t i = 0; i < kReplicas * (kRowsOfOne + 1); ++i) tokens.push_back(i * 5 % classes);
    const layer::Embed places{nullptr, tokens.data(), nullptr, 0, kRowsOfOne + 1, kRowsOfOne, kRowsOfOne, 1};
    for (const int i : {0, 1})
      run<TypeParam>(i, kRows, layer::CrossEntropy<TypeParam>{places, gradients[i], losses[i], classes, 2.f});
    losses.expect_near("losses");
    gradients.expect_near("gradients");
  }
}

TYPED_TEST(Rows, SwigluAndItsGradientAreThoseOfOneLane) {
  Draws draws;
  for (const std::int64_t width : kWidths) {
    const auto gate_up = draws.of<TypeParam>(kRows * 2 * width), dy = draws.of<TypeParam>(kRows * width);
    Twice<TypeParam> active(kRows * width), gradient(gate_up);
    for (const int i : {0, 1}) {
      run<TypeParam>(i, kRows, layer::Swiglu<TypeParam>{gate_up.data(), active[i], width});
      run<TypeParam>(i, kRows, layer::SwigluBackward<TypeParam>{dy.data(), gradient[i], width});
    }
    active.expect_near("active");
    gradient.expect_near("gradient");
  }
}

// Queries and keys turned in place, and split into heads; the way back from both layouts undoes it, since a
// turn back by the same angle is the inverse.
TYPED_TEST(Rows, HeadsAreThoseOfOneLaneInBothLayouts) {
  constexpr std::int64_t kContext = 5, kHeads = 3;
  Draws draws;
  for (const std::int64_t width : {14, 24, 64}) {
    const std::int64_t hidden = kHeads * width;
    std::vector<float> cosine, sine;
    for (std::int64_t i = 0; i < kContext * width / 2; ++i) {
      cosine.push_back(std::cos(0.3f * static_cast<float>(i)));
      sine.push_back(std::sin(0.3f * static_cast<float>(i)));
    }
    const auto qkv = draws.of<TypeParam>(kRows * 3 * hidden);
    const layer::Heads by_head{kContext, kHeads, width, false}, by_token{kContext, kHeads, width, true};
    const std::vector<TypeParam> third(qkv.size() / 3);
    Twice<TypeParam> turned(qkv), back(kRows * 3 * hidden), rows(third), split[3] = {third, third, third};
    for (const int i : {0, 1}) {
      run<TypeParam>(i, kRows,
                     layer::TurnHeads<TypeParam>{by_token, turned[i], cosine.data(), sine.data(), 0.5f});
      run<TypeParam>(i, kRows,
                     layer::SplitHeads<TypeParam>{by_head, qkv.data(), split[0][i], split[1][i], split[2][i],
                                                  cosine.data(), sine.data(), 0.5f});
      run<TypeParam>(i, kRows,
                     layer::JoinHeads<TypeParam>{by_head, split[0][i], split[1][i], split[2][i], back[i],
                                                 cosine.data(), sine.data(), 2.f});
      run<TypeParam>(i, kRows, layer::MoveHeads<TypeParam>{by_head, split[2][i], rows[i], false});
    }
    turned.expect_near("turned");
    for (const auto& part : split) part.expect_near("split");
    back.expect_near("joined");
    // Heads of head order hold what token order holds, at its own place.
    for (std::int64_t row = 0; row < kRows; ++row)
      for (std::int64_t i = 0; i < hidden; ++i) {
        for (int part = 0; part < 3; ++part)
          ASSERT_EQ(load(split[part][1][by_head.place(row, i / width) + i % width]),
                    load(turned[1][row * 3 * hidden + part * hidden + i]));
        ASSERT_EQ(load(rows[1][row * hidden + i]), load(qkv[as_index(row * 3 * hidden + 2 * hidden + i)]));
      }
    // Turned, halved, turned back and doubled.
    for (std::size_t i = 0; i < qkv.size(); ++i)
      ASSERT_NEAR(load(back[1][i]), load(qkv[i]), sizeof(TypeParam) == 2 ? 4e-2 : 1e-5);
  }
}

// Tokens that come back within and across the stretches that a team looks at together. Whole numbers, so that
// no order of the sums matters; what was there stays.
TEST(LanesOfARow, AddUpTheGradientsOfEqualTokens) {
  constexpr std::int64_t kClasses = 9, kTokens = 150;
  for (const std::int64_t width : {7, 12, 264, 2304}) {
    const std::int64_t stride = kClasses * width + 4;
    std::vector<std::int32_t> tokens;
    std::vector<float> dx, expected(as_index(2 * stride), 5);
    Twice<float> found(expected);
    for (std::int64_t row = 0; row < 2 * kTokens; ++row) {
      tokens.push_back(static_cast<std::int32_t>(row < 20 ? 3 : row * row % kClasses));
      for (std::int64_t i = 0; i < width; ++i) {
        dx.push_back(static_cast<float>((row * 7 + i) % 11));
        expected[as_index(row / kTokens * stride + tokens.back() * width + i)] += dx.back();
      }
    }
    for (const int i : {0, 1})
      run<Bf16>(i, 2 * kTokens,
                layer::EmbeddingGradient{tokens.data(), dx.data(), found[i], stride, kTokens, width});
    for (const std::vector<float>& lanes : found.of) EXPECT_EQ(lanes, expected) << "width " << width;
  }
}

// 1 + 2 + … + n = n(n + 1)/2 for the first replica, n more for each number of the second.
TEST(LanesOfABlock, AddUpLosses) {
  constexpr std::int64_t kCount = 1000;
  std::vector<float> losses;
  for (std::int64_t i = 0; i < 2 * kCount; ++i)
    losses.push_back(static_cast<float>(i < kCount ? i + 1 : i - kCount + 2));
  double total[2] = {1, 1};
  LaneLaunch().blocks(2, layer::SumLosses{losses.data(), total, kCount, 2., true});
  EXPECT_EQ(total[0], 1 + 1000. * 1001);
  EXPECT_EQ(total[1], 1 + 1000. * 1001 + 2000);
}

}  // namespace longhaul::layer_lanes_test
