// Runs the functions of layer_functions.h over their rows, where the tensors are: on the host one after the
// other, on a GPU as kernels (cuda/layer_operators.cu).
#pragma once

#include <memory>

#include "trainer/model/attention_functions.h"
#include "trainer/model/layer_functions.h"

namespace longhaul {

template <typename Number>
class LayerOperators {
 public:
  virtual ~LayerOperators() = default;
  virtual void run(const layer::Embed& work, std::int64_t rows) const = 0;
  virtual void run(const layer::OneHot<Number>& work, std::int64_t rows) const = 0;
  virtual void run(const layer::Tokens& work, std::int64_t rows) const = 0;
  virtual void run(const layer::EmbeddingGradient& work, std::int64_t rows) const = 0;
  virtual void run(const layer::AddNorm<Number>& work, std::int64_t rows) const = 0;
  virtual void run(const layer::NormBackward<Number>& work, std::int64_t slices) const = 0;
  virtual void run(const layer::TurnHeads<Number>& work, std::int64_t rows) const = 0;
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
  virtual void run(const layer::NormWeightSum& work, std::int64_t count, std::int64_t columns) const = 0;
  virtual void run(const layer::Requantize& work, std::int64_t count, std::int64_t blocks) const = 0;
};

namespace layer {

// What a launcher runs for each row: row<kPack, kKept> of `work`.
template <typename Work, int kPack, int kKept>
struct InPacks {
  Work work;

  template <typename Team>
  LONGHAUL_HOST_DEVICE void operator()(const Team& team, std::int64_t row) const {
    work.template row<kPack, kKept>(team, row);
  }
};

}  // namespace layer

// `Launch` is HostLaunch or CudaLaunch.
template <typename Number, typename Launch>
class LaunchedLayerOperators : public LayerOperators<Number> {
 public:
  explicit LaunchedLayerOperators(Launch launch) : launch_(launch) {}

  void run(const layer::Embed& work, std::int64_t rows) const override { streamed<float>(rows, work); }
  void run(const layer::OneHot<Number>& work, std::int64_t rows) const override { launch_.rows(rows, work); }
  void run(const layer::Tokens& work, std::int64_t rows) const override { launch_.grid(1, rows, 1, work); }
  void run(const layer::EmbeddingGradient& work, std::int64_t rows) const override { kept(rows, work); }
  void run(const layer::AddNorm<Number>& work, std::int64_t rows) const override { kept(rows, work); }
  void run(const layer::NormBackward<Number>& work, std::int64_t slices) const override {
    kept(slices, work);
  }
  void run(const layer::TurnHeads<Number>& work, std::int64_t rows) const override {
    streamed<Number>(rows, work);
  }
  void run(const layer::SplitHeads<Number>& work, std::int64_t rows) const override {
    streamed<Number>(rows, work);
  }
  void run(const layer::JoinHeads<Number>& work, std::int64_t rows) const override {
    streamed<Number>(rows, work);
  }
  void run(const layer::MoveHeads<Number>& work, std::int64_t rows) const override {
    streamed<Number>(rows, work);
  }
  void run(const layer::CausalSoftmax<Number>& work, std::int64_t rows) const override {
    launch_.rows(rows, work);
  }
  void run(const layer::CausalSoftmaxBackward<Number>& work, std::int64_t rows) const override {
    launch_.rows(rows, work);
  }
  void run(const layer::Swiglu<Number>& work, std::int64_t rows) const override {
    streamed<Number>(rows, work);
  }
  void run(const layer::SwigluBackward<Number>& work, std::int64_t rows) const override {
    streamed<Number>(rows, work);
  }
  void run(const layer::CrossEntropy<Number>& work, std::int64_t rows) const override { kept(rows, work); }
  void run(const layer::SumLosses& work, std::int64_t rows) const override { launch_.blocks(rows, work); }
  void run(const layer::NormWeightSum& work, std::int64_t count, std::int64_t columns) const override {
    launch_.grid(count, columns, 1, work);
  }
  void run(const layer::Requantize& work, std::int64_t count, std::int64_t blocks) const override {
    launch_.grid(count, blocks, 1, work);
  }

 private:
  static constexpr int kWidest = 16 / static_cast<int>(sizeof(Number));

  // Each number is read once: as many bytes at a time as there are.
  template <typename Element, typename Work>
  void streamed(std::int64_t rows, const Work& work) const {
    constexpr int kPack = 16 / static_cast<int>(sizeof(Element));
    if (work.columns() % kPack == 0)
      launch_.rows(rows, layer::InPacks<Work, kPack, 0>{work});
    else
      launch_.rows(rows, layer::InPacks<Work, 1, 0>{work});
  }

  // Rows that are gone through twice: kept between, in packs that leave no lane idle where there is a choice.
  template <typename Work>
  void kept(std::int64_t rows, const Work& work) const {
    const int columns = work.columns();
    if (columns % kWidest == 0 && columns >= kWidest * Launch::kLanes)
      kept_as<kWidest>(rows, work);
    else if (columns % 4 == 0)
      kept_as<4>(rows, work);
    else
      launch_.rows(rows, layer::InPacks<Work, 1, 0>{work});
  }
  // Up to eight packs of a lane are; of more each is read twice.
  template <int kPack, int kKept = 1, typename Work>
  void kept_as(std::int64_t rows, const Work& work) const {
    if (work.columns() <= kKept * kPack * Launch::kLanes)
      launch_.rows(rows, layer::InPacks<Work, kPack, kKept>{work});
    else if constexpr (kKept < 8)
      kept_as<kPack, (kKept < 4 ? kKept + 1 : kKept + 2)>(rows, work);
    else
      launch_.rows(rows, layer::InPacks<Work, kPack, 0>{work});
  }

  Launch launch_;
};

// Kernels on the stream that LibTorch works on. For Number float and Bf16.
template <typename Number>
std::unique_ptr<LayerOperators<Number>> make_device_layer_operators();

}  // namespace longhaul
