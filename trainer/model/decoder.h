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

// Where the parts of a layer begin in a row of the arena, as core/base/model_shape.h orders them. Place: a
// pointer into a row, or a column.
template <typename Place>
struct LayerParts {
  Place attention_norm, qkv, attention_output, feed_forward_norm, gate_up, down;
};

// The last norm, before the output, stands where the norm of one more layer would.
template <typename Place>
LayerParts<Place> layer_parts(Place row, const ModelShape& s, int layer) {
  const std::int64_t h = s.hidden, f = s.ffn, v = s.vocabulary;
  LayerParts<Place> at{};
  at.attention_norm = row + v * h + layer * (4 * h * h + 3 * h * f + 2 * h);
  at.qkv = at.attention_norm + h;
  at.attention_output = at.qkv + 3 * h * h;
  at.feed_forward_norm = at.attention_output + h * h;
  at.gate_up = at.feed_forward_norm + h;
  at.down = at.gate_up + 2 * f * h;
  return at;
}

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
