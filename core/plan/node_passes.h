// How long the passes of a pipeline take on workers that are nodes of several devices (`workload.node`), and
// what passes between the devices.
//
// Of one micro-batch in one part with L layers and P parameters, t tokens, hidden h, T devices, b bytes a
// number and one-device compute time c, forward and back alike:
//
//   pass = c / T + exposed,  exposed = x − min(overlap · x, c / T)
//
//   tensor   x = 2 L · (2 (T − 1)/T · t h b / rate + 2 (T − 1) · delay): two all-reduces a layer and pass, as
//            rings (Megatron-LM, arXiv 1909.08053, section 3). Those of embedding and output are left out:
//            two in a step against four for each layer.
//   sharded  x = n · ((T − 1)/T · P b / rate + L (T − 1) · delay), n = 1 forward, where the weights are
//            gathered, and 2 back, where they are gathered again and gradients reduced and scattered (ZeRO-3,
//            arXiv 1910.02054, section 7; FSDP). Each layer is one collective of its own; a part without
//            layers, or whose layers are not known, is one.
//
// Weights are gathered for each pass of each micro-batch, since a device keeps none of the others' between
// them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/plan/pipeline.h"
#include "core/scenario/case.h"

namespace longhaul {

// One pass of a worker, or a step of passes.
struct NodePass {
  double seconds = 0;    // with what is exposed
  double exposed_s = 0;  // communication inside the node that compute does not hide
  double bytes = 0;      // that the node's devices send to each other: whole, but more than 64 bits may hold
};

class NodePasses {
 public:
  // Workers of one device: passes take what they take.
  NodePasses() = default;
  // `tokens`: per replica and step. Throws InputError with paths below "workload" where the node does not fit
  // the model: tensor without a model or tokens, devices that do not divide heads and ffn.
  NodePasses(const DeviceNodeSpec& node, const PipelinePlan& plan, const std::optional<ModelShape>& shape,
             std::int64_t tokens);

  bool are_of_nodes() const { return devices_ > 1; }
  // Of a micro-batch; `one_device_s`: what one device would compute.
  NodePass pass(int part, bool is_forward, double one_device_s) const;
  // All passes of a replica's step together, one after another; of parts that micro-batches leave out as many
  // as on average. `one_device_s`: of the step, were none left out.
  NodePass step(double one_device_s) const;

 private:
  struct Talk {
    double seconds = 0, bytes = 0;
  };

  int devices_ = 1;
  double overlap_ = 0;
  int microbatches_ = 1;
  double backward_ = 2;
  std::vector<double> met_;           // by part: of the micro-batches, the share that takes it
  std::vector<double> shares_;        // of the work, by part
  std::vector<Talk> forward_, back_;  // by part
};

// Of the model that the network carries.
NodePasses node_passes(const Case& config);

}  // namespace longhaul
