// A case: one point of a scenario's sweep, with every default filled in, as typed values in SI units.
//
// The resolved JSON is what is written to cases/CASE/case.json and read by the children; the structs are how
// the code reads it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/base/model_shape.h"
#include "core/base/words.h"
#include "core/codecs/codec.h"
#include "core/parallelism/parallelism.h"
#include "core/scenario/fault.h"
#include "core/scenario/inner_optimizer.h"
#include "core/scenario/network_spec.h"
#include "core/scenario/pipeline.h"
#include "core/scenario/rollouts.h"

namespace longhaul {

// Of the trainer's matrix products.
enum class Precision { kFloat32, kBf16 };
template <>
struct Words<Precision> {
  static constexpr Word<Precision> all[] = {{Precision::kFloat32, "float32"}, {Precision::kBf16, "bf16"}};
};

struct SyntheticData {
  int branching = 4;
  std::int64_t tokens = 0;
};

struct DataSpec {
  enum class Kind { kCorpus, kText, kShards, kSynthetic } kind = Kind::kCorpus;
  std::string corpus;
  std::vector<std::string> globs;       // of text or shards; relative to the scenario's folder
  std::vector<std::string> validation;  // the same, of the held-out part; empty: the end of the text
  SyntheticData synthetic;
};

struct TrainSpec {
  int steps = 0;
  ModelShape model;
  DataSpec data;
  double validation_fraction = 0;
  int evaluate_sequences = 0;  // 0: the whole held-out part
  int evaluate_every = 0;      // steps
  int checkpoint_every = 0;    // steps; not part of the training key
  int changed_values_every = 0;  // steps; 0: never
  int batch = 0;                 // sequences per replica and step
  // Of so many replicas' streams of data a replica takes its batch, in equal parts: more than one where it
  // trains on the batches of several (methods/common/registry.h, trained_case).
  int streams = 1;
  // The training text is cut into so many equal parts, and replica i draws from part i alone; 1: all from
  // all.
  int shards = 1;
  bool evaluate_ensemble = false;
  OptimizerSpec optimizer;
  std::string device;  // auto, cpu, cuda
  Precision precision = Precision::kFloat32;
  std::optional<double> target_loss;
};

// A section of dimensions, or the name of a preset. Throws InputError at `path`.
ModelShape parse_model(const Json& json, const std::string& path);

// `active_parameters` of a section, else those of its model, else all. Throws InputError at `path` where it
// has more than all.
std::int64_t active_parameters_of(const Json& json, const std::optional<ModelShape>& model,
                                  std::int64_t parameters, const std::string& path);

struct StepTime {
  enum class Kind { kConstant, kLognormal, kMeasured } kind = Kind::kConstant;
  double seconds = 0;        // of kConstant ("flops" is resolved to it)
  double mu = 0, sigma = 0;  // of kLognormal, logarithm of seconds

  double mean_s() const;  // 0 of kMeasured
};

struct WorkloadSpec {
  std::int64_t parameters = 0;
  std::int64_t active_parameters = 0;  // that compute a token: fewer in a mixture of experts
  std::optional<ModelShape> model;     // of so many parameters, where the scenario names one
  std::vector<std::int64_t> tensors;   // parameters of each tensor, where the scenario lists them
  Wire wire = Wire::kBf16;
  int steps = 0;            // written, or what total_tokens need
  std::int64_t tokens = 0;  // per replica and step; 0: not said
  int accelerators = 1;     // of each worker
  StepTime step_time;
  std::vector<double> step_time_factors;  // by worker; empty: all 1
};

struct MethodSpec {
  std::string name, label;
  Json options;  // with defaults; keys as declared by the method
};

struct Case {
  std::string name;      // readable and safe as a folder name: "noloco,network.tcp.connections=8,seed=1"
  std::string scenario;  // its name
  std::string folder;    // of the scenario file: relative paths start there
  std::uint64_t seed = 1;
  int replicas = 0;
  MethodSpec method;
  PipelineSpec pipeline;
  ParallelismSpec parallelism;
  std::optional<TrainSpec> train;
  WorkloadSpec workload;
  NetworkSpec network;
  std::vector<Fault> faults;  // in the scenario's order; those of links stand in network.variation too
  RecoverySpec recovery;
  std::optional<RolloutSpec> rollouts;
  // The site of each replica (of its first stage), numbered in the order of their first replicas; only where
  // groups are drawn by sites. longhaul fills it in from the network (checks/validated_scenario.cc), as
  // `sites` of case.json.
  std::vector<int> site_of;
  Json swept;     // {dotted key: value}
  Json resolved;  // the whole case as JSON

  int steps() const { return workload.steps; }
  // What trains: every stage of every replica (core/scenario/pipeline.h). Without stages the replicas.
  int workers() const { return replicas * pipeline.stages; }
  // What has a place in the network: the workers, behind them the rollouts' groups, then their store.
  int hosts() const { return workers() + (rollouts ? rollouts->hosts() : 0); }
  int host_of_group(int group) const { return workers() + group; }
  int host_of_store() const { return workers() + rollouts->groups; }
  // Replicas may be gone.
  bool has_absences() const;
};

// Reads a resolved case: a scenario with one `method` instead of `methods`, no sweep, and the keys `case`,
// `scenario`, `folder`, `swept`. An `optimizer` of the method is merged into train.optimizer. Throws
// InputError where values contradict each other, but for those of the topology (check_topology() in
// net/topologies/registry.h).
Case parse_case(const Json& resolved);

// From a case.json file. Throws InputError.
Case read_case(const std::string& file);

}  // namespace longhaul
