// Memory of the GPU with an owner.
#pragma once

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

}  // namespace longhaul
