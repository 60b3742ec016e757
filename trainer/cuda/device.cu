#include "core/units.h"
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
  check_cuda(cudaGetDeviceCount(&count), "it is not known how many devices there are");
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
  check_cuda(cudaMemset(table, 0, bytes), "memory was not cleared");
  wait_for_device();
  return static_cast<float*>(table);
}

void free_on_device(float* table) {
  cudaFree(table);
}

void copy_to_device(void* to, const void* from, std::size_t bytes) {
  copy(to, from, bytes, cudaMemcpyHostToDevice);
}
void copy_to_host(void* to, const void* from, std::size_t bytes) {
  copy(to, from, bytes, cudaMemcpyDeviceToHost);
}
void copy_on_device(void* to, const void* from, std::size_t bytes) {
  copy(to, from, bytes, cudaMemcpyDeviceToDevice);
}

void wait_for_device() {
  check_cuda(cudaDeviceSynchronize(), "the device stopped");
}

}  // namespace longhaul
