// A case: one point of a scenario's sweep, with every default filled in, as typed values in SI units.
//
// The resolved JSON is what is written to cases/CASE/case.json and read by the children; the structs are how
// the code reads it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/codec.h"
#include "core/model_shape.h"
#include "core/options.h"
#include "core/variation_spec.h"

namespace longhaul {

// Of the trainer's matrix products.
enum class Precision { kFloat32, kBf16 };
std::string to_string(Precision precision);

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

struct OptimizerSpec {
  double lr = 0, min_lr = 0;
  int warmup = 0;                                                // steps
  double beta1 = 0.9, beta2 = 0.95, weight_decay = 0, clip = 0;  // clip 0: none
};

struct TrainSpec {
  int steps = 0;
  ModelShape model;
  DataSpec data;
  double validation_fraction = 0;
  int evaluate_sequences = 0;  // 0: the whole held-out part
  int evaluate_every = 0;      // steps
  int checkpoint_every = 0;    // steps; not part of the training key
  int batch = 0;               // sequences per replica and step
  OptimizerSpec optimizer;
  std::string device;  // auto, cpu, cuda
  Precision precision = Precision::kFloat32;
  std::optional<double> target_loss;
};

struct StepTime {
  enum class Kind { kConstant, kLognormal, kMeasured } kind = Kind::kConstant;
  double seconds = 0;        // of kConstant ("flops" is resolved to it)
  double mu = 0, sigma = 0;  // of kLognormal, logarithm of seconds
};

struct WorkloadSpec {
  std::int64_t parameters = 0;
  std::optional<ModelShape> model;  // of so many parameters, where the scenario names one
  Wire wire = Wire::kBf16;
  int steps = 0;
  std::int64_t tokens = 0;  // per replica and step; 0: not said
  StepTime step_time;
  std::vector<double> step_time_factors;  // by replica; empty: all 1
};

// What the network joins the replicas by. core knows no topology: net/topologies/NAME.cc reads the options.
struct TopologySpec {
  std::string name;  // the key in network.topology
  Json options;      // the section of that name, with defaults
};

// Each message takes an independent log-normal time with this mean and standard deviation; std 0: always the
// mean; both 0: communication is free.
struct MessageTimeSpec {
  double mean = 0, std = 0;  // s
};

// What is different from the topology as built.
struct LinkOverride {
  std::string link;                     // name or glob; empty: the links of `replicas`
  std::pair<int, int> replicas{0, -1};  // first and last
  std::optional<double> up, down;       // bit/s; up is from the first to the second node of the name
  std::optional<double> delay;          // s, one way
};

// Which place each rank takes. Places are counted site by site: 0 … are those of the first site.
struct RankOrderSpec {
  enum class Kind { kBlocks, kRoundRobin, kRandom, kOptimized, kList } kind = Kind::kBlocks;
  std::vector<int> places;  // of kList: entry r is the place of rank r
};
std::string to_string(RankOrderSpec::Kind kind);  // "blocks", "round-robin", …, "list"

struct TcpSpec {
  std::optional<double> window;  // bytes; none: unlimited
  int connections = 1;
  std::string congestion_control, queue;
  std::string trunk_queue = "same";   // of links between routers: as `queue`, or fifo
  double queue_products = 1;          // of a fifo, in bandwidth-delay products
  std::optional<double> queue_bytes;  // of a fifo, instead
  bool ecn = false;
  bool accept_error = false;  // replay also the FIFOs that fidelity flow is measured to be wrong about
  double loss = 0;
  std::string loss_response = "linux";  // or ns3-3.37
  int segment = 1448;                   // bytes
  bool slow_start_after_idle = true;    // RFC 2861, as Linux has it on
  double rtt_exponent = 0;              // a connection's weight in sharing is RTT^−this
};

// Into what the messages of a collective are cut (net/collectives/slices.h).
struct SliceSpec {
  enum class Kind { kWhole, kBytes, kNccl, kGloo } kind = Kind::kWhole;
  std::int64_t bytes = 0;  // of kBytes, the largest slice
};

struct NetworkSpec {
  std::string fidelity;  // flow, packet, analytic
  TopologySpec topology;
  RankOrderSpec rank_order;
  std::vector<LinkOverride> overrides;          // in the order written; the last one wins
  std::optional<MessageTimeSpec> message_time;  // instead of what the links say
  bool barrier = false;                         // an exchange begins when all of its group are ready
  SliceSpec slice;
  double eager = 0;  // bytes that a sender pushes before its receiver has posted; infinite: all
  TcpSpec tcp;
  VariationSpec variation;
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
  std::optional<TrainSpec> train;
  WorkloadSpec workload;
  NetworkSpec network;
  // The site of each replica, numbered in the order of their first replicas; only where groups are drawn by
  // sites. longhaul fills it in from the network (cli/validated_scenario.cc), as `sites` of case.json.
  std::vector<int> site_of;
  Json swept;     // {dotted key: value}
  Json resolved;  // the whole case as JSON

  int steps() const { return workload.steps; }
};

// Reads a resolved case: a scenario with one `method` instead of `methods`, no sweep, and the keys `case`,
// `scenario`, `folder`, `swept`. Throws InputError where values contradict each other, but for those of the
// topology (check_topology() in net/topologies/registry.h).
Case parse_case(const Json& resolved);

// From a case.json file. Throws InputError.
Case read_case(const std::string& file);

}  // namespace longhaul
