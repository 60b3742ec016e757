// A LLaMA-style decoder as a function of one row of weights: RMSNorm (eps 1e-5), rotary embeddings (base
// 10,000, halves rotated as in Hugging Face's layout), causal attention, SwiGLU, untied output, no biases. It
// holds no weights, so that one decoder serves all replicas, from several threads at once.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/base/model_shape.h"
#include "core/scenario/case.h"
#include "trainer/device/device.h"
#include "trainer/model/boundaries.h"

namespace longhaul {

constexpr double kNormEpsilon = 1e-5;
constexpr double kRotaryBase = 10000;

// Sequences of context + 1 tokens each: the model reads the first `context` of them and predicts the last
// `context`.
struct Batch {
  int sequences = 0;
  std::vector<std::int64_t> tokens;  // [sequences, context + 1]
};

class CpuDecoder;
class RowDecoder;

class Decoder {
 public:
  // On a CPU in float32 cpu_decoder.h, else stacked_decoder.h with one replica. `boundaries`: of a model in
  // parts, what passes between them in each call.
  Decoder(const ModelShape& shape, Device device, Precision precision = Precision::kFloat32,
          const Boundaries& boundaries = {});
  ~Decoder();

  // Mean cross-entropy in nats per predicted token.
  double loss(const float* weights, const Batch& batch) const;
  // The same, and its gradient: `gradient` [P] is overwritten. Rows are in host memory.
  double loss_and_gradient(const float* weights, float* gradient, const Batch& batch) const;

  // With what passes between parts in this call; on a CPU in float32 alone, else a std::logic_error.
  // `rounding`: RoundingEffects, or null.
  double loss(const float* weights, const Batch& batch, const Boundaries& boundaries) const;
  double loss_and_gradient(const float* weights, float* gradient, const Batch& batch,
                           const Boundaries& boundaries, std::vector<double>* rounding) const;

 private:
  const CpuDecoder& on_cpu() const;

  std::unique_ptr<CpuDecoder> cpu_;  // or
  std::unique_ptr<RowDecoder> others_;
};

// Initial weights: the same for every replica, drawn on the host, so that neither device nor number of
// replicas changes them.

// One row [P]: normal(0, 0.02); projections into the residual stream normal(0, 0.02/sqrt(2·layers)), so that
// its variance does not grow with depth (GPT-2, section 2.3); norms 1.
std::vector<float> initial_weights(const ModelShape& shape, std::uint64_t seed);

}  // namespace longhaul
