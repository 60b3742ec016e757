#include "trainer/replicas/arena.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <numeric>
#include <set>
#include <stdexcept>

#include "core/base/errors.h"
#include "core/base/index.h"
#include "core/base/units.h"

namespace longhaul {

std::vector<int> RowBlock::replicas() const {
  std::vector<int> all(as_index(size()));
  std::iota(all.begin(), all.end(), first);
  return all;
}

Slot slot_named(const std::string& name) {
  static std::mutex mutex;
  static std::set<std::string> names;
  const std::lock_guard<std::mutex> lock(mutex);
  return {names.insert(name).first->c_str()};
}

std::vector<Slot> slots_with(const std::vector<std::string>& names) {
  std::vector<Slot> slots = {Slot::kWeights, Slot::kGradient, Slot::kFirstMoment, Slot::kSecondMoment};
  for (const std::string& name : names) slots.push_back(slot_named(name));
  return slots;
}

void Arena::Unmap::operator()(float* table) const {
  munmap(table, bytes);
}

// Pages of zeros that cost nothing before they are touched, and large ones where the system has them: with
// small ones the first reads and writes of a table were a third of a start, and AdamW missed the TLB.
Arena::Arena(std::vector<Slot> slots, int replicas, std::int64_t parameters, RowBlock held)
    : slots_(std::move(slots)), replicas_(replicas), held_(held), parameters_(parameters) {
  const std::size_t bytes = as_index(held.size()) * as_index(parameters) * sizeof(float);
  for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
    void* table = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (table == MAP_FAILED)
      throw RunError("not enough memory for " + std::to_string(held.size()) + " replicas of " +
                     std::to_string(parameters) + " parameters: " + std::to_string(slots_.size()) +
                     " tables of " + human_bytes(static_cast<double>(bytes)));
    madvise(table, bytes, MADV_HUGEPAGE);
    tables_.emplace_back(static_cast<float*>(table), Unmap{bytes});
  }
}

Arena::Arena(std::vector<Slot> slots, int replicas, std::int64_t parameters)
    : Arena(std::move(slots), replicas, parameters, {0, replicas}) {}

// By address first: the steps of small models ask for rows all the time, and names of other tables differ.
std::size_t Arena::index_of(Slot slot) const {
  for (std::size_t i = 0; i < slots_.size(); ++i)
    if (slots_[i].name == slot.name) return i;
  const auto found = std::find(slots_.begin(), slots_.end(), slot);
  if (found == slots_.end()) throw std::logic_error(std::string("the arena has no table of ") + slot.name);
  return as_index(found - slots_.begin());
}

std::int64_t Arena::bytes() const {
  return static_cast<std::int64_t>(tables_.size() * sizeof(float)) * replicas_ * parameters_;
}

float* Arena::row(Slot slot, int replica) {
  if (!held_.contains(replica))
    throw std::logic_error("the rows of replica " + std::to_string(replica) + " are not held here");
  return tables_[index_of(slot)].get() + (replica - held_.first) * parameters_;
}

int Arena::share(Slot slot) {
  auto& table = tables_[index_of(slot)];
  const std::size_t bytes = table.get_deleter().bytes;
  const int file = memfd_create(slot.name, 0);
  bool is_copied = file >= 0 && ftruncate(file, static_cast<off_t>(bytes)) == 0;
  constexpr std::size_t kPiece = 1 << 20;  // of zeros alone it stays without memory
  for (std::size_t at = 0; is_copied && at < bytes; at += kPiece) {
    const char* piece = reinterpret_cast<const char*>(table.get()) + at;
    const std::size_t size = std::min(kPiece, bytes - at);
    if (std::any_of(piece, piece + size, [](char byte) { return byte != 0; }))
      is_copied = pwrite(file, piece, size, static_cast<off_t>(at)) == static_cast<ssize_t>(size);
  }
  if (!is_copied ||
      mmap(table.get(), bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) == MAP_FAILED)
    throw RunError(std::string("table ") + slot.name + " cannot be shared: " + std::strerror(errno));
  return file;
}

}  // namespace longhaul
