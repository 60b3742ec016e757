// A plan file: what a user knows of a training that is not there yet, as typed values in SI units.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/base/model_shape.h"
#include "core/base/options.h"

namespace longhaul {

struct NodeHardware {
  std::string name;        // "" where the file gives peak or step time alone
  double peak = 0;         // FLOP/s of one accelerator; 0: not known
  double memory = 0;       // bytes of one accelerator; 0: not known
  double utilization = 0;  // of the peak, inside a node
  int per_node = 1;
  double price = 0;  // of one accelerator for an hour
};

struct PlannedSite {
  std::string name;
  int nodes = 1;
  double up = 0, down = 0;  // bit/s, shared by its nodes; 0: no limit
  std::optional<double> latitude, longitude;
  std::vector<std::string> hosts;        // addresses that measurements name
  std::optional<NodeHardware> hardware;  // of its nodes, where they or their steps are not the plan's
  double step_s = 0;                     // compute of each of its nodes
};

struct EgressPrices {
  double price = 0;  // of 10^9 bytes
  std::map<std::string, double> of_site;

  double of(const std::string& site) const;
};

struct LossTarget {
  std::vector<std::string> runs;  // paths as they can be opened
  double loss = 0;
};

enum class Preference { kTime, kMoney, kBytes };

struct PlanRequest {
  std::string file, folder, name;
  Json written;  // as in the file; what a scenario says too is copied from it
  std::uint64_t seed = 1;
  int nodes = 0;
  std::int64_t parameters = 0;         // what travels and is stored
  std::int64_t active_parameters = 0;  // what computes a token: fewer in a mixture of experts
  std::optional<ModelShape> model;
  std::optional<std::int64_t> tokens;
  std::optional<LossTarget> target;
  std::int64_t tokens_per_step = 0;  // of a node
  NodeHardware hardware;
  double step_s = 0;  // compute of one node, the slowest
  std::string currency;
  EgressPrices egress;
  bool way_out_per_accelerator = false;
  std::string library = "plain";           // that carries the exchanges (net/library.h)
  std::optional<double> connections_gain;  // none: as many times one as there are connections
  std::vector<PlannedSite> sites;          // empty where the file has a network section
  std::vector<std::string> measurements;   // paths as they can be opened
  Json measured;  // the matrix of sites that these files make, which the caller of read_plan() fills in
  std::vector<std::string> notes;  // what a reader of the answer should know of these files
  Json candidates, joins;          // resolved; joins: inside, node_rate and inflation, of sites
  double min_utilization = 0;
  std::optional<double> deadline_s, budget;
  Preference prefer = Preference::kTime;
  int most_replays = 0;
  std::int64_t most_verified_segments = 0;  // in fidelity linux, behind the plan's FIFOs
  int fault_draws = 0;                      // of the faults that the file has
};

// Whether the plan file prices anything.
bool has_prices(const PlanRequest& plan);

// Of a site's nodes.
const NodeHardware& hardware_at(const PlanRequest& plan, const PlannedSite& site);

// Whether nodes of one site compute for longer than those of another.
bool steps_differ(const PlanRequest& plan);

// Of all nodes: their number, and what they cost in an hour.
int accelerators_of(const PlanRequest& plan);
double price_per_hour(const PlanRequest& plan);
// Of one node at this site, of the first if no site has that name.
double node_price_per_hour(const PlanRequest& plan, const std::string& site);

// Throws InputError with the file and the JSON path inside it. `scenario`: the declaration of a scenario.
PlanRequest read_plan(const std::string& file, const Node& scenario);

}  // namespace longhaul
