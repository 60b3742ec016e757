#include "trainer/model/stacked_decoder.h"

#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/base/errors.h"
#include "core/base/index.h"
#include "trainer/device/cuda_device.h"
#include "trainer/device/device_products.h"
#include "trainer/device/flash_attention.h"
#include "trainer/device/torch.h"
#include "trainer/model/decoder.h"
#include "trainer/model/gemm.h"
#include "trainer/model/stacked_pass.h"

namespace longhaul {
namespace {

Setting setting_of(const ModelShape& shape, Device device, Precision precision) {
  Setting setting;
  setting.shape = shape;
  setting.device = torch_device(device);
  const std::int64_t half = shape.hidden / shape.heads / 2;
  setting.flash = StackedDecoder::fuses_attention(shape, device, precision);
  if (device == Device::kCuda && precision == Precision::kBf16 && uses(GpuPart::kLt))
    setting.products = make_device_products();
  const Tensor frequency = at::pow(kRotaryBase, -at::arange(half, at::kDouble) / static_cast<double>(half));
  const Tensor angle = at::outer(at::arange(shape.context, at::kDouble), frequency);
  setting.cosine = angle.cos().to(setting.device, at::kFloat);
  setting.sine = angle.sin().to(setting.device, at::kFloat);
  return setting;
}

// Fused attention is started as a grid of blocks, sequences and heads, of which CUDA takes so many at most.
constexpr std::int64_t kMostSequencesOfFlash = 65535;

int pieces_of_equal_size(int count, std::int64_t most) {
  if (most >= count) return count;
  const int pieces = static_cast<int>((count + most - 1) / most);
  return (count + pieces - 1) / pieces;
}

}  // namespace

class StackedDecoder::Implementation {
 public:
  Implementation(const ModelShape& shape, Device device, Precision precision, std::int64_t memory_limit,
                 Boundaries boundaries)
      : setting_(setting_of(shape, device, precision)), precision_(precision), memory_limit_(memory_limit) {
    setting_.boundaries = std::move(boundaries);
    use_full_precision_sums();
    if (setting_.flash) use_deterministic_attention();
  }

  void run(const StackedBatch& batch, const Piece& piece) const {
    const c10::NoGradGuard no_gradient;
    check_blocks(batch, piece);
    precision_ == Precision::kBf16 ? run_as<Bf16>(batch, piece) : run_as<float>(batch, piece);
  }

  Piece piece_of(int replicas, int sequences, bool with_gradient, bool narrow_is_given) const {
    const Way plain{setting_.flash, false, narrow_is_given}, again{setting_.flash, true, narrow_is_given};
    const auto one_sequence = [&](const Way& way) {
      return workspace_bytes(setting_.shape, precision_, 1, 1, with_gradient, way);
    };
    const bool recomputes =
        memory_limit_ > 0 && one_sequence(plain) > memory_limit_ && one_sequence(again) < one_sequence(plain);
    return piece_of(replicas, sequences, with_gradient, recomputes ? again : plain);
  }

 private:
  Piece piece_of(int replicas, int sequences, bool with_gradient, const Way& way) const {
    const std::int64_t launched = setting_.flash ? kMostSequencesOfFlash : INT64_MAX;  // at a time
    auto bytes = [&](std::int64_t r, std::int64_t s) {
      return workspace_bytes(setting_.shape, precision_, r, s, with_gradient, way);
    };
    const std::int64_t limit = memory_limit_ > 0 ? memory_limit_ : INT64_MAX;
    if (bytes(1, sequences) <= limit && sequences <= launched) {
      const std::int64_t each = std::max<std::int64_t>(1, bytes(2, sequences) - bytes(1, sequences));
      const std::int64_t most = 1 + (limit - bytes(1, sequences)) / each;
      return {pieces_of_equal_size(replicas, std::min(most, launched / sequences)), sequences,
              way.recomputes};
    }
    const std::int64_t fixed = bytes(1, 0), each = bytes(1, 1) - fixed;
    const std::int64_t fitting = std::max<std::int64_t>(1, (limit - fixed) / each);
    return {1, pieces_of_equal_size(sequences, std::min(fitting, launched)), way.recomputes};
  }

  // Blocks begin anew with a piece, and there must be no more of them than a micro-batch has.
  void check_blocks(const StackedBatch& batch, const Piece& piece) const {
    if (!setting_.boundaries.any() || piece.sequences >= batch.sequences) return;
    const std::int64_t numbers =
        std::int64_t{piece.sequences} * setting_.shape.context * setting_.shape.hidden;
    for (const auto* formats : {&setting_.boundaries.activations, &setting_.boundaries.gradients})
      for (int hop = 0; hop < static_cast<int>(setting_.boundaries.before.size()); ++hop)
        if (const auto& codec = formats->at(hop); codec && numbers % codec->block != 0)
          throw InputError("pipeline.block",
                           "found " + std::to_string(codec->block) + ", where memory is enough for " +
                               std::to_string(piece.sequences) + " of " + std::to_string(batch.sequences) +
                               " sequences at a time",
                           "a divisor of " + std::to_string(numbers) + " (sequences · context · hidden)",
                           "or take more micro-batches, which are smaller");
  }

