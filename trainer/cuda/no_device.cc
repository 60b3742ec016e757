// The trainer without CUDA: there is no device, so none of these functions is reached.
#include <stdexcept>

#include "trainer/cuda/accelerator.h"
#include "trainer/device/cuda_device.h"
#include "trainer/device/device_products.h"
#include "trainer/model/layer_operators.h"

namespace longhaul {
namespace {

template <typename Result>
Result never() {
  throw std::logic_error("a GPU is used in a build without CUDA");
}

}  // namespace

bool built_with_cuda() {
  return false;
}
std::string device_name() {
  return never<std::string>();
}
std::string device_identity() {
  return never<std::string>();
}
int device_number() {
  return never<int>();
}
int device_count() {
  return never<int>();
}
void use_device(int) {
  never<int>();
}
float* allocate_on_device(std::size_t) {
  return never<float*>();
}
void free_on_device(float*) {
  never<int>();
}
void copy_to_device(void*, const void*, std::size_t) {
  never<int>();
}
void copy_to_host(void*, const void*, std::size_t) {
  never<int>();
}
void wait_for_device() {
  never<int>();
}
CudaStream current_cuda_stream() {
  return never<CudaStream>();
}

std::unique_ptr<Accelerator> Accelerator::make(const AcceleratorSpec&, Replicas&, OperationRunner&) {
  return never<std::unique_ptr<Accelerator>>();
}

std::unique_ptr<DeviceProducts> make_device_products() {
  return never<std::unique_ptr<DeviceProducts>>();
}

template <typename Number>
std::unique_ptr<LayerOperators<Number>> make_device_layer_operators() {
  return never<std::unique_ptr<LayerOperators<Number>>>();
}
template std::unique_ptr<LayerOperators<float>> make_device_layer_operators<float>();
template std::unique_ptr<LayerOperators<Bf16>> make_device_layer_operators<Bf16>();

}  // namespace longhaul
