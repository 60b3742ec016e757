// What of a training is LibTorch's on a CPU. It takes 0.3 s to load Debian's (290 libraries), and a training in
// float32 with oneDNN needs none of it: so `longhaul-train` has it in a module, liblonghaul_torch.so, which is
// loaded when it is first asked for. A program with LibTorch linked in (builds with CUDA, tests) has it at
// once.
#pragma once

#include <memory>

#include "trainer/device/device.h"
#include "trainer/model/boundaries.h"
#include "trainer/model/decoder.h"
#include "trainer/model/gemm.h"

namespace longhaul {

// A decoder of which a call has one row of weights, in host memory.
class RowDecoder {
 public:
  virtual ~RowDecoder() = default;
  // Mean cross-entropy, nats a token. `gradient` [P]: overwritten; may be null.
  virtual double run(const float* weights, float* gradient, const Batch& batch) const = 0;
};

struct LibTorch {
  // stacked_decoder.h with one replica.
  std::unique_ptr<RowDecoder> (*row_decoder)(const ModelShape& shape, Device device, Precision precision,
                                             const Boundaries& boundaries);
  decltype(&multiply) product;
  void (*use_one_thread)();
  const char* (*blas)();  // "OpenBLAS 0.3.21 ..."
};

// Throws RunError where the module is not there, or the address space is too small for it.
const LibTorch& libtorch();

// Whether libtorch() has been asked for.
bool computes_with_libtorch();

// On the calling thread, where LibTorch is there.
void use_one_thread_of_libtorch();

}  // namespace longhaul
