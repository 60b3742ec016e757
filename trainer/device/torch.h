// The few places where LibTorch 1.13 and 2.x differ. LONGHAUL_FLASH_ATTENTION is set by CMake where LibTorch
// has fused causal attention whose backward pass can be called by hand (compiled there as a trial).
#pragma once

#include <ATen/ATen.h>
#include <ATen/core/Tensor.h>
#include <torch/csrc/api/include/torch/version.h>

#include <tuple>

#include "trainer/device/cuda_device.h"
#include "trainer/device/device.h"

namespace longhaul {

// Products of float32 in float32, and sums of bf16 products in float32 too.
inline void use_full_precision_sums() {
  at::globalContext().setAllowTF32CuBLAS(false);
#if TORCH_VERSION_MAJOR >= 2
  at::globalContext().setAllowBF16ReductionCuBLAS(false);
#endif
}

#ifdef LONGHAUL_FLASH_ATTENTION

constexpr bool kHasFlashAttention = true;

// What the backward pass needs of the forward one.
struct FlashAttention {
  at::Tensor out, logarithm_of_sums, queries_until, keys_until, seed, offset;
};

// q (scaled already), k, v [sequences, heads, context, width], bf16, on a GPU.
inline FlashAttention flash_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) {
  const auto all = at::_scaled_dot_product_flash_attention(q, k, v, 0., true, false, 1.);
  return {std::get<0>(all), std::get<1>(all), std::get<2>(all),
          std::get<3>(all), std::get<6>(all), std::get<7>(all)};
}

inline std::tuple<at::Tensor, at::Tensor, at::Tensor> flash_attention_backward(const FlashAttention& forward,
                                                                               const at::Tensor& d_out,
                                                                               const at::Tensor& q,
                                                                               const at::Tensor& k,
                                                                               const at::Tensor& v) {
  const std::int64_t context = q.size(2);
  return at::_scaled_dot_product_flash_attention_backward(
      d_out, q, k, v, forward.out, forward.logarithm_of_sums, forward.queries_until, forward.keys_until,
      context, context, 0., true, forward.seed, forward.offset, 1.);
}

// The fused backward pass adds in any order unless it is asked not to, and strictly: with warnings alone it takes
// the same kernel and says so. The other operators that we call have one order anyway.
inline void use_deterministic_attention() {
  at::globalContext().setDeterministicAlgorithms(true, /*warn_only=*/false);
  at::globalContext().setDeterministicFillUninitializedMemory(false);
}

#else

constexpr bool kHasFlashAttention = false;

struct FlashAttention {
  at::Tensor out;
};
inline FlashAttention flash_attention(const at::Tensor&, const at::Tensor&, const at::Tensor&) {
  return {};
}
inline std::tuple<at::Tensor, at::Tensor, at::Tensor> flash_attention_backward(
    const FlashAttention&, const at::Tensor&, const at::Tensor&, const at::Tensor&, const at::Tensor&) {
  return {};
}
inline void use_deterministic_attention() {}

#endif

// Where LibTorch's tensors lie.

inline at::Device torch_device(Device device) {
  const int number = device == Device::kCuda ? device_number() : kHostMemory;
  return number == kHostMemory ? at::Device(at::kCPU)
                               : at::Device(at::kCUDA, static_cast<c10::DeviceIndex>(number));
}

}  // namespace longhaul
