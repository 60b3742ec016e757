#include "trainer/model/decoder.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "core/base/index.h"
#include "core/base/model_shape.h"
#include "core/base/random.h"
#include "trainer/model/cpu_decoder.h"
#include "trainer/model/libtorch.h"

namespace longhaul {

Decoder::Decoder(const ModelShape& shape, Device device, Precision precision, const Boundaries& boundaries) {
  if (device == Device::kCpu && precision == Precision::kFloat32)
    cpu_ = std::make_unique<CpuDecoder>(shape, boundaries);
  else
    others_ = libtorch().row_decoder(shape, device, precision, boundaries);
}

Decoder::~Decoder() = default;

double Decoder::loss(const float* weights, const Batch& batch) const {
  return cpu_ ? cpu_->loss(weights, batch) : others_->run(weights, nullptr, batch);
}

double Decoder::loss_and_gradient(const float* weights, float* gradient, const Batch& batch) const {
  return cpu_ ? cpu_->loss_and_gradient(weights, gradient, batch) : others_->run(weights, gradient, batch);
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
