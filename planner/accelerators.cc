#include "core/base/errors.h"
#include "core/base/ranges.h"
#include "planner/plan_request.h"

namespace longhaul {

// Peaks without sparsity. GeForce cards run bf16 with a float32 sum at half the rate of their boards'
// professional kin.
const std::vector<Accelerator>& accelerators() {
  static const std::vector<Accelerator> known = {
      {"H200", 989.4e12, 141e9, "NVIDIA H200 datasheet: 1979 TFLOPS of bf16 with sparsity, 141 GB (SXM)"},
      {"H100", 989.4e12, 80e9, "NVIDIA H100 datasheet: 1979 TFLOPS of bf16 with sparsity, 80 GB (SXM)"},
      {"H100-PCIe", 756e12, 80e9, "NVIDIA H100 datasheet: 1513 TFLOPS of bf16 with sparsity, 80 GB (PCIe)"},
      {"A100", 312e12, 80e9, "NVIDIA A100 80GB datasheet: 312 TFLOPS of bf16"},
      {"A100-40GB", 312e12, 40e9, "NVIDIA A100 datasheet: 312 TFLOPS of bf16, 40 GB"},
      {"L40S", 362.05e12, 48e9, "NVIDIA L40S datasheet: 362.05 TFLOPS of bf16, 48 GB"},
      {"A10", 125e12, 24e9, "NVIDIA A10 datasheet: 125 TFLOPS of bf16, 24 GB"},
      {"RTX-4090", 165.2e12, 24e9,
       "NVIDIA Ada GPU architecture whitepaper: 165.2 TFLOPS of bf16 with a float32 sum, 24 GB"},
      {"RTX-3090", 71e12, 24e9,
       "NVIDIA GA102 GPU architecture whitepaper: 71 TFLOPS of bf16 with a float32 sum, 24 GB"},
  };
  return known;
}

std::vector<std::string> accelerator_names() {
  return each_of(accelerators(), &Accelerator::name);
}

const Accelerator& accelerator_named(const std::string& name) {
  return find_named(name, accelerators(), &Accelerator::name, "accelerator.name",
                    "for another one leave the name out and give peak (FLOP/s of bf16, without sparsity) and "
                    "memory (as \"192GB\")");
}

}  // namespace longhaul
