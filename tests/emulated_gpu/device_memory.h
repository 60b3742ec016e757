// The memory of the emulated GPU: pages of this process that nobody may touch, as with a real one, except
// kernels, copies and what runs on the device's stream. A host function that reads or writes it by mistake
// ends the test with a signal.
#pragma once

#include <cstddef>

namespace longhaul::emulated {

void* allocate(std::size_t bytes);  // zeros
void release(void* memory);

// Bytes that were copied from it to the host since the program began.
std::size_t copied_to_host();
void count_copy_to_host(std::size_t bytes);

// While one of these lives, the memory may be touched. They may be nested, and those of several threads
// overlap.
class DeviceAtWork {
 public:
  DeviceAtWork();
  ~DeviceAtWork();
  DeviceAtWork(const DeviceAtWork&) = delete;
  DeviceAtWork& operator=(const DeviceAtWork&) = delete;
};

}  // namespace longhaul::emulated
