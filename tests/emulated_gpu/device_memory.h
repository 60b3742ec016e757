// The memory of the emulated GPU: pages of this process that nobody may touch, as with a real one, except
// kernels, copies and what runs on the device's stream. A host function that reads or writes it by mistake
// ends the test with a signal; so does a kernel that goes on behind the end of a table.
#pragma once

#include <atomic>
#include <cstddef>

namespace longhaul::emulated {

void* allocate(std::size_t bytes);  // zeros; null where it is not free
std::size_t free_bytes();
void release(void* memory);

// Bytes that were copied from it to the host since the program began.
extern std::atomic<std::size_t> copied_to_host;

// While one of these lives, there is so much memory, instead of 4 GiB.
class MemoryOf {
 public:
  explicit MemoryOf(std::size_t bytes);
  ~MemoryOf();
  MemoryOf(const MemoryOf&) = delete;
  MemoryOf& operator=(const MemoryOf&) = delete;
};

// Once: the next work that a step's graph runs ends in LibTorch's error for a full memory.
extern std::atomic<bool> fills_at_next_run;

// While one of these lives, the memory may be touched. They may be nested, and overlap between threads.
class DeviceAtWork {
 public:
  DeviceAtWork();
  ~DeviceAtWork();
  DeviceAtWork(const DeviceAtWork&) = delete;
  DeviceAtWork& operator=(const DeviceAtWork&) = delete;
};

}  // namespace longhaul::emulated
