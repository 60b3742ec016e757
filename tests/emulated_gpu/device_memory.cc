#include "tests/emulated_gpu/device_memory.h"

#include <sys/mman.h>

#include <map>
#include <mutex>
#include <new>

namespace longhaul::emulated {
namespace {

constexpr std::size_t kMemory = std::size_t{1} << 32, kPage = 4096;

std::size_t rounded_up(std::size_t bytes, std::size_t to) {
  return (bytes + to - 1) / to * to;
}

// A table ends, up to 16 bytes, where its pages do; the page behind is never open.
struct Table {
  char* pages;
  std::size_t open, bytes;
};

struct Memory {
  std::mutex mutex;
  std::map<void*, Table> tables;
  int at_work = 0;
  std::size_t taken = 0, all = kMemory;

  void protect(int protection) {
    for (const auto& [address, table] : tables) mprotect(table.pages, table.open, protection);
  }
};

Memory& memory() {
  static Memory all;
  return all;
}

constexpr int kOpen = PROT_READ | PROT_WRITE;

}  // namespace

std::atomic<std::size_t> copied_to_host{0};
std::atomic<bool> fills_at_next_run{false};

void* allocate(std::size_t bytes) {
  if (bytes == 0) return nullptr;
  Memory& all = memory();
  const std::lock_guard<std::mutex> lock(all.mutex);
  if (bytes > all.all - all.taken) return nullptr;
  const std::size_t open = rounded_up(bytes, kPage);
  void* pages = mmap(nullptr, open + kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) throw std::bad_alloc();
  if (all.at_work > 0) mprotect(pages, open, kOpen);
  constexpr std::size_t kWidestAccess = 16;
  const Table table{static_cast<char*>(pages), open, bytes};
  void* const address = table.pages + open - rounded_up(bytes, kWidestAccess);
  all.tables[address] = table;
  all.taken += bytes;
  return address;
}

void release(void* table) {
  Memory& all = memory();
  const std::lock_guard<std::mutex> lock(all.mutex);
  const auto found = all.tables.find(table);
  if (found == all.tables.end()) return;
  munmap(found->second.pages, found->second.open + kPage);
  all.taken -= found->second.bytes;
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

DeviceAtWork::DeviceAtWork() {
  const std::lock_guard<std::mutex> lock(memory().mutex);
  if (memory().at_work++ == 0) memory().protect(kOpen);
}

DeviceAtWork::~DeviceAtWork() {
  const std::lock_guard<std::mutex> lock(memory().mutex);
  if (--memory().at_work == 0) memory().protect(PROT_NONE);
}

}  // namespace longhaul::emulated
