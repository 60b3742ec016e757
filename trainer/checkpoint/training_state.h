// What a checkpoint keeps of a training, so that it can continue with the same bytes, and under which names.
// Random streams and places in the data need no keeping: they follow from (seed, replica, step).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/index.h"
#include "trainer/checkpoint/checkpoint_folder.h"
#include "trainer/checkpoint/safetensors.h"
#include "trainer/operations/operation_runner.h"
#include "trainer/ranks/row_transfer.h"

namespace longhaul {

// The tensors of a checkpoint that is continued, brought to the ranks that need them. All ranks ask for the
// same ones in the same order; rank 0 alone opens the file. Throws InputError there where a tensor is missing
// or of another size.
class CheckpointTensors {
 public:
  CheckpointTensors(const Checkpoint& checkpoint, Replicas& replicas);

  void table(Slot slot);
  // `count` numbers, on the rank that holds the replica; elsewhere none.
  template <typename Number = float>
  std::vector<Number> held(const std::string& name, int replica, std::int64_t count) {
    std::vector<Number> numbers(replicas_.arena.held().contains(replica) ? as_index(count) : 0);
    to_holder(name, replica, numbers.data(), count * static_cast<std::int64_t>(sizeof(Number)));
    return numbers;
  }
  void to_all(const std::string& name, std::vector<float>& numbers);  // as many as there are

 private:
  void to_holder(const std::string& name, int replica, void* out, std::int64_t bytes);
  ReadBytes reader(const std::string& name, std::int64_t expected);

  Replicas& replicas_;
  std::string name_;
  std::optional<SafetensorsFile> file_;  // of rank 0
};

// A tensor that lies with the rank that holds the replica; `data` is null elsewhere. With several ranks all
// of them read every tensor once, in the same order: rank 0 gets the bytes of all, the others send theirs.
TensorView held_tensor(Replicas& replicas, const std::string& name, const std::string& dtype,
                       std::int64_t elements, int replica, const void* data);

// The arena's tables [R, P] and the messages of the operations that are pending after the step
// (PostedMessages::pending); after the last step (`is_last`) the weights and the method's product
// alone. The gradient is not kept: each step overwrites it.
std::vector<TensorView> tensors_to_keep(Replicas& replicas, const OperationRunner& operations,
                                        const std::vector<Operation>& pending, bool is_last);

// The reverse.
void restore_tensors(CheckpointTensors& tensors, Replicas& replicas, OperationRunner& operations,
                     const std::vector<Operation>& pending, bool is_last);

}  // namespace longhaul
