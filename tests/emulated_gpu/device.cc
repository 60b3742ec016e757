// Takes the place of trainer/cuda/device.cu and step_graph.cc: a GPU whose memory is the
// host's and whose graphs are calls.
#include <c10/util/Exception.h>

#include <cstring>

#include "core/errors.h"
#include "tests/emulated_gpu/device_memory.h"
#include "trainer/cuda/step_graph.h"
#include "trainer/device/cuda_device.h"

namespace longhaul {

bool built_with_cuda() {
  return true;
}
std::string device_name() {
  return "emulated";
}
std::string device_identity() {
  return "emulated";
}
int device_number() {
  return kHostMemory;
}
int device_count() {
  return 1;
}
void use_device(int) {}
std::int64_t free_device_memory() {
  return static_cast<std::int64_t>(emulated::free_bytes());
}
void give_back_cached_memory() {}
float* allocate_on_device(std::size_t bytes) {
  if (bytes == 0) return nullptr;
  void* table = emulated::allocate(bytes);
  if (!table) throw RunError("not enough memory on the GPU");
  return static_cast<float*>(table);
}
void free_on_device(float* table) {
  emulated::release(table);
}
void copy_to_device(void* to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;  // as the real one; an empty table has no place
  const emulated::DeviceAtWork at_work;
  std::memcpy(to, from, bytes);
}
void copy_to_host(void* to, const void* from, std::size_t bytes) {
  emulated::count_copy_to_host(bytes);
  copy_to_device(to, from, bytes);
}
void copy_on_device(void* to, const void* from, std::size_t bytes) {
  copy_to_device(to, from, bytes);
}
void wait_for_device() {}
CudaStream current_cuda_stream() {
  return nullptr;
}

struct StepGraph::State {};
StepGraph::StepGraph(bool) {}
StepGraph::~StepGraph() = default;
void StepGraph::run(const std::function<void()>& work) {
  const emulated::DeviceAtWork at_work;
  if (emulated::takes_fill()) C10_THROW_ERROR(OutOfMemoryError, "tried to allocate 1.00 GiB");
  work();
}

}  // namespace longhaul
