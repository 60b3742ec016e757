#include "trainer/model/cpu_decoder.h"

#include <algorithm>
#include <cmath>

#include "core/base/index.h"
#include "trainer/model/gemm.h"
#include "trainer/model/kernels.h"

namespace longhaul {
LONGHAUL_PRECISION_BEGIN
namespace {

// Query rows of one block of the causal products: smaller ones leave out more, larger ones multiply faster.
constexpr std::int64_t kQueryBlock = 64;

// Numbers from one row to the next. Rows whose distance is a multiple of a page, or a large part of one, fall
// into few sets of the first cache, and the products of the weights' gradients walk down columns: 157 instead
// of 188 GFLOP/s with rows of 4096 bytes.
std::int64_t row_stride(std::int64_t width) {
  return width * static_cast<std::int64_t>(sizeof(Scalar)) % 2048 == 0 ? width + 32 : width;
}

// A row of the arena; float or const float.
template <typename Float>
class RowParts {
 public:
  RowParts(Float* row, const ModelShape& shape) : row_(row), shape_(shape) {}

  Float* embedding() const { return row_; }
  LayerParts<Float*> layer(int index) const { return layer_parts(row_, shape_, index); }
  Float* norm() const { return layer(shape_.layers).attention_norm; }
  Float* output() const { return norm() + shape_.hidden; }

 private:
  Float* row_;
  const ModelShape& shape_;
};

using Buffer = std::vector<Scalar>;

// What the backward pass needs of a layer; M rows are all tokens of the batch. What follows from it in one
// pass (the norms' and the feed-forward's output) is computed again there: it would be a third more memory,
// which is beyond the caches and slower to read than to compute.
struct LayerState {
  Buffer x, scale1;  // [M, h], [M]: into attention
  Buffer qkv;        // [M, 3h], q and k turned
  Buffer weights;    // [sequences, heads, T, T]
  Buffer mixed;      // [M, h]
  Buffer middle, scale2;
  Buffer gate_up;  // [M, 2 ffn], rows row_stride(2 ffn) apart
};

}  // namespace

struct CpuDecoder::Workspace {
  std::int64_t sequences = 0;
  std::vector<LayerState> layers;
  Buffer x, scale, logits;  // after the last layer
  Buffer normed, active;    // [M, h], [M, ffn] of the layer at hand, rows of the latter row_stride(ffn) apart
  Buffer d_x, d_normed, d_mixed, d_qkv, d_weights;
  std::vector<Buffer> rounding;  // [hops] of [M, h], where it is asked for: what is read, less what was sent

  void fit(const ModelShape& s, std::int64_t wanted) {
    if (sequences == wanted) return;
    sequences = wanted;
    const auto h = as_index(s.hidden), t = as_index(s.context), m = as_index(wanted) * t;
    layers.resize(as_index(s.layers));
    for (LayerState& layer : layers) {
      for (Buffer* rows : {&layer.x, &layer.mixed, &layer.middle}) rows->resize(m * h);
      layer.scale1.resize(m);
      layer.scale2.resize(m);
      layer.qkv.resize(m * 3 * h);
      layer.weights.resize(m * t * as_index(s.heads));
      layer.gate_up.resize(m * as_index(row_stride(2 * s.ffn)));
    }
    for (Buffer* rows : {&x, &normed, &d_x, &d_normed, &d_mixed}) rows->resize(m * h);
    scale.resize(m);
    logits.resize(m * as_index(s.vocabulary));
    active.resize(m * as_index(row_stride(s.ffn)));
    d_qkv.resize(m * 3 * h);
    d_weights.resize(t * t);
  }
};

// Forward and backward over one batch.
class CpuDecoder::Pass {
 public:
  Pass(const CpuDecoder& decoder, const Scalar* weights, const Batch& batch, const Boundaries& boundaries,
       Workspace& workspace)
      : decoder_(decoder),
        boundaries_(boundaries),
        shape_(decoder.shape_),
        weights_(weights, decoder.shape_),
        batch_(batch),
        work_(workspace),
        heads_{batch.sequences, shape_.context, shape_.heads, shape_.hidden / shape_.heads},
        m_(batch.sequences * std::int64_t{shape_.context}),
        h_(shape_.hidden),
        f_(shape_.ffn),
        v_(shape_.vocabulary),
        feed_forward_{m_, f_, row_stride(2 * f_), row_stride(f_)} {
    work_.fit(shape_, batch.sequences);
  }

  // Before forward(): what backward() writes there (boundaries.h).
  void ask_for(RoundingEffects* rounding) {
    rounding_ = rounding;
    if (!rounding) return;
    rounding->assign(boundaries_.before.size(), 0);
    work_.rounding.resize(boundaries_.before.size());
  }

