// What a pipeline comes to for one model: which columns and how much of the compute each part has, what
// passes between parts, and in which order a worker takes its passes. Pure data, the same for the trainer and
// the replay.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/model_shape.h"
#include "core/scenario/pipeline.h"

namespace longhaul {

// Layers [first_layer, end_layer) of the model; the first part has the embedding too, the last one the last
// norm and the output layer.
struct PipelinePart {
  int first_layer = 0, end_layer = 0;
  ColumnRange columns = {};
  double share = 1;  // of the work of the whole model; the parts' add up to 1
};

struct PipelinePlan {
  int stages = 1, microbatches = 1;
  PipelineSchedule schedule = PipelineSchedule::k1f1b;
  MicrobatchRouting routing = MicrobatchRouting::kStraight;
  double backward = 2;
  bool blocks = false;
  std::vector<PipelinePart> parts = {};  // in the order of the model; part p is on stage p mod stages
  // Of one micro-batch: what passes forward from part p to part p + 1, and back. One less than parts. Of
  // learned bits these are upper bounds, with the most bits; trace.h has what was learned.
  std::vector<std::int64_t> forward_bytes = {}, backward_bytes = {};
  int skip = 0;  // parts that each micro-batch leaves out
  bool reorders = false;
  // By micro-batch and place the part that is met there, -1: none (core/plan/paths.h). Empty where all are
  // met, and where that is drawn.
  std::vector<std::vector<int>> orders = {};
  // Of learned bits: the same by bits, from the fewest on, and by hop.
  struct BytesByBits {
    int fewest = 0;
    std::vector<std::vector<std::int64_t>> forward = {}, backward = {};

    int most() const { return fewest + static_cast<int>(forward.size()) - 1; }
  };
  std::optional<BytesByBits> by_bits = {};

  bool is_partial() const { return skip > 0 || reorders; }
  bool has_stages() const { return stages > 1; }
  int part_count() const { return static_cast<int>(parts.size()); }
  int stage_of(int part) const { return part % stages; }
  int hop_count() const { return part_count() - 1; }
  int hops_of_microbatch() const { return hop_count() - skip; }  // one way
  // Activations and gradients that a replica's workers send in a step: micro-batches x hops x bytes, both
  // ways.
  std::int64_t bytes_of_step() const;
  Columns columns_of(int stage) const;
  double share_of(int stage) const;  // of the work
};

// `shape`: none where only the number of parameters is known; then parts are equal, and
// boundary.bytes_per_token must be given. `tokens`: per replica and step, 0 where nothing says it. Throws
// InputError with paths below "pipeline": more parts than layers, a batch that does not divide, a hop whose
// bytes are not known.
PipelinePlan pipeline_plan(const PipelineSpec& spec, const std::optional<ModelShape>& shape,
                           std::int64_t parameters, std::int64_t tokens, Wire wire);

// A micro-batch's pass through one part.
struct PipelineTask {
  bool is_forward = true;
  int part = 0, microbatch = 0;
};

inline bool operator==(const PipelineTask& a, const PipelineTask& b) {
  return a.is_forward == b.is_forward && a.part == b.part && a.microbatch == b.microbatch;
}

// Of one worker in one step, in its order. Each worker has as many micro-batches as its replica, whichever
// they are.
std::vector<PipelineTask> tasks_of_stage(const PipelinePlan& plan, int stage);

// For trace.jsonl.
Json to_json(const PipelinePlan& plan);
PipelinePlan pipeline_from(const Json& json, std::int64_t parameters);  // throws InputError

}  // namespace longhaul
