// The section `workload.node` of a scenario: a worker that is a node of several devices, which compute a step
// together and talk to each other inside the site. What that takes is core/plan/node_passes.h.
#pragma once

#include "core/base/json.h"
#include "core/base/options.h"
#include "core/base/words.h"
#include "core/codecs/codec.h"

namespace longhaul {

// What the devices of a node share.
//
//   kTensor   each matrix of a layer (Megatron-LM, arXiv 1909.08053, section 3)
//   kSharded  weights, gradients and optimizer state; a device gathers what it computes with (ZeRO-3, arXiv
//             1910.02054; FSDP)
enum class NodeParallelism { kTensor, kSharded };
template <>
struct Words<NodeParallelism> {
  static constexpr Word<NodeParallelism> all[] = {{NodeParallelism::kTensor, "tensor"},
                                                  {NodeParallelism::kSharded, "sharded"}};
};

struct DeviceNodeSpec {
  int devices = 2;
  NodeParallelism parallelism = NodeParallelism::kTensor;
  double rate = 0;     // bit/s that a device sends to the next one, while it receives as many
  double delay_s = 0;  // of a message between two devices
  double overlap = 0;  // share of the communication that may hide behind the compute of the same pass
  Wire wire = Wire::kBf16;
};

Node device_node_options();

// Of a resolved `workload.node`.
DeviceNodeSpec parse_device_node(const Json& json);

}  // namespace longhaul