  // The mean loss; the logits become their gradient.
  double forward() {
    make_logits();
    double total = 0;
    for (std::int64_t sequence = 0; sequence < batch_.sequences; ++sequence)
      total += cross_entropy(shape_.context, v_, tokens(sequence) + 1, 1 / static_cast<Scalar>(m_),
                             work_.logits.data() + sequence * shape_.context * v_);
    return total / static_cast<double>(m_);
  }

  // In place of forward().
  std::vector<double> token_losses() {
    make_logits();
    std::vector<double> losses;
    for (std::int64_t sequence = 0; sequence < batch_.sequences; ++sequence)
      for (std::int64_t t = 0; t < shape_.context; ++t)
        losses.push_back(cross_entropy(1, v_, tokens(sequence) + 1 + t, 1,
                                       work_.logits.data() + (sequence * shape_.context + t) * v_));
    return losses;
  }

  // After forward(): every element of the row `gradient` is written.
  void backward(Scalar* gradient) {
    const RowParts<Scalar> d(gradient, shape_);
    const Scalar* d_logits = work_.logits.data();
    multiply(v_, h_, m_, 1, transposed(d_logits, v_), {work_.normed.data(), h_}, 0, d.output(), h_);
    multiply(m_, h_, v_, 1, {d_logits, v_}, {weights_.output(), h_}, 0, work_.d_normed.data(), h_);
    std::fill(work_.d_x.begin(), work_.d_x.end(), Scalar{0});
    rms_norm_backward(work_.d_normed.data(), work_.x.data(), weights_.norm(), work_.scale.data(), m_, h_,
                      work_.d_x.data(), d.norm());
    cross_back(shape_.layers);
    for (int layer = shape_.layers - 1; layer >= 0; --layer) {
      backward(layer, d.layer(layer));
      cross_back(layer);
    }
    embed_backward(d.embedding());
  }

 private:
  void make_logits() {
    embed();
    for (int layer = 0; layer < shape_.layers; ++layer) {
      cross(layer);
      forward(layer);
    }
    cross(shape_.layers);
    rms_norm_forward(work_.x.data(), weights_.norm(), m_, h_, kNormEpsilon, work_.normed.data(),
                     work_.scale.data());
    multiply(m_, v_, h_, 1, {work_.normed.data(), h_}, transposed(weights_.output(), h_), 0,
             work_.logits.data(), v_);
  }

  LayerState& state(int layer) { return work_.layers[as_index(layer)]; }
  // Behind the last layer that of the last norm.
  Buffer& input_of(int layer) { return layer < shape_.layers ? state(layer).x : work_.x; }
  // What a layer adds to.
  Scalar* output_of(int layer) { return input_of(layer + 1).data(); }

  // From one part of the model to the next, where it is before this layer; and the gradient's way back.
  void cross(int layer) {
    const HopRange hops = boundaries_.hops_before(layer);
    Buffer& stream = input_of(layer);
    for (int hop = hops.first; hop < hops.end; ++hop) {
      Buffer* sent = rounding_ ? &work_.rounding[as_index(hop)] : nullptr;
      if (sent) *sent = stream;
      if (const auto& codec = boundaries_.activations.at(hop)) requantize(*codec, stream.data(), m_ * h_);
      if (sent)
        for (std::size_t i = 0; i < stream.size(); ++i) (*sent)[i] = stream[i] - (*sent)[i];
    }
  }
  void cross_back(int layer) {
    const HopRange hops = boundaries_.hops_before(layer);
    for (int hop = hops.end - 1; hop >= hops.first; --hop) {
      if (const auto& codec = boundaries_.gradients.at(hop)) requantize(*codec, work_.d_x.data(), m_ * h_);
      if (rounding_) (*rounding_)[as_index(hop)] = product(work_.d_x, work_.rounding[as_index(hop)]);
    }
  }
  static double product(const Buffer& a, const Buffer& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += double{a[i]} * double{b[i]};
    return sum;
  }

  const std::int64_t* tokens(std::int64_t sequence) const {
    return batch_.tokens.data() + sequence * (shape_.context + 1);
  }

  void embed() {
    Scalar* x = input_of(0).data();
    for (std::int64_t sequence = 0; sequence < batch_.sequences; ++sequence)
      for (std::int64_t t = 0; t < shape_.context; ++t, x += h_)
        std::copy_n(weights_.embedding() + tokens(sequence)[t] * h_, h_, x);
  }

  void embed_backward(Scalar* d_embedding) {
    std::fill_n(d_embedding, v_ * h_, Scalar{0});
    const Scalar* d_x = work_.d_x.data();
    for (std::int64_t sequence = 0; sequence < batch_.sequences; ++sequence)
      for (std::int64_t t = 0; t < shape_.context; ++t, d_x += h_) {
        Scalar* row = d_embedding + tokens(sequence)[t] * h_;
        for (std::int64_t i = 0; i < h_; ++i) row[i] += d_x[i];
      }
  }

