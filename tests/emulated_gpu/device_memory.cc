#include "tests/emulated_gpu/device_memory.h"

#include <sys/mman.h>

#include <map>
#include <mutex>
#include <new>

namespace longhaul::emulated {
namespace {

struct Memory {
  std::mutex mutex;
  std::map<void*, std::size_t> tables;
  int at_work = 0;
  std::size_t to_host = 0;

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
  void* table = mmap(nullptr, bytes, all.at_work > 0 ? kOpen : PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (table == MAP_FAILED) throw std::bad_alloc();
  all.tables[table] = bytes;
  return table;
}

void release(void* table) {
  Memory& all = memory();
  const std::lock_guard<std::mutex> lock(all.mutex);
  const auto found = all.tables.find(table);
  if (found == all.tables.end()) return;
  munmap(table, found->second);
  all.tables.erase(found);
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
