// Takes the place of trainer/device/flash_attention.h: attention in a few of LibTorch's operators for the
// CPU. Tensors are [sequences, heads, context, width] with a last stride of 1, and come back as those of
// LibTorch's fused attention: a view of token order, [sequences, context, heads, width] without gaps.
#pragma once

#include <ATen/ATen.h>

#include <cmath>
#include <stdexcept>
#include <tuple>

namespace longhaul {

constexpr bool kHasFlashAttention = true;

struct FlashAttention {
  at::Tensor out, logarithm_of_sums;  // the latter [sequences, heads, context], float32
};

namespace emulated {

inline at::Tensor in_float(const at::Tensor& heads) {
  if (heads.scalar_type() != at::kBFloat16) throw std::logic_error("fused attention takes bf16 alone");
  if (heads.stride(3) != 1) throw std::logic_error("fused attention: the numbers of a head are apart");
  if (heads.data_ptr<at::BFloat16>() == nullptr ||
      reinterpret_cast<std::uintptr_t>(heads.data_ptr()) % 16 != 0 || heads.stride(2) % 8 != 0)
    throw std::logic_error("fused attention reads 16 bytes at a time");
  return heads.to(at::kFloat);
}

inline at::Tensor in_token_order(const at::Tensor& heads) {
  return heads.to(at::kBFloat16).transpose(1, 2).contiguous().transpose(1, 2);
}

// What the real one copies if it has to, which nothing here should make it do.
inline void expect_token_order(const at::Tensor& heads, const char* what) {
  if (!heads.transpose(1, 2).is_contiguous()) throw std::logic_error(what);
}

inline at::Tensor scores(const at::Tensor& q, const at::Tensor& k) {
  const std::int64_t context = q.size(2);
  const at::Tensor future = at::ones({context, context}, at::kBool).triu(1);
  return at::matmul(in_float(q), in_float(k).transpose(2, 3)).masked_fill(future, -INFINITY);
}

}  // namespace emulated

inline FlashAttention flash_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) {
  const at::Tensor scores = emulated::scores(q, k), sums = at::logsumexp(scores, {3});
  const at::Tensor weights = (scores - sums.unsqueeze(3)).exp().to(at::kBFloat16).to(at::kFloat);
  return {emulated::in_token_order(at::matmul(weights, emulated::in_float(v))), sums};
}

inline std::tuple<at::Tensor, at::Tensor, at::Tensor> flash_attention_backward(const FlashAttention& forward,
                                                                               const at::Tensor& d_out,
                                                                               const at::Tensor& q,
                                                                               const at::Tensor& k,
                                                                               const at::Tensor& v) {
  emulated::expect_token_order(d_out, "fused attention copies the gradient of what it gave");
  emulated::expect_token_order(forward.out, "fused attention copies what it gave");
  const at::Tensor weights = (emulated::scores(q, k) - forward.logarithm_of_sums.unsqueeze(3)).exp(),
                   d = emulated::in_float(d_out), pull = (d * emulated::in_float(forward.out)).sum(3, true),
                   d_scores = weights * (at::matmul(d, emulated::in_float(v).transpose(2, 3)) - pull);
  return {emulated::in_token_order(at::matmul(d_scores, emulated::in_float(k))),
          emulated::in_token_order(at::matmul(d_scores.transpose(2, 3), emulated::in_float(q))),
          emulated::in_token_order(at::matmul(weights.transpose(2, 3), d))};
}

inline void use_deterministic_attention() {}

}  // namespace longhaul
