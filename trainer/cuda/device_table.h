// Memory of the GPU, and of the host for it, with an owner.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "trainer/device/cuda_device.h"

namespace longhaul {

template <typename Element>
class DeviceTable {
 public:
  DeviceTable() = default;
  // Zeros.
  explicit DeviceTable(std::size_t count)
      : data_(reinterpret_cast<Element*>(allocate_on_device(count * sizeof(Element)))), count_(count) {}
  explicit DeviceTable(const std::vector<Element>& values) : DeviceTable(values.size()) { set(values); }

  Element* get() const { return data_.get(); }
  std::size_t size() const { return count_; }
  void set(const std::vector<Element>& values) { set(values.data(), values.size()); }
  void set(const Element* values, std::size_t count) {
    copy_to_device(get(), values, count * sizeof(Element));
  }
  void read(Element* values, std::size_t count) const {
    copy_to_host(values, get(), count * sizeof(Element));
  }
  std::vector<Element> read() const {
    std::vector<Element> values(count_);
    read(values.data(), count_);
    return values;
  }

 private:
  struct Free {
    void operator()(Element* data) const { free_on_device(reinterpret_cast<float*>(data)); }
  };

  std::unique_ptr<Element, Free> data_;
  std::size_t count_ = 0;
};

// Host memory that the card reads and writes by itself, without the host waiting for it; and tables that are
// written anew before each step through such memory.

template <typename Element>
class PinnedTable {
 public:
  explicit PinnedTable(std::size_t count)
      : data_(static_cast<Element*>(allocate_pinned(count * sizeof(Element)))), count_(count) {}

  Element* get() const { return data_.get(); }
  std::size_t size() const { return count_; }

 private:
  struct Free {
    void operator()(Element* data) const { free_pinned(data); }
  };

  std::unique_ptr<Element, Free> data_;
  std::size_t count_;
};

// Memory of the host that kernels read and write where it is, while this lives.
class RegisteredMemory {
 public:
  RegisteredMemory(void* memory, std::size_t bytes)
      : memory_(memory), on_card_(register_host_memory(memory, bytes)) {}
  ~RegisteredMemory() { unregister_host_memory(memory_); }
  RegisteredMemory(const RegisteredMemory&) = delete;
  RegisteredMemory& operator=(const RegisteredMemory&) = delete;

  void* on_card() const { return on_card_; }

 private:
  void *memory_, *on_card_;
};

// How many steps may be under way: one at work and one behind it.
constexpr int kStepsUnderWay = 2;

// What is sent for a step waits in pinned memory of its own until its copy has happened.
template <typename Element>
class SentTable {
 public:
  explicit SentTable(std::size_t count)
      : table_(count), waiting_{PinnedTable<Element>(count), PinnedTable<Element>(count)} {}
  explicit SentTable(const std::vector<Element>& values) : SentTable(values.size()) { table_.set(values); }

  Element* get() const { return table_.get(); }
  std::size_t size() const { return table_.size(); }

  // At most once a step. `write` fills the memory [count].
  template <typename Write>
  void send(CudaStream stream, const Write& write) {
    Element* const next = waiting_[turn_].get();
    turn_ = (turn_ + 1) % kStepsUnderWay;
    write(next);
    copy_to_device(get(), next, size() * sizeof(Element), stream);
  }
  void send(CudaStream stream, const std::vector<Element>& values) {
    send(stream, [&](Element* to) { std::copy(values.begin(), values.end(), to); });
  }

 private:
  DeviceTable<Element> table_;
  PinnedTable<Element> waiting_[kStepsUnderWay];
  int turn_ = 0;
};

}  // namespace longhaul
