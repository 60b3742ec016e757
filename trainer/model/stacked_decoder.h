// The decoder of decoder.h for many replicas at once, with its backward pass written out: one batched matrix
// product of LibTorch where the loop has a product for each replica, and the functions of layer_functions.h
// between them. For a GPU, where one replica of a small model cannot fill the card; it runs on a CPU too,
// which is how it is tested where there is no GPU.
//
// In bf16 the weights and activations of the products are bf16 and their sums float32; weights in the arena,
// residual stream, norms, softmax sums, losses and gradients in the arena stay float32. The copy of the
// weights is the caller's, or made once a call. TF32 is off.
#pragma once

#include <cstdint>
#include <memory>

#include "core/base/model_shape.h"
#include "core/scenario/case.h"
#include "trainer/codecs/number_formats.h"
#include "trainer/device/device.h"
#include "trainer/model/boundaries.h"

namespace longhaul {

// One call's rows. All pointers are in the memory of the decoder's device.
struct StackedBatch {
  const float* weights = nullptr;  // [replicas, P]
  float* gradient = nullptr;       // [replicas, P], overwritten; null: the losses alone
  // Of replica r at r · token_stride: [sequences, context + 1]; token_stride 0: all read the same.
  const std::int64_t* tokens = nullptr;
  std::int64_t token_stride = 0;
  double* losses = nullptr;  // [replicas]: mean cross-entropy, nats a token
  int replicas = 0, sequences = 0;
  // [replicas, P]: the weights rounded to bf16, for products in bf16; null: they are made in the call.
  const Bf16* narrow = nullptr;
};

class StackedDecoder {
 public:
  // `memory_limit`: bytes that activations and copies of weights may take (an estimate by the shapes); what
  // does not fit is done in pieces, over the replicas first, over the sequences where one replica's do not
  // fit. 0: all at once. Pieces over sequences change the order of sums, those over replicas nothing. Where
  // not even one sequence fits, a layer keeps its input and what attention gave, and the backward pass
  // computes the rest again (Chen et al., arXiv 1604.06174): the same bits for about a quarter more
  // arithmetic. `boundaries`: what passes between the parts of the model. A call is then one micro-batch of
  // each replica; throws InputError where pieces over its sequences would cut a block of numbers.
  StackedDecoder(const ModelShape& shape, Device device, Precision precision, std::int64_t memory_limit = 0,
                 Boundaries boundaries = {});
  ~StackedDecoder();

  // On a GPU on LibTorch's current stream, without waiting for it and without the host reading anything, so
  // that it can be captured in a graph. From several threads at once.
  void run(const StackedBatch& batch) const;

  // How many replicas, and sequences of each, are done at a time.
  struct Piece {
    int replicas, sequences;
    bool recomputes = false;
  };
  // `narrow_is_given`: StackedBatch::narrow takes no memory of this limit.
  Piece piece_of(int replicas, int sequences, bool with_gradient, bool narrow_is_given = false) const;

  // What a pass does beside the plain one. Fused attention keeps no weights of attention, but for each head
  // and token the logarithm of a sum.
  struct Way {
    bool fused_attention = false, recomputes = false, narrow_is_given = false;
  };
  // What run() takes for one piece, estimated by the shapes: bytes.
  static std::int64_t workspace_bytes(const ModelShape& shape, Precision precision, std::int64_t replicas,
                                      std::int64_t sequences, bool with_gradient, const Way& way);
  // Whether attention is fused: in bf16 on a GPU, for widths of a head that LibTorch's kernel takes.
  static bool fuses_attention(const ModelShape& shape, Device device, Precision precision);

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace longhaul
