// Runs the functions of layer_functions.h over their rows, where the tensors are: on the host one after the
// other, on a GPU as kernels (cuda/layer_operators.cu).
#pragma once

#include <memory>

#include "trainer/model/layer_functions.h"

namespace longhaul {

template <typename Number>
class LayerOperators {
 public:
  virtual ~LayerOperators() = default;
  virtual void run(const layer::Embed& work, std::int64_t rows) const = 0;
  virtual void run(const layer::OneHot<Number>& work, std::int64_t rows) const = 0;
  virtual void run(const layer::AddNorm<Number>& work, std::int64_t rows) const = 0;
  virtual void run(const layer::NormBackward<Number>& work, std::int64_t rows) const = 0;
  virtual void run(const layer::SplitHeads<Number>& work, std::int64_t rows) const = 0;
  virtual void run(const layer::JoinHeads<Number>& work, std::int64_t rows) const = 0;
  virtual void run(const layer::MoveHeads<Number>& work, std::int64_t rows) const = 0;
  virtual void run(const layer::CausalSoftmax<Number>& work, std::int64_t rows) const = 0;
  virtual void run(const layer::CausalSoftmaxBackward<Number>& work, std::int64_t rows) const = 0;
  virtual void run(const layer::Swiglu<Number>& work, std::int64_t rows) const = 0;
  virtual void run(const layer::SwigluBackward<Number>& work, std::int64_t rows) const = 0;
  virtual void run(const layer::CrossEntropy<Number>& work, std::int64_t rows) const = 0;
  virtual void run(const layer::SumLosses& work, std::int64_t rows) const = 0;
  // Over [count, columns].
  virtual void run(const layer::NormWeightPartial<Number>& work, std::int64_t count,
                   std::int64_t columns) const = 0;
  virtual void run(const layer::NormWeightSum& work, std::int64_t count, std::int64_t columns) const = 0;
  virtual void run(const layer::Requantize& work, std::int64_t count, std::int64_t blocks) const = 0;
};

// `Launch` is HostLaunch or CudaLaunch.
template <typename Number, typename Launch>
class LaunchedLayerOperators : public LayerOperators<Number> {
 public:
  explicit LaunchedLayerOperators(Launch launch) : launch_(launch) {}

  void run(const layer::Embed& work, std::int64_t rows) const override { launch_.rows(rows, work); }
  void run(const layer::OneHot<Number>& work, std::int64_t rows) const override { launch_.rows(rows, work); }
  void run(const layer::AddNorm<Number>& work, std::int64_t rows) const override { launch_.rows(rows, work); }
  void run(const layer::NormBackward<Number>& work, std::int64_t rows) const override {
    launch_.rows(rows, work);
  }
  void run(const layer::SplitHeads<Number>& work, std::int64_t rows) const override {
    launch_.rows(rows, work);
  }
  void run(const layer::JoinHeads<Number>& work, std::int64_t rows) const override {
    launch_.rows(rows, work);
  }
  void run(const layer::MoveHeads<Number>& work, std::int64_t rows) const override {
    launch_.rows(rows, work);
  }
  void run(const layer::CausalSoftmax<Number>& work, std::int64_t rows) const override {
    launch_.rows(rows, work);
  }
  void run(const layer::CausalSoftmaxBackward<Number>& work, std::int64_t rows) const override {
    launch_.rows(rows, work);
  }
  void run(const layer::Swiglu<Number>& work, std::int64_t rows) const override { launch_.rows(rows, work); }
  void run(const layer::SwigluBackward<Number>& work, std::int64_t rows) const override {
    launch_.rows(rows, work);
  }
  void run(const layer::CrossEntropy<Number>& work, std::int64_t rows) const override {
    launch_.rows(rows, work);
  }
  void run(const layer::SumLosses& work, std::int64_t rows) const override { launch_.rows(rows, work); }
  void run(const layer::NormWeightPartial<Number>& work, std::int64_t count,
           std::int64_t columns) const override {
    launch_.grid(count, columns, 1, work);
  }
  void run(const layer::NormWeightSum& work, std::int64_t count, std::int64_t columns) const override {
    launch_.grid(count, columns, 1, work);
  }
  void run(const layer::Requantize& work, std::int64_t count, std::int64_t blocks) const override {
    launch_.grid(count, blocks, 1, work);
  }

 private:
  Launch launch_;
};

// Kernels on the stream that LibTorch works on. For Number float and Bf16.
template <typename Number>
std::unique_ptr<LayerOperators<Number>> make_device_layer_operators();

}  // namespace longhaul
