// The section `pipeline` of a scenario: the model cut into stages, one behind another, of which each replica
// has all. A worker is one stage of one replica, and has its own place in the network.
//
// A replica's batch is cut into micro-batches, which go through the stages one behind another. Where they go
// is the routing's (NoLoCo's dynamic routing, arXiv 2506.10911, section 3.1), and in which order a worker
// takes them is the schedule's.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "core/base/json.h"
#include "core/base/options.h"
#include "core/base/words.h"
#include "core/codecs/codec.h"

namespace longhaul {

// In which order a worker takes its forward and backward passes. All end with a flush: no micro-batch of a
// step is under way when the optimizer takes the step.
//
//   kGpipe        all forward passes, then all backward passes (GPipe, arXiv 1811.06965)
//   k1f1b         so many forward passes that the last stage has work, then a backward pass after each
//                 forward pass (PipeDream-Flush; Megatron-LM, arXiv 2104.04473, figure 3)
//   kInterleaved  the same with several parts of the model on each worker (arXiv 2104.04473, figure 4)
enum class PipelineSchedule { kGpipe, k1f1b, kInterleaved };
template <>
struct Words<PipelineSchedule> {
  static constexpr Word<PipelineSchedule> all[] = {{PipelineSchedule::kGpipe, "gpipe"},
                                                   {PipelineSchedule::k1f1b, "1f1b"},
                                                   {PipelineSchedule::kInterleaved, "interleaved"}};
};

// kStraight: through the stages of its own replica. kRandom: at each hop a fresh permutation of the replicas
// says who gets whose micro-batch; the backward pass goes the same path back. kThroughput: each worker hands
// it to the worker of the next stage that is fastest by what it has measured (SWARM, arXiv 2301.11913;
// replay/pipeline/wiring.h); a worker takes what comes, backward passes first.
enum class MicrobatchRouting { kStraight, kRandom, kThroughput };
template <>
struct Words<MicrobatchRouting> {
  static constexpr Word<MicrobatchRouting> all[] = {{MicrobatchRouting::kStraight, "straight"},
                                                    {MicrobatchRouting::kRandom, "random"},
                                                    {MicrobatchRouting::kThroughput, "throughput"}};
};

// How the model is cut: into parts of as many layers, or of as much work, or as given.
enum class PipelineCut { kLayers, kCost, kGiven };
template <>
struct Words<PipelineCut> {
  static constexpr Word<PipelineCut> all[] = {{PipelineCut::kLayers, "layers"}, {PipelineCut::kCost, "cost"}};
};

// Which parts a micro-batch leaves out, and which it takes in the other order. kScheduled: so that few reach
// a worker together (core/plan/paths.h), the same at each step; kRandom: drawn for each.
enum class PartialPaths { kScheduled, kRandom };
template <>
struct Words<PartialPaths> {
  static constexpr Word<PartialPaths> all[] = {{PartialPaths::kScheduled, "scheduled"},
                                               {PartialPaths::kRandom, "random"}};
};

// How what passes one way travels at each hop, from part p to p + 1 (or back): quantized, or, without a
// format, in the numbers of workload.wire. One format for all hops, or a list by hop.
class HopFormats {
 public:
  HopFormats() = default;
  HopFormats(std::nullopt_t) {}
  HopFormats(const Quantized& of_all) : formats_(1, of_all) {}
  explicit HopFormats(std::vector<std::optional<Quantized>> by_hop) : formats_(std::move(by_hop)) {}

  const std::optional<Quantized>& at(int hop) const;
  bool any() const;  // whether a hop has a format
  bool is_list() const { return formats_.size() > 1; }

 private:
  std::vector<std::optional<Quantized>> formats_;  // empty: of no hop; one: of all
};

// Bits of a hop that are trained (AMAQ, arXiv 2510.05468): b = floor + (ceiling − floor) σ(q), used rounded,
// with a gate q of each worker that sends (trainer/pipeline/bit_gates.h).
struct LearnedBits {
  int floor = 2, ceiling = 8;
  double penalty = 0;      // β: the loss gets β · the mean over hops of σ(q)²
  double lr = 0;           // of the gates
  double gate = 0;         // q before the first step
  int first_step = 1;      // at which gates move
  int block = 1024;        // numbers that share a scale
  bool gradients = false;  // gradients travel with the bits of the activations that they belong to

  std::optional<Quantized> format_of(int bits) const { return Quantized{whole_quantizer(bits), block}; }
};

// How what passes from part to part travels. Without a codec in the numbers of workload.wire, and the
// training does not round: that is train.precision's.
struct BoundarySpec {
  HopFormats activations, gradients;
  std::optional<LearnedBits> learned;  // of activations, which then have no format above
  // > 0: the model is constrained so that so many coordinates of a token pass a boundary without loss
  // (Protocol Models, arXiv 2506.01260; trainer/pipeline/subspace.h), and forward its id too.
  int subspace = 0;
  double bytes_per_token = 0;  // each way; 0: follows from the above
};

struct PipelineSpec {
  int stages = 1;
  int microbatches = 1;  // of a replica's batch
  PipelineSchedule schedule = PipelineSchedule::k1f1b;
  int chunks = 1;  // parts of the model on each worker; more than one with kInterleaved alone
  MicrobatchRouting routing = MicrobatchRouting::kStraight;
  int skip = 0;           // parts that each micro-batch leaves out
  bool reorders = false;  // a micro-batch may take two neighbouring parts in the other order
  PartialPaths partial = PartialPaths::kScheduled;
  PipelineCut cut = PipelineCut::kLayers;
  std::vector<int> layers;  // of kGiven, by part
  double backward = 2;      // a backward pass takes so many times as long as a forward pass
  // A worker computes nothing while a message of its own is under way to the next worker, or one that it
  // needs next (Megatron-LM without overlap_p2p_comm). Else messages travel beside the compute.
  bool blocks = false;
  // With kThroughput: steps between moves of a worker to another stage (SWARM; replay/pipeline/rebalance.h),
  // and what such a worker downloads, bytes for each parameter of its new stage. 0: no worker ever moves.
  int rebalance_every = 0;
  double state_bytes = 12;
  BoundarySpec boundary;

  int parts() const { return stages * chunks; }
  bool has_stages() const { return stages > 1; }
  bool is_partial() const { return skip > 0 || reorders; }
};

// The declaration of `pipeline`.
Node pipeline_options();
// That of a method's own `pipeline`: the same keys, none with a default.
Node method_pipeline_options();

// A resolved case with its method's `pipeline`, if it has one, merged into its own.
Json with_effective_pipeline(Json resolved);

// Of a resolved case; without the section one stage. Throws InputError where values contradict each other.
PipelineSpec parse_pipeline(const Json& resolved);

// Worker `stage` of a replica has this number, wherever the network, step times and the tables of a replay
// count: replica after replica.
inline int worker_of(int replica, int stage, int stages) {
  return replica * stages + stage;
}

}  // namespace longhaul
