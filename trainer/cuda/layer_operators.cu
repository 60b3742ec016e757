// The element-wise parts of the stacked decoder as kernels.
#include "trainer/cuda/launch.cuh"
#include "trainer/device/cuda_device.h"
#include "trainer/model/layer_operators.h"

namespace longhaul {

template <typename Number>
std::unique_ptr<LayerOperators<Number>> make_device_layer_operators() {
  return std::make_unique<LaunchedLayerOperators<Number, CudaLaunch>>(CudaLaunch{current_cuda_stream()});
}

template std::unique_ptr<LayerOperators<float>> make_device_layer_operators<float>();
template std::unique_ptr<LayerOperators<Bf16>> make_device_layer_operators<Bf16>();

}  // namespace longhaul
