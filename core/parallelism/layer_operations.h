// How a step's graph (core/parallelism/step_graph.h) comes from the section `parallelism`: the layers of the
// model are gone through forward and back, and the kind of parallelism says what is exchanged around each of
// them.
//
// A kind is a file of this folder: its option, and what it adds to a step. kinds.cc lists them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/model_shape.h"
#include "core/codecs/codec.h"
#include "core/parallelism/parallelism.h"
#include "core/parallelism/step_graph.h"

namespace longhaul {

// The model as a step computes it.
struct StepModel {
  std::optional<ModelShape> shape = {};  // none: only the number of parameters is known
  std::int64_t parameters = 0;
  std::int64_t tokens = 0;  // of a replica in a step; 0: not said
  Wire wire = Wire::kBf16;
};

// The parameters of a replica: those that all replicas have, and those of which its peers in other groups
// have the same part.
struct HeldParameters {
  std::int64_t shared = 0, sharded = 0;
};

// A list of tasks that grows. What is exchanged while a layer computes is started, and awaited by the compute
// that needs it.
class StepGraphBuilder {
 public:
  // The number of a new collective.
  int add(StepCollective collective);
  void compute(double share);
  // As soon as all compute so far is done, and what the next compute awaits.
  int start(int collective, std::int64_t bytes);
  // As soon as all compute so far is done.
  int start_ahead(int collective, std::int64_t bytes);
  // The next compute awaits it.
  void await(int task) { awaited_.push_back(task); }
  // Both: nothing is computed meanwhile.
  void exchange(int collective, std::int64_t bytes) { await(start(collective, bytes)); }

  StepGraph take() { return std::move(graph_); }

 private:
  int append(StepTask task);

  StepGraph graph_;
  std::vector<int> awaited_;
  int last_compute_ = -1;
};

// One pass of one micro-batch through a layer. A forward pass is attention, then the feed-forward network; a
// backward pass the other way.
struct LayerPass {
  int layer = 0;
  bool is_forward = true;
};

class LayerOperations {
 public:
  virtual ~LayerOperations() = default;

  virtual void before_layer(StepGraphBuilder&, const LayerPass&) {}
  virtual void before_feed_forward(StepGraphBuilder&, const LayerPass&) {}
  virtual void after_feed_forward(StepGraphBuilder&, const LayerPass&) {}
  virtual void after_attention(StepGraphBuilder&, const LayerPass&) {}
  virtual void after_layer(StepGraphBuilder&, const LayerPass&) {}
  virtual HeldParameters held() const = 0;
};

// What a kind is made of. `layers`: those of the spec, else of the model. `microbatch_tokens`: of a replica.
struct LayerContext {
  const ParallelismSpec& spec;
  const StepModel& model;
  int layers = 0;
  std::int64_t microbatch_tokens = 0;

  // Throws InputError where neither the scenario nor the model says it.
  std::int64_t width(int written, const char* path) const;
  // Throws InputError where nothing says how many tokens there are.
  void need_tokens() const;
  // A whole number of bytes that one contributes; throws InputError where that is none, or beyond what 64
  // bits count.
  std::int64_t whole_bytes(double bytes, const char* path) const;
};

struct ParallelKind {
  const char* name;  // of its key in the section
  Node (*option)();
  // Adds its collectives to the builder. Throws InputError with a path below "parallelism".
  std::unique_ptr<LayerOperations> (*make)(const LayerContext& context, StepGraphBuilder& builder);
};

const std::vector<ParallelKind>& parallel_kinds();
// An option of several kinds.
Node hidden_option();

// Of a case without the section: no tasks. Throws InputError.
StepGraph step_graph_of(const ParallelismSpec& spec, const StepModel& model);
HeldParameters held_parameters(const ParallelismSpec& spec, const StepModel& model);

}  // namespace longhaul
