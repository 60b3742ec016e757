#include "core/base/units.h"
#include "trainer/cuda/launch.cuh"
#include "trainer/device/cuda_device.h"

namespace longhaul {
namespace {

void copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  if (bytes == 0) return;
  // Copies go over the default stream, LibTorch's kernels may not.
  wait_for_device();
  check_cuda(cudaMemcpy(to, from, bytes, kind), "a copy failed");
  wait_for_device();  // a small copy from pageable memory may return before it has arrived
}

}  // namespace

bool built_with_cuda() {
  return true;
}

std::string device_name() {
  cudaDeviceProp properties{};
  check_cuda(cudaGetDeviceProperties(&properties, device_number()), "the device does not say what it is");
  return properties.name;
}

std::string device_identity() {
  cudaDeviceProp properties{};
  check_cuda(cudaGetDeviceProperties(&properties, device_number()), "the device does not say what it is");
  return std::string(properties.uuid.bytes, sizeof properties.uuid.bytes);
}

int device_number() {
  int number = 0;
  check_cuda(cudaGetDevice(&number), "there is no current device");
  return number;
}

int device_count() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  // Without a card, and without a driver or with one that is older than CUDA here.
  if (status == cudaErrorNoDevice || status == cudaErrorInsufficientDriver) return 0;
  check_cuda(status, "it is not known how many devices there are");
  return count;
}

void use_device(int number) {
  check_cuda(cudaSetDevice(number), "a device cannot be used");
}

std::int64_t free_device_memory() {
  std::size_t left = 0, all = 0;
  check_cuda(cudaMemGetInfo(&left, &all), "the device does not say how much memory it has");
  return static_cast<std::int64_t>(left);
}

float* allocate_on_device(std::size_t bytes) {
  void* table = nullptr;
  if (bytes == 0) return nullptr;
  if (cudaMalloc(&table, bytes) != cudaSuccess) {
    cudaGetLastError();  // else the next launch reports it
    give_back_cached_memory();
    if (cudaMalloc(&table, bytes) != cudaSuccess) {
      cudaGetLastError();
      throw RunError("not enough memory on the GPU for a table of " +
                     human_bytes(static_cast<double>(bytes)) + ": " +
                     human_bytes(static_cast<double>(free_device_memory())) + " are free");
    }
  }
  clear_on_device(table, bytes);
  return static_cast<float*>(table);
}

void free_on_device(float* table) {
  cudaFree(table);
}

void* allocate_pinned(std::size_t bytes) {
  void* memory = nullptr;
  if (bytes == 0) return nullptr;
  if (cudaMallocHost(&memory, bytes) != cudaSuccess) {
    cudaGetLastError();
    throw RunError("not enough host memory that the GPU can reach: " +
                   human_bytes(static_cast<double>(bytes)));
  }
  return memory;
}
void free_pinned(void* memory) {
  cudaFreeHost(memory);
}

void* register_host_memory(void* memory, std::size_t bytes) {
  if (cudaHostRegister(memory, bytes, cudaHostRegisterMapped) != cudaSuccess) {
    cudaGetLastError();
    throw RunError("the GPU cannot reach " + human_bytes(static_cast<double>(bytes)) + " of host memory");
  }
  void* on_card = nullptr;
  check_cuda(cudaHostGetDevicePointer(&on_card, memory, 0), "host memory has no place on the device");
  return on_card;
}
void unregister_host_memory(void* memory) {
  cudaHostUnregister(memory);
}

void copy_to_device(void* to, const void* from, std::size_t bytes, CudaStream stream) {
  if (bytes > 0)
    check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream), "a copy was not started");
}
void copy_to_host(void* to, const void* from, std::size_t bytes, CudaStream stream) {
  if (bytes > 0)
    check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream), "a copy was not started");
}

struct DeviceEvent::State {
  cudaEvent_t event = nullptr;
};
DeviceEvent::DeviceEvent() : state_(std::make_unique<State>()) {
  check_cuda(cudaEventCreate(&state_->event), "an event was not made");
}
DeviceEvent::~DeviceEvent() {
  cudaEventDestroy(state_->event);
}
void DeviceEvent::record(CudaStream stream) {
  check_cuda(cudaEventRecord(state_->event, stream), "an event was not recorded");
}
void DeviceEvent::wait() const {
  check_cuda(cudaEventSynchronize(state_->event), "the device stopped");
}
double DeviceEvent::seconds_since(const DeviceEvent& earlier) const {
  float milliseconds = 0;
  check_cuda(cudaEventElapsedTime(&milliseconds, earlier.state_->event, state_->event), "no time was taken");
  return static_cast<double>(milliseconds) / 1000;
}

void copy_to_device(void* to, const void* from, std::size_t bytes) {
  copy(to, from, bytes, cudaMemcpyHostToDevice);
}
void copy_to_host(void* to, const void* from, std::size_t bytes) {
  copy(to, from, bytes, cudaMemcpyDeviceToHost);
}

void clear_on_device(void* memory, std::size_t bytes) {
  wait_for_device();
  check_cuda(cudaMemset(memory, 0, bytes), "memory was not cleared");
  wait_for_device();
}

void wait_for_device() {
  check_cuda(cudaDeviceSynchronize(), "the device stopped");
}

}  // namespace longhaul
