#include "trainer/model/decoder.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "core/base/index.h"
#include "core/base/model_shape.h"
#include "core/base/random.h"
#include "trainer/device/torch.h"
#include "trainer/model/cpu_decoder.h"
#include "trainer/model/stacked_decoder.h"

namespace longhaul {

// A stack of one replica, whose rows come from host memory.
class Decoder::OneOfAStack {
 public:
  OneOfAStack(const ModelShape& shape, Device device, Precision precision, const Boundaries& boundaries)
      : parameters_(shape.parameters()),
        device_(torch_device(device)),
        decoder_(shape, device, precision, 0, boundaries) {}

  // `gradient` may be null.
  double run(const float* weights, float* gradient, const Batch& batch) const {
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

Decoder::Decoder(const ModelShape& shape, Device device, Precision precision, const Boundaries& boundaries) {
  if (device == Device::kCpu && precision == Precision::kFloat32)
    cpu_ = std::make_unique<CpuDecoder>(shape, boundaries);
  else
    stack_ = std::make_unique<OneOfAStack>(shape, device, precision, boundaries);
}

Decoder::~Decoder() = default;

double Decoder::loss(const float* weights, const Batch& batch) const {
  return cpu_ ? cpu_->loss(weights, batch) : stack_->run(weights, nullptr, batch);
}

double Decoder::loss_and_gradient(const float* weights, float* gradient, const Batch& batch) const {
  return cpu_ ? cpu_->loss_and_gradient(weights, gradient, batch) : stack_->run(weights, gradient, batch);
}

double Decoder::loss(const float* weights, const Batch& batch, const Boundaries& boundaries) const {
  return on_cpu().loss(weights, batch, boundaries);
}

double Decoder::loss_and_gradient(const float* weights, float* gradient, const Batch& batch,
                                  const Boundaries& boundaries, std::vector<double>* rounding) const {
  return on_cpu().loss_and_gradient(weights, gradient, batch, boundaries, rounding);
}

const CpuDecoder& Decoder::on_cpu() const {
  if (!cpu_) throw std::logic_error("boundaries of one call on operators that know none");
  return *cpu_;
}

std::vector<float> initial_weights(const ModelShape& shape, std::uint64_t seed) {
  constexpr double kDeviation = 0.02;
  std::vector<float> row(as_index(shape.parameters()));
  RandomStream stream(seed, Purpose::kInitialWeights);
  for (const Parameter& parameter : parameter_layout(shape)) {
    float* values = row.data() + parameter.offset;
    const double deviation =
        parameter.writes_residual ? kDeviation / std::sqrt(2. * shape.layers) : kDeviation;
    if (parameter.is_norm)
      std::fill(values, values + parameter.size(), 1.f);
    else
      std::generate(values, values + parameter.size(),
                    [&] { return static_cast<float>(deviation * stream.normal()); });
  }
  return row;
}

}  // namespace longhaul
