// The decoder's operators as a few of LibTorch's own each, with its autograd: for every device, and the
// reference of the decoder that is written out for the CPU (cpu_decoder.h).
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>

#include "core/model_shape.h"
#include "trainer/model/decoder.h"

namespace longhaul {

class OperatorSet {
 public:
  virtual ~OperatorSet() = default;
  // x [rows, h], weight [h] → [rows, h]
  virtual at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& weight) const = 0;
  // qkv [sequences · context, 3 · h] → [sequences · context, h]: causal attention with rotary positions
  virtual at::Tensor attention(const at::Tensor& qkv, std::int64_t sequences) const = 0;
  // gate_up [rows, 2 · ffn] → [rows, ffn]
  virtual at::Tensor swiglu(const at::Tensor& gate_up) const = 0;
};

std::unique_ptr<OperatorSet> make_plain_operators(const ModelShape& shape, at::Device device);

}  // namespace longhaul
