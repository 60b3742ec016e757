// Fused causal attention, forward and backward by hand. LONGHAUL_FLASH_ATTENTION is set by CMake where
// LibTorch has it (compiled there as a trial). tests/emulated_gpu has one of the same layouts that runs on a
// CPU.
#pragma once

#include <ATen/ATen.h>

#include <tuple>

namespace longhaul {

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

// The fused backward pass adds in any order unless it is asked not to, and not only warned.
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

}  // namespace longhaul
