#include "trainer/model/libtorch.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/api/include/torch/version.h>

#include <array>

#include "trainer/device/torch.h"
#include "trainer/model/stacked_decoder.h"

// Of the BLAS below LibTorch, where it is OpenBLAS.
extern "C" __attribute__((weak)) void openblas_set_num_threads(int threads);
extern "C" __attribute__((weak)) char* openblas_get_config();

namespace longhaul {
namespace {

// A stack of one replica, whose rows come from host memory.
class OneOfAStack : public RowDecoder {
 public:
  OneOfAStack(const ModelShape& shape, Device device, Precision precision, const Boundaries& boundaries)
      : parameters_(shape.parameters()),
        device_(torch_device(device)),
        decoder_(shape, device, precision, 0, boundaries) {}

  double run(const float* weights, float* gradient, const Batch& batch) const override {
    const c10::NoGradGuard no_gradient;
    const at::Tensor row = on_device(const_cast<float*>(weights), at::kFloat, parameters_),
                     tokens = on_device(const_cast<std::int64_t*>(batch.tokens.data()), at::kLong,
                                        static_cast<std::int64_t>(batch.tokens.size())),
                     loss = at::empty({1}, at::TensorOptions(at::kDouble).device(device_));
    at::Tensor target;
    if (gradient) target = at::empty({parameters_}, at::TensorOptions(at::kFloat).device(device_));
    decoder_.run({row.data_ptr<float>(), gradient ? target.data_ptr<float>() : nullptr,
                  tokens.data_ptr<std::int64_t>(), 0, loss.data_ptr<double>(), 1, batch.sequences});
    if (gradient) at::from_blob(gradient, {parameters_}).copy_(target);
    return loss.item<double>();
  }

 private:
  at::Tensor on_device(void* values, at::ScalarType type, std::int64_t count) const {
    return at::from_blob(values, {count}, type).to(device_);
  }

  std::int64_t parameters_;
  at::Device device_;
  StackedDecoder decoder_;
};

at::Tensor tensor(const Operand& operand, std::int64_t rows, std::int64_t columns) {
  const std::array<std::int64_t, 2> strides = {operand.transposed ? 1 : operand.stride,
                                               operand.transposed ? operand.stride : 1};
  return at::from_blob(const_cast<float*>(operand.data), {rows, columns}, strides, at::kFloat);
}

void product_of_tensors(std::int64_t m, std::int64_t n, std::int64_t k, float alpha, const Operand& a,
                        const Operand& b, float beta, float* c, std::int64_t stride) {
  const c10::NoGradGuard no_gradient;
  at::Tensor target = tensor({c, stride}, m, n);
  at::addmm_out(target, target, tensor(a, m, k), tensor(b, k, n), beta, alpha);
}

std::unique_ptr<RowDecoder> make_row_decoder(const ModelShape& shape, Device device, Precision precision,
                                             const Boundaries& boundaries) {
  return std::make_unique<OneOfAStack>(shape, device, precision, boundaries);
}

void compute_on_one_thread() {
  at::set_num_threads(1);
  if (openblas_set_num_threads) openblas_set_num_threads(1);
}

const char* name_of_blas() {
  // Once: OpenBLAS writes its answer into a buffer that all threads share.
  static const std::string name =
      openblas_get_config ? openblas_get_config() : "LibTorch " TORCH_VERSION ", " + at::get_mkl_version();
  return name.c_str();
}

}  // namespace
}  // namespace longhaul

extern "C" const longhaul::LibTorch* longhaul_libtorch() {
  static constexpr longhaul::LibTorch kLibTorch = {longhaul::make_row_decoder, longhaul::product_of_tensors,
                                                   longhaul::compute_on_one_thread, longhaul::name_of_blas};
  return &kLibTorch;
}
