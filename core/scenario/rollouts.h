// The section `rollouts` of a scenario: groups of accelerators that generate samples with the trainers'
// weights, for post-training by reinforcement learning, and how new weights come to them.
//
// A group is an inference engine with a copy of the weights and a place in the network of its own. A step of
// training takes `batch` samples, of all trainers together. Version 0 of the weights is with all groups when
// training begins; version v is there once the trainers have taken v · `every` steps.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/options.h"
#include "core/base/words.h"

namespace longhaul {

// The tokens of a sample, drawn for each.
struct SampleLength {
  enum class Kind { kConstant, kLognormal, kPareto } kind = Kind::kConstant;
  double mean = 0;   // of kConstant and kLognormal
  double sigma = 0;  // of kLognormal, of the logarithm
  double least = 0;  // of kPareto: P(longer than x) = (least / x)^shape
  double shape = 0;
  std::int64_t most = 0;  // a longer sample is cut here; 0: none is

  // Of sample `number`, counted from 1.
  std::int64_t draw(std::uint64_t seed, std::int64_t number) const;
  double expected() const;  // where nothing is cut; of a Pareto with shape ≤ 1 infinite
};

// What a group does with samples that are under way when new weights come.
enum class WeightSwap { kDrain, kPause, kInFlight };
template <>
struct Words<WeightSwap> {
  static constexpr Word<WeightSwap> all[] = {
      {WeightSwap::kDrain, "drain"}, {WeightSwap::kPause, "pause"}, {WeightSwap::kInFlight, "in-flight"}};
};

// Where weights lie between their upload and the downloads of all groups.
struct WeightStore {
  std::string site;
  std::optional<double> rate;  // bit/s of its link, each way; none: as the topology's access links
  double request_s = 0;        // from a request to the first byte that leaves the store
  int concurrent = 1;          // requests of a group that are open at a time
  int uploads = 0;             // of a source that wait for their answers at a time; 0: none waits
};

struct WeightsSpec {
  std::string distribution;  // net/distributions/distribution.h
  int every = 1;             // steps of training from version to version
  std::int64_t bytes = 0;    // that a group receives of a version
  int fan_out = 2;
  int sources = 1;              // trainers that send a part of it each
  std::optional<double> piece;  // bytes that are passed on as they arrive; none: a part is one
  int requests = 0;             // for pieces, that a group has open at a time; 0: pieces come unasked
  // At a source: a version is there so long after the step, or piece by piece at a rate. Bit/s of what is
  // sent.
  double build_s = 0;
  std::optional<double> build_rate;
  // At a group: what has arrived is unpacked at a rate, beside the generation; then the swap itself takes so
  // long.
  std::optional<double> unpack_rate;
  double swap_s = 0;
  WeightSwap swap = WeightSwap::kDrain;
  WeightStore store;  // of distribution store
};

struct RolloutPrices {
  double trainer_hour = 0, rollout_hour = 0;  // of an accelerator
  double egress_gb = 0;                       // of 10^9 bytes that leave a site for another
};

struct RolloutSpec {
  int groups = 1;
  int accelerators = 1;                             // of each
  std::vector<std::pair<std::string, int>> places;  // site, groups; empty: the topology has no sites
  std::int64_t batch = 1;                           // samples
  int concurrent = 1;                               // samples that a group generates at a time
  SampleLength length;
  double tokens_per_s = 1;            // of one sample
  double start_s = 0;                 // from its begin to the first token
  std::vector<double> speed_factors;  // by group; empty: all 1
  int staleness = 0;  // versions that a sample's may be older than the one that its step trains
  WeightsSpec weights;
  std::optional<RolloutPrices> prices;

  bool has_store() const { return weights.distribution == "store"; }
  // Places in the network.
  int hosts() const { return groups + has_store(); }
  // The version that step `step` trains: how many there are before it.
  std::int64_t version_before(int step) const { return (step - 1) / weights.every; }
};

Node rollout_options();

// Of a resolved case; none where it has no such section. `parameters`: of the model whose weights travel.
// `workers`: of the trainers. Throws InputError.
std::optional<RolloutSpec> parse_rollouts(const Json& resolved, std::int64_t parameters, int workers);

}  // namespace longhaul
