#include "core/scenario/device_node.h"

#include "core/base/units.h"

namespace longhaul {

Node device_node_options() {
  return section(
             "node",
             {integer("devices").at_least(2).at_most(1024).required().means("of each worker"),
              choice("parallelism", words_of<NodeParallelism>())
                  .required()
                  .means("tensor: each matrix of a layer is cut over the devices, four all-reduces of "
                         "activations a layer and micro-batch (Megatron-LM, arXiv 1909.08053); sharded: "
                         "weights are cut, two all-gathers and a reduce-scatter a micro-batch (ZeRO-3, FSDP, "
                         "arXiv 1910.02054)"),
              rate("rate").above(0).required().means(
                  "what a device sends to the next one of the ring, and receives as well"),
              duration("delay").at_least(0).by_default("0s").means("of a message between two devices"),
              number("overlap").at_least(0).at_most(1).by_default(0).means(
                  "share of this communication that may hide behind the compute of the same pass; the rest "
                  "makes the pass longer"),
              choice("wire", {"fp32", "bf16", "fp16"})
                  .by_default("bf16")
                  .means("number format of what the devices exchange")})
      .means(
          "a worker is a node of several devices: step_time is that of one device, and what they say to "
          "each other stays inside the site (docs/reference/pipelines.md)");
}

DeviceNodeSpec parse_device_node(const Json& json) {
  DeviceNodeSpec node;
  node.devices = json.at("devices");
  node.parallelism = from_word<NodeParallelism>(json.at("parallelism"), "workload.node.parallelism");
  node.rate = parse_rate(json.at("rate"));
  node.delay_s = parse_duration(json.at("delay"));
  node.overlap = json.at("overlap");
  node.wire = parse_wire(json.at("wire"));
  return node;
}

}  // namespace longhaul