  void forward(int index) {
    LayerState& s = state(index);
    const auto w = weights_.layer(index);
    rms_norm_forward(s.x.data(), w.attention_norm, m_, h_, kNormEpsilon, work_.normed.data(),
                     s.scale1.data());
    multiply(m_, 3 * h_, h_, 1, {work_.normed.data(), h_}, transposed(w.qkv, h_), 0, s.qkv.data(), 3 * h_);
    rotate(heads_, decoder_.cosine_.data(), decoder_.sine_.data(), s.qkv.data());
    attend(s);
    s.middle = s.x;
    multiply(m_, h_, h_, 1, {s.mixed.data(), h_}, transposed(w.attention_output, h_), 1, s.middle.data(), h_);
    rms_norm_forward(s.middle.data(), w.feed_forward_norm, m_, h_, kNormEpsilon, work_.normed.data(),
                     s.scale2.data());
    multiply(m_, 2 * f_, h_, 1, {work_.normed.data(), h_}, transposed(w.gate_up, h_), 0, s.gate_up.data(),
             feed_forward_.gate_up_stride);
    swiglu_forward(feed_forward_, s.gate_up.data(), work_.active.data());
    Scalar* out = output_of(index);
    std::copy(s.middle.begin(), s.middle.end(), out);
    multiply(m_, h_, f_, 1, {work_.active.data(), feed_forward_.y_stride}, transposed(w.down, f_), 1, out,
             h_);
  }

  // d_x: the gradient of the layer's output becomes that of its input.
  void backward(int index, const LayerParts<Scalar*>& d) {
    LayerState& s = state(index);
    const auto w = weights_.layer(index);
    Scalar *d_x = work_.d_x.data(), *d_normed = work_.d_normed.data(), *normed = work_.normed.data(),
           *active = work_.active.data();
    const std::int64_t stride = feed_forward_.gate_up_stride, active_stride = feed_forward_.y_stride;
    multiply(m_, f_, h_, 1, {d_x, h_}, {w.down, f_}, 0, active, active_stride);
    swiglu_backward(feed_forward_, active, s.gate_up.data());
    multiply(h_, f_, m_, 1, transposed(d_x, h_), {active, active_stride}, 0, d.down, f_);
    rms_norm_again(s.middle.data(), w.feed_forward_norm, s.scale2.data(), m_, h_, normed);
    multiply(2 * f_, h_, m_, 1, transposed(s.gate_up.data(), stride), {normed, h_}, 0, d.gate_up, h_);
    multiply(m_, h_, 2 * f_, 1, {s.gate_up.data(), stride}, {w.gate_up, h_}, 0, d_normed, h_);
    rms_norm_backward(d_normed, s.middle.data(), w.feed_forward_norm, s.scale2.data(), m_, h_, d_x,
                      d.feed_forward_norm);
    multiply(h_, h_, m_, 1, transposed(d_x, h_), {s.mixed.data(), h_}, 0, d.attention_output, h_);
    multiply(m_, h_, h_, 1, {d_x, h_}, {w.attention_output, h_}, 0, work_.d_mixed.data(), h_);
    attend_backward(s);
    rotate_back(heads_, decoder_.cosine_.data(), decoder_.sine_.data(), work_.d_qkv.data());
    rms_norm_again(s.x.data(), w.attention_norm, s.scale1.data(), m_, h_, normed);
    multiply(3 * h_, h_, m_, 1, transposed(work_.d_qkv.data(), 3 * h_), {normed, h_}, 0, d.qkv, h_);
    multiply(m_, h_, 3 * h_, 1, {work_.d_qkv.data(), 3 * h_}, {w.qkv, h_}, 0, d_normed, h_);
    rms_norm_backward(d_normed, s.x.data(), w.attention_norm, s.scale1.data(), m_, h_, d_x, d.attention_norm);
  }

  // One head of one sequence: where it lies in rows of [M, 3h] and [M, h].
  struct Head {
    std::int64_t q, k, v, mixed, weights;
  };
  template <typename Function>
  void for_each_head(Function function) const {
    const std::int64_t t = shape_.context, d = heads_.width;
    for (std::int64_t sequence = 0; sequence < batch_.sequences; ++sequence)
      for (std::int64_t head = 0; head < heads_.heads; ++head) {
        const std::int64_t q = sequence * t * 3 * h_ + head * d;
        function(Head{q, q + h_, q + 2 * h_, sequence * t * h_ + head * d,
                      (sequence * heads_.heads + head) * t * t});
      }
  }
  // Blocks of query rows [begin, end), which see the keys [0, end).
  template <typename Function>
  void for_each_block(Function function) const {
    for (std::int64_t begin = 0; begin < shape_.context; begin += kQueryBlock)
      function(begin, std::min<std::int64_t>(begin + kQueryBlock, shape_.context));
  }
  Scalar score_scale() const { return 1 / std::sqrt(static_cast<Scalar>(heads_.width)); }

