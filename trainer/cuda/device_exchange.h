// The exchanges of the methods on tables in the GPU's memory. What is sent is logged as the host's updates
// log it (trainer/updates); a test holds both logs together.
#pragma once

#include "trainer/cuda/device_table.h"
#include "trainer/cuda/row_kernels.h"
#include "trainer/updates/update.h"

namespace longhaul {

// Groups one after the other, for GroupTable.
struct FlatGroups {
  std::vector<int> members, begins;
};
FlatGroups flat_groups(const std::vector<std::vector<int>>& groups);

Rounding rounding_of(Wire wire);

class DeviceExchange {
 public:
  // `tables` by slot, as many as the arena has; null beyond.
  DeviceExchange(const MethodSpec& method, const std::vector<float*>& tables);

  // A blocking exchange. `update` is the host's, for messages that are in flight and for exchanges that move
  // no number.
  void run(const Exchange& exchange, Replicas& replicas, Update& update, CudaStream stream);

 private:
  void outer_step(const Exchange& exchange, Replicas& replicas, Update& update, CudaStream stream);
  void average(const Exchange& exchange, Replicas& replicas, CudaStream stream);
  GroupTable upload(const std::vector<std::vector<int>>& groups);
  const float* anchors(const std::vector<std::vector<int>>& groups, Replicas& replicas, Update& update);

  MethodSpec method_;
  std::vector<float*> tables_;
  DeviceTable<int> members_, begins_;
  DeviceTable<float> anchors_;  // [R, P], where anchors are sent ahead
};

}  // namespace longhaul
