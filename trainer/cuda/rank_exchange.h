// Blocking operations of several ranks whose rows lie in their GPUs' memories: what is exchanged, packed or
// summed by kernels, travels from card to card (device_transfers.h). The bits are those of one process: means
// of everyone go from rank to rank in the order of the replicas, as in ranks/chained_sum.h; the members of a
// smaller group send each other what they contribute.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "trainer/cuda/device_table.h"
#include "trainer/cuda/device_transfers.h"
#include "trainer/cuda/rank_rows.h"
#include "trainer/operations/operation_runner.h"
#include "trainer/operations/update.h"

namespace longhaul {

class RankExchange : private DeviceSteps {
 public:
  using TableOf = std::function<float*(Slot)>;

  struct Sizes {
    std::int64_t part = 1 << 22;     // columns that have their means at once
    std::int64_t piece = 1 << 20;    // columns of a sum that travel at once
    std::int64_t packed = 64 << 20;  // bytes, at most, of a group's packed rows at once
  };

  // `table_of` finds the table of a slot: its rows of the replicas that are held here. All ranks make theirs
  // together, with the same sizes.
  RankExchange(Replicas& replicas, TableOf table_of, Sizes sizes);
  RankExchange(Replicas& replicas, TableOf table_of) : RankExchange(replicas, std::move(table_of), Sizes{}) {}

  // What one of the usual sizes allocates on the card.
  static std::int64_t bytes(const Arena& arena);

  // False on all ranks, and nothing done, where the update has no kernel, where its payload is compressed, a
  // part of the columns or for targets, or where a part of it was sent ahead.
  bool run(const Operation& operation, const OperationRunner& runner, CudaStream stream);

 private:
  // What an operation sends of each row: itself, or its distance from another slot's.
  struct Tensor {
    Slot slot;
    const Slot* less;
  };

  void average(Slot slot) override;
  void outer_step(const DilocoStep& step) override { outer_steps(step); }
  void outer_step(const NolocoStep& step) override { outer_steps(step); }

  template <typename Step>
  void outer_steps(const Step& step);

  // take(members held here, first column, columns) with the means of `tensors` over the group in means_.
  using Take = std::function<void(const std::vector<int>&, std::int64_t, std::int64_t)>;
  void for_each_group(const std::vector<Tensor>& tensors, const Take& take);
  void mean_of_everyone(const Tensor& tensor, std::int64_t begin, std::int64_t columns, float* mean);
  void means_of_group(const std::vector<int>& group, const std::vector<Tensor>& tensors, std::int64_t begin,
                      std::int64_t columns);

  float* row(Slot slot, int replica, std::int64_t column) const;
  float* mean(std::size_t tensor) const;
  ContributedRows rows_of(const Tensor& tensor, int replica, std::int64_t begin) const;

  Replicas& replicas_;
  TableOf table_of_;
  Sizes sizes_;
  std::unique_ptr<DeviceTransfers> transfers_;
  DeviceTable<float> means_;  // [2, columns of a part]
  DeviceTable<char> packed_;  // of a group's members and tensors, a part of their columns

  // Of the operation at work.
  std::vector<std::vector<int>> groups_;
  Wire wire_ = Wire::kFp32;
  CudaStream stream_{};
};

}  // namespace longhaul
