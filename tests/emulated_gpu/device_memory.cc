#include "tests/emulated_gpu/device_memory.h"

#include <sys/mman.h>

#include <map>
#include <mutex>
#include <new>
#include <utility>

namespace longhaul::emulated {
namespace {

constexpr std::size_t kMemory = std::size_t{1} << 32;

struct Memory {
  std::mutex mutex;
  std::map<void*, std::size_t> tables;
  int at_work = 0;
  std::size_t to_host = 0, taken = 0, all = kMemory;
  bool fills = false;

  void protect(int protection) {
    for (const auto& [table, bytes] : tables) mprotect(table, bytes, protection);
  }
};

Memory& memory() {
  static Memory all;
  return all;
}

constexpr int kOpen = PROT_READ | PROT_WRITE;

}  // namespace

void* allocate(std::size_t bytes) {
  if (bytes == 0) return nullptr;
  Memory& all = memory();
  const std::lock_guard<std::mutex> lock(all.mutex);
  if (bytes > all.all - all.taken) return nullptr;
  void* table = mmap(nullptr, bytes, all.at_work > 0 ? kOpen : PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (table == MAP_FAILED) throw std::bad_alloc();
  all.tables[table] = bytes;
  all.taken += bytes;
  return table;
}

void release(void* table) {
  Memory& all = memory();
  const std::lock_guard<std::mutex> lock(all.mutex);
  const auto found = all.tables.find(table);
  if (found == all.tables.end()) return;
  munmap(table, found->second);
  all.taken -= found->second;
  all.tables.erase(found);
}

std::size_t free_bytes() {
  const std::lock_guard<std::mutex> lock(memory().mutex);
  return memory().all - memory().taken;
}

MemoryOf::MemoryOf(std::size_t bytes) {
  memory().all = bytes;
}
MemoryOf::~MemoryOf() {
  memory().all = kMemory;
}

void fill_at_next_run() {
  memory().fills = true;
}
bool takes_fill() {
  return std::exchange(memory().fills, false);
}

std::size_t copied_to_host() {
  const std::lock_guard<std::mutex> lock(memory().mutex);
  return memory().to_host;
}

void count_copy_to_host(std::size_t bytes) {
  const std::lock_guard<std::mutex> lock(memory().mutex);
  memory().to_host += bytes;
}

DeviceAtWork::DeviceAtWork() {
  const std::lock_guard<std::mutex> lock(memory().mutex);
  if (memory().at_work++ == 0) memory().protect(kOpen);
}

DeviceAtWork::~DeviceAtWork() {
  const std::lock_guard<std::mutex> lock(memory().mutex);
  if (--memory().at_work == 0) memory().protect(PROT_NONE);
}

}  // namespace longhaul::emulated
