// True parameter counts of the paper's set-ups, as counted in its authors' code (SwiGLU, untied, vocabulary
// 128,002): 310 M, 2.14 B, 9.64 B.
#include "core/base/model_shape.h"

#include <gtest/gtest.h>

#include "core/base/errors.h"

namespace longhaul {
namespace {

TEST(ModelShape, PaperPresets) {
  const auto& presets = model_presets();
  ASSERT_EQ(presets.size(), 3u);
  EXPECT_NEAR(presets[0].shape.parameters() / 1e6, 310, 0.5);
  EXPECT_NEAR(presets[1].shape.parameters() / 1e9, 2.14, 0.005);
  EXPECT_NEAR(presets[2].shape.parameters() / 1e9, 9.64, 0.005);
}

// By hand: V 3, h 2, ffn 5, one layer: 2·3·2 + (4·4 + 3·2·5 + 2·2) + 2 = 12 + 50 + 2.
TEST(ModelShape, CountByHand) {
  EXPECT_EQ((ModelShape{2, 1, 1, 5, 8, 3}).parameters(), 64);
}

TEST(ModelShape, HeadsMustDivideHidden) {
  EXPECT_THROW((ModelShape{10, 1, 3, 5, 8, 3}).check("train.model"), InputError);
  EXPECT_THROW((ModelShape{6, 1, 2, 5, 8, 3}).check("train.model"),
               InputError);  // heads 3 wide: rotary needs pairs
  EXPECT_NO_THROW((ModelShape{8, 1, 2, 5, 8, 3}).check("train.model"));
}

// 10^9 · 10^9 · 4 · 65536 would not fit 64 bits.
TEST(ModelShape, HasNoMoreParametersThanAreCounted) {
  EXPECT_THROW((ModelShape{1000000000, 65536, 2, 1000000000, 8, 1000000000}).check("train.model"),
               InputError);
  EXPECT_NO_THROW((ModelShape{65536, 100, 128, 4 * 65536, 8, 128002}).check("train.model"));
}

}  // namespace
}  // namespace longhaul
