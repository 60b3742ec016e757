// The decoder that trainings run on the CPU, its sources compiled in float64.
#include <gtest/gtest.h>

#include "tests/unit/trainer/float64/slope.h"
#include "tests/unit/trainer/random_model.h"
#include "tests/unit/trainer/scalar_decoder.h"
#include "trainer/model/cpu_decoder.h"

namespace longhaul::gradient_test {

// The second one's context is longer than a block of queries.
const ModelShape kShapes[] = {{12, 2, 3, 10, 7, 11}, {4, 1, 2, 3, 70, 5}, {4, 1, 2, 256, 5, 5}};

// The differences agree to 9e-10; a factor of 1 + 1e-6 at one term of the backward pass fails.
TEST(Float64Decoder, LossIsTheScalarModelsAndTheGradientItsSlopesTo1e7) {
  for (const ModelShape& shape : kShapes) {
    const float64::CpuDecoder decoder(shape);
    const Batch batch = random_batch(shape, 2);
    std::vector<double> weights = random_weights<double>(shape, 4), gradient(weights.size(), 123.);
    const double exact = ScalarDecoder(shape, weights).loss(batch);
    EXPECT_NEAR(decoder.loss_and_gradient(weights.data(), gradient.data(), batch), exact, 1e-13 * exact);
    EXPECT_NEAR(decoder.loss(weights.data(), batch), exact, 1e-13 * exact);
    for (std::size_t i = 0; i < weights.size(); ++i) {
      const double expected = slope(weights[i], [&] { return decoder.loss(weights.data(), batch); });
      ASSERT_NEAR(gradient[i], expected, 1e-10 + 1e-7 * std::abs(expected)) << "parameter " << i;
    }
  }
}

}  // namespace longhaul::gradient_test
