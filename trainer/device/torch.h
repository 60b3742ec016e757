// The few places where LibTorch 1.13 and 2.x differ; fused attention has a header of its own.
// LONGHAUL_WIDE_PRODUCTS is set by CMake where LibTorch leaves products of bf16 in float32 (2.8 and later;
// compiled there as a trial).
#pragma once

#include <ATen/ATen.h>
#include <ATen/core/Tensor.h>
#include <torch/csrc/api/include/torch/version.h>

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

// On a GPU: target [replicas, rows, columns] (+)= left · right, float32 of bf16.
inline void bf16_product(at::Tensor target, const at::Tensor& left, const at::Tensor& right, bool adds) {
#ifdef LONGHAUL_WIDE_PRODUCTS
  adds ? at::baddbmm_out(target, target, left, right, at::kFloat)
       : at::bmm_out(target, left, right, at::kFloat);
#else  // rounded to bf16 once
  adds ? target.add_(at::bmm(left, right)) : target.copy_(at::bmm(left, right));
#endif
}

// Memory as a tensor. The device is said: to ask for it is no part of a captured graph.
inline at::Tensor tensor_over(void* memory, at::IntArrayRef sizes, at::ScalarType type, at::Device device) {
  return at::for_blob(memory, sizes)
      .options(at::TensorOptions().dtype(type).device(device))
      .target_device(device)
      .make_tensor();
}

// Where LibTorch's tensors lie.

inline at::Device torch_device(Device device) {
  const int number = device == Device::kCuda ? device_number() : kHostMemory;
  return number == kHostMemory ? at::Device(at::kCPU)
                               : at::Device(at::kCUDA, static_cast<c10::DeviceIndex>(number));
}

}  // namespace longhaul
