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

namespace longhaul {

constexpr double kNormEpsilon = 1e-5;
constexpr double kRotaryBase = 10000;

// Sequences of context + 1 tokens each: the model reads the first `context` of them and predicts the last
// `context`.
struct Batch {
  int sequences = 0;
  std::vector<std::int64_t> tokens;  // [sequences, context + 1]
};

// Plain: LibTorch's operators and autograd in float32, for every device, and the reference. Fused: written
// out, on a CPU in float32 cpu_decoder.h, else stacked_decoder.h with one replica.
enum class Operators { kPlain, kFused };

class CpuDecoder;
struct Boundaries;

class Decoder {
 public:
  Decoder(const ModelShape& shape, Device device, Operators operators = Operators::kFused,
          Precision precision = Precision::kFloat32);
  // Of a model in parts, with fused operators: what passes between them, in each call (boundaries.h).
  Decoder(const ModelShape& shape, Device device, Precision precision, const Boundaries& boundaries);
  ~Decoder();

  // Mean cross-entropy in nats per predicted token.
  double loss(const float* weights, const Batch& batch) const;
  // The same, and its gradient: `gradient` [P] is overwritten. Rows are in host memory.
  double loss_and_gradient(const float* weights, float* gradient, const Batch& batch) const;

  // With what passes between parts in this call; of fused operators on a CPU in float32 alone, else a
  // std::logic_error. `rounding`: RoundingEffects, or null.
  double loss(const float* weights, const Batch& batch, const Boundaries& boundaries) const;
  double loss_and_gradient(const float* weights, float* gradient, const Batch& batch,
                           const Boundaries& boundaries, std::vector<double>* rounding) const;

 private:
  class Network;
  class OneOfAStack;

  void fuse(const ModelShape& shape, Device device, Precision precision, const Boundaries& boundaries);

  const CpuDecoder& on_cpu() const;

  std::unique_ptr<CpuDecoder> cpu_;  // or
  std::unique_ptr<OneOfAStack> stack_;
  std::unique_ptr<Network> network_;
};

// Initial weights: the same for every replica, drawn on the host, so that neither device nor number of
// replicas changes them.

// One row [P]: normal(0, 0.02); projections into the residual stream normal(0, 0.02/sqrt(2·layers)), so that
// its variance does not grow with depth (GPT-2, section 2.3); norms 1.
std::vector<float> initial_weights(const ModelShape& shape, std::uint64_t seed);

}  // namespace longhaul