  void attend(LayerState& s) const {
    const std::int64_t t = shape_.context, d = heads_.width, row = 3 * h_;
    const Scalar* qkv = s.qkv.data();
    for_each_head([&](const Head& head) {
      Scalar* p = s.weights.data() + head.weights;
      for_each_block([&](std::int64_t begin, std::int64_t end) {
        multiply(end - begin, end, d, score_scale(), {qkv + head.q + begin * row, row},
                 transposed(qkv + head.k, row), 0, p + begin * t, t);
      });
      causal_softmax(1, t, p);
      for_each_block([&](std::int64_t begin, std::int64_t end) {
        multiply(end - begin, d, end, 1, {p + begin * t, t}, {qkv + head.v, row}, 0,
                 s.mixed.data() + head.mixed + begin * h_, h_);
      });
    });
  }

  // Keys and values of a block gather from its own queries and all later ones.
  void attend_backward(const LayerState& s) const {
    const std::int64_t t = shape_.context, d = heads_.width, row = 3 * h_;
    const Scalar *qkv = s.qkv.data(), *d_mixed = work_.d_mixed.data();
    Scalar *d_qkv = work_.d_qkv.data(), *d_p = work_.d_weights.data();
    for_each_head([&](const Head& head) {
      const Scalar* p = s.weights.data() + head.weights;
      for_each_block([&](std::int64_t begin, std::int64_t end) {
        multiply(end - begin, end, d, 1, {d_mixed + head.mixed + begin * h_, h_},
                 transposed(qkv + head.v, row), 0, d_p + begin * t, t);
      });
      causal_softmax_backward(1, t, p, d_p);
      for_each_block([&](std::int64_t begin, std::int64_t end) {
        const std::int64_t rows = t - begin, keys = end - begin;  // the queries that see these keys
        multiply(keys, d, rows, 1, transposed(p + begin * t + begin, t),
                 {d_mixed + head.mixed + begin * h_, h_}, 0, d_qkv + head.v + begin * row, row);
        multiply(keys, d, rows, score_scale(), transposed(d_p + begin * t + begin, t),
                 {qkv + head.q + begin * row, row}, 0, d_qkv + head.k + begin * row, row);
        multiply(keys, d, end, score_scale(), {d_p + begin * t, t}, {qkv + head.k, row}, 0,
                 d_qkv + head.q + begin * row, row);
      });
    });
  }

  const CpuDecoder& decoder_;
  const Boundaries& boundaries_;
  RoundingEffects* rounding_ = nullptr;
  const ModelShape& shape_;
  RowParts<const Scalar> weights_;
  const Batch& batch_;
  Workspace& work_;
  AttentionShape heads_;
  std::int64_t m_, h_, f_, v_;
  FeedForwardShape feed_forward_;
};

CpuDecoder::CpuDecoder(const ModelShape& shape, Boundaries boundaries)
    : shape_(shape), boundaries_(std::move(boundaries)) {
  const int half = shape.hidden / shape.heads / 2;
  for (int t = 0; t < shape.context; ++t)
    for (int i = 0; i < half; ++i) {
      const double angle = t * std::pow(kRotaryBase, -static_cast<double>(i) / half);
      cosine_.push_back(static_cast<Scalar>(std::cos(angle)));
      sine_.push_back(static_cast<Scalar>(std::sin(angle)));
    }
}

CpuDecoder::~CpuDecoder() = default;

double CpuDecoder::loss(const Scalar* weights, const Batch& batch, const Boundaries& boundaries) const {
  Pool<Workspace>::Lent workspace(workspaces_);
  return Pass(*this, weights, batch, boundaries, *workspace).forward();
}

std::vector<double> CpuDecoder::token_losses(const Scalar* weights, const Batch& batch,
                                             const Boundaries& boundaries) const {
  Pool<Workspace>::Lent workspace(workspaces_);
  return Pass(*this, weights, batch, boundaries, *workspace).token_losses();
}

double CpuDecoder::loss_and_gradient(const Scalar* weights, Scalar* gradient, const Batch& batch,
                                     const Boundaries& boundaries, RoundingEffects* rounding) const {
  Pool<Workspace>::Lent workspace(workspaces_);
  Pass pass(*this, weights, batch, boundaries, *workspace);
  pass.ask_for(rounding);
  const double loss = pass.forward();
  pass.backward(gradient);
  return loss;
}

LONGHAUL_PRECISION_END
}  // namespace longhaul
