// The section `parallelism` of a scenario: what replicas say to each other inside each of their steps, layer
// by layer, while they compute. The method's own operations follow at the end of the step as they do without
// it.
//
// One kind at a time: experts that the replicas of a group share, tensor parallelism, or weights in shards.
// In all kinds a replica of a group of n holds 1/n of some parameters.
#pragma once

#include <string>

#include "core/base/json.h"
#include "core/base/options.h"
#include "core/base/words.h"

namespace longhaul {

// Which of R replicas are a group of n. consecutive: 0 … n − 1, n … 2n − 1, and so on; strided: those that
// are R / n apart.
enum class ParallelGroups { kConsecutive, kStrided };
template <>
struct Words<ParallelGroups> {
  static constexpr Word<ParallelGroups> all[] = {{ParallelGroups::kConsecutive, "consecutive"},
                                                 {ParallelGroups::kStrided, "strided"}};
};

struct ParallelismSpec {
  int group_size = 0;  // n; 0: there is no such section
  ParallelGroups groups = ParallelGroups::kConsecutive;
  int layers = 0;             // 0: those of workload.model
  int microbatches = 1;       // of a replica's batch, one behind another
  double backward = 2;        // a backward pass takes so many times as long as a forward pass
  double attention = 1. / 3;  // share of a layer's compute in front of its feed-forward network
  std::string kind;           // "experts", ...
  Json options = {};          // of the kind, resolved (layer_operations.h)

  bool is_on() const { return group_size > 0; }
};

// The declaration of `parallelism`, and that of a method's own: the same keys, none with a default.
Node parallelism_options();
Node method_parallelism_options();

// A resolved case with its method's `parallelism`, if it has one, merged into its own.
Json with_effective_parallelism(Json resolved);

// Of a resolved case of so many replicas. Throws InputError where values contradict each other.
ParallelismSpec parse_parallelism(const Json& resolved, int replicas);

}  // namespace longhaul
