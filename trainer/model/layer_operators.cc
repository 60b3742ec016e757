#include "trainer/model/layer_operators.h"

#include "trainer/device/team.h"

namespace longhaul {

template <typename Number>
std::unique_ptr<LayerOperators<Number>> make_host_layer_operators() {
  return std::make_unique<LaunchedLayerOperators<Number, HostLaunch>>(HostLaunch());
}

template std::unique_ptr<LayerOperators<float>> make_host_layer_operators<float>();
template std::unique_ptr<LayerOperators<Bf16>> make_host_layer_operators<Bf16>();

}  // namespace longhaul
