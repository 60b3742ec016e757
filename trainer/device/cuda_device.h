// The GPU as the trainer sees it, without LibTorch's or CUDA's headers. Where the trainer is built without
// CUDA (no_device.cc) built_with_cuda() is false and nothing else may be called.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

struct CUstream_st;

namespace longhaul {

using CudaStream = CUstream_st*;

bool built_with_cuda();
std::string device_name();
std::string device_identity();  // of this card among all cards anywhere
// Which of CUDA's devices this process works on; kHostMemory where tests emulate one (tests/emulated_gpu).
int device_number();
constexpr int kHostMemory = -1;
int device_count();
// From now on for the calling thread.
void use_device(int number);
std::int64_t free_device_memory();  // bytes
// What LibTorch keeps to be used again.
void give_back_cached_memory();

// Zeros. Throws RunError where the device has not the memory.
float* allocate_on_device(std::size_t bytes);
void free_on_device(float* table);

// Host memory that a card copies from and to by itself. Throws RunError where the machine has it not.
void* allocate_pinned(std::size_t bytes);
void free_pinned(void* memory);

// Lets kernels read and write memory of the host where it is, over the bus; returns its place as the card
// sees it. Whole pages. Throws RunError.
void* register_host_memory(void* memory, std::size_t bytes);
void unregister_host_memory(void* memory);

// On the stream, without waiting: pinned host memory must stay as it is until an event behind was waited for.
void copy_to_device(void* to, const void* from, std::size_t bytes, CudaStream stream);
void copy_to_host(void* to, const void* from, std::size_t bytes, CudaStream stream);

// A moment in a stream's work.
class DeviceEvent {
 public:
  DeviceEvent();
  ~DeviceEvent();
  DeviceEvent(const DeviceEvent&) = delete;
  DeviceEvent& operator=(const DeviceEvent&) = delete;

  void record(CudaStream stream);
  // Until all before it is done. Throws RunError where something failed.
  void wait() const;
  // Of two that were waited for.
  double seconds_since(const DeviceEvent& earlier) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// These wait until the copy is done.
void copy_to_device(void* to, const void* from, std::size_t bytes);
void copy_to_host(void* to, const void* from, std::size_t bytes);
void clear_on_device(void* memory, std::size_t bytes);
// Waits for all that was started; throws RunError where something failed.
void wait_for_device();

// The stream that LibTorch works on in this thread.
CudaStream current_cuda_stream();

}  // namespace longhaul
