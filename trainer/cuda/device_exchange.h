// Operations on tables in the GPU's memory. What is sent is logged as the host's runner logs it
// (updates/operation_runner.h); a test holds both logs together.
#pragma once

#include <functional>

#include "trainer/cuda/device_table.h"
#include "trainer/cuda/row_kernels.h"
#include "trainer/operations/operation_runner.h"
#include "trainer/operations/update.h"

namespace longhaul {

class DeviceExchange : private DeviceSteps {
 public:
  using TableOf = std::function<float*(Slot)>;

  // `table_of` finds the table of a slot that the arena has.
  DeviceExchange(Replicas& replicas, TableOf table_of)
      : replicas_(replicas), table_of_(std::move(table_of)) {}

  // A blocking operation in one process. False, and nothing done, where it has no kernel: its update has
  // none, or its payload is compressed or a part of the columns.
  bool run(const Operation& operation, const OperationRunner& runner, CudaStream stream);

 private:
  void average(Slot slot) override;
  void outer_step(const DilocoStep& step) override;
  void outer_step(const NolocoStep& step) override;

  void log(const Operation& operation);
  GroupTable upload_groups();
  OuterTables outer_tables();
  const float* anchors();

  Replicas& replicas_;
  TableOf table_of_;
  DeviceTable<int> members_, begins_;
  DeviceTable<float> anchors_;  // [R, P], where anchors are sent ahead

  // Of the operation at work.
  const Operation* operation_ = nullptr;
  const OperationRunner* runner_ = nullptr;
  std::vector<std::vector<int>> groups_;
  CudaStream stream_{};
};

}  // namespace longhaul
