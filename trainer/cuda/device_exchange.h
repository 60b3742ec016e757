// Operations on tables in the GPU's memory. What is sent is logged as the host's runner logs it
// (operations/operation_runner.h); a test holds both logs together.
#pragma once

#include <functional>
#include <optional>

#include "trainer/cuda/device_table.h"
#include "trainer/cuda/row_kernels.h"
#include "trainer/operations/operation_runner.h"
#include "trainer/operations/update.h"

namespace longhaul {

class DeviceExchange : private DeviceSteps {
 public:
  using TableOf = std::function<float*(Slot)>;

  // `table_of` finds the table of a slot that the arena has. Of a plan in which φ is sent ahead, plain and
  // whole, it keeps a table of what was sent; with several ranks the host does.
  DeviceExchange(Replicas& replicas, const OperationPlan& plan, TableOf table_of);

  // What one allocates.
  static std::int64_t bytes(const OperationPlan& plan, const Arena& arena, const Ranks& ranks);

  // A blocking operation in one process. False, and nothing done, where it has no kernel: its update has
  // none, or its payload is compressed or a part of the columns.
  bool run(const Operation& operation, const OperationRunner& runner, CudaStream stream);
  // Posts an overlapped one: its φ waits on the card. False, and nothing done, where the host has to.
  bool send_ahead(const Operation& operation, CudaStream stream);
  // Puts what waits on the card into the runner, from which a checkpoint takes it.
  void keep_in(OperationRunner& runner) const;
  // An overlapped one that was applied does not wait any more.
  void awaited(const Operation& operation);
  // Forgets what waits on the card: the runner has what counts.
  void forget() { ahead_.reset(); }

 private:
  void average(Slot slot) override;
  void outer_step(const DilocoStep& step) override;
  void outer_step(const NolocoStep& step) override;

  GroupTable upload_groups();
  OuterTables outer_tables();
  const void* anchors();

  Replicas& replicas_;
  TableOf table_of_;
  DeviceTable<int> members_, begins_;
  std::optional<Wire> format_;         // of anchors that are sent ahead; none: none are
  DeviceTable<std::uint8_t> anchors_;  // [R, P] in this format
  std::optional<Operation> ahead_;  // whose anchors these are; none: the runner has them, or there are none

  // Of the operation at work.
  const Operation* operation_ = nullptr;
  const OperationRunner* runner_ = nullptr;
  Wire wire_ = Wire::kFp32;
  std::vector<std::vector<int>> groups_;
  CudaStream stream_{};
};

}  // namespace longhaul