  template <typename Number>
  std::unique_ptr<LayerOperators<Number>> operators() const {
    return setting_.device.is_cuda()
               ? make_device_layer_operators<Number>()
               : std::make_unique<LaunchedLayerOperators<Number, HostLaunch>>(HostLaunch());
  }

  // As the products take them.
  template <typename Number>
  Tensor weights(const StackedBatch& batch, int first, int count) const {
    const std::int64_t p = setting_.shape.parameters();
    if (kType<Number> == at::kBFloat16 && batch.narrow)
      return table(const_cast<Bf16*>(batch.narrow + first * p), count, p, setting_.device);
    return table(const_cast<float*>(batch.weights + first * p), count, p, setting_.device).to(kType<Number>);
  }

  template <typename Number>
  void run_as(const StackedBatch& batch, const Piece& piece) const {
    const ModelShape& shape = setting_.shape;
    const std::int64_t p = shape.parameters();
    const auto operators = this->operators<Number>();
    const double share = 1 / (static_cast<double>(batch.sequences) * shape.context);
    for (int r = 0; r < batch.replicas; r += piece.replicas) {
      const int n = std::min(piece.replicas, batch.replicas - r);
      const float* master = batch.weights + r * p;
      const Tensor weights = this->weights<Number>(batch, r, n);
      for (int s = 0; s < batch.sequences; s += piece.sequences) {
        StackedPass<Number> pass(setting_, *operators, weights, master,
                                 std::min(piece.sequences, batch.sequences - s), piece.recomputes);
        pass.forward(batch.tokens + r * batch.token_stride + s * (shape.context + 1), batch.token_stride,
                     share, batch.gradient != nullptr, batch.losses + r, s > 0);
        if (batch.gradient) pass.backward(batch.gradient + r * p, s > 0);
      }
    }
  }

  Setting setting_;
  Precision precision_;
  std::int64_t memory_limit_;
};

StackedDecoder::StackedDecoder(const ModelShape& shape, Device device, Precision precision,
                               std::int64_t memory_limit, Boundaries boundaries)
    : implementation_(
          std::make_unique<Implementation>(shape, device, precision, memory_limit, std::move(boundaries))) {}
StackedDecoder::~StackedDecoder() = default;

void StackedDecoder::run(const StackedBatch& batch) const {
  implementation_->run(
      batch, piece_of(batch.replicas, batch.sequences, batch.gradient != nullptr, batch.narrow != nullptr));
}

bool StackedDecoder::fuses_attention(const ModelShape& shape, Device device, Precision precision) {
  const int width = shape.hidden / shape.heads;
  return kHasFlashAttention && device == Device::kCuda && precision == Precision::kBf16 && width % 8 == 0 &&
         width <= 256 && uses(GpuPart::kFlash);
}

StackedDecoder::Piece StackedDecoder::piece_of(int replicas, int sequences, bool with_gradient,
                                               bool narrow_is_given) const {
  return implementation_->piece_of(replicas, sequences, with_gradient, narrow_is_given);
}

namespace {

// Bytes that attention takes besides what goes into it and comes out: a token's in each layer, a token's
// once, and once for all.
struct AttentionBytes {
  std::int64_t layer, once, fixed;
};

AttentionBytes attention_bytes(const ModelShape& s, std::int64_t number, bool fused) {
  const std::int64_t heads = s.heads;
  if (!fused) return {number * heads * s.context, 2 * number * heads * s.context, 0};
  // The deterministic backward pass adds up the gradient of the queries in float32, padded to multiples of
  // 32, in as many tables as it takes to give each multiprocessor a head of a sequence.
  constexpr std::int64_t kMultiprocessors = 160;
  const std::int64_t padded = (s.hidden / heads + 31) / 32 * 32;
  return {4 * heads, 4 * heads * (padded + 1), 4 * kMultiprocessors * padded * s.context};
}

}  // namespace

// Per token: the residual stream in float32 twice a layer, and what the products read and write.
std::int64_t StackedDecoder::workspace_bytes(const ModelShape& s, Precision precision, std::int64_t replicas,
                                             std::int64_t sequences, bool with_gradient, const Way& way) {
  const std::int64_t number = precision == Precision::kBf16 ? 2 : 4, h = s.hidden, f = s.ffn;
  const AttentionBytes attention = attention_bytes(s, number, way.fused_attention);
  const std::int64_t layer = 2 * 4 * (h + 1) + number * (6 * h + 3 * f) + attention.layer;
  const std::int64_t once = 4 * 2 * h + number * (8 * h + 3 * f + 2 * s.vocabulary) + attention.once;
  const std::int64_t kept = 4 * h + (way.fused_attention ? number * h + attention.layer : 0);
  const std::int64_t layers = !with_gradient   ? layer
                              : way.recomputes ? layer + kept * s.layers
                                               : layer * s.layers;
  const std::int64_t token = layers + once;
  const std::int64_t weights = number == 4 || way.narrow_is_given ? 0 : number * s.parameters();
  const std::int64_t products =
      with_gradient && number == 2 ? number * std::max<std::int64_t>(h * 3 * h, 2 * f * h) : 0;
  return attention.fixed + replicas * (weights + products + sequences * s.context * token);
}

}  // namespace longhaul
