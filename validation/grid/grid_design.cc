// Which cases the validation grid has: a Latin hypercube a set. Every axis is divided into as many equal
// parts as the set has cases, each part is used once, and the order of the parts is a permutation of its own
// for every axis, from a fixed seed. So every level of every axis has its share of the cases, of the even
// numbered (train) and of the odd ones (judge), without the full product.
#include <algorithm>
#include <cmath>

#include "core/base/errors.h"
#include "core/base/random.h"
#include "core/base/units.h"
#include "validation/grid/grid_case.h"

namespace longhaul {
namespace {

constexpr std::uint64_t kSeed = 20;
constexpr double kMostProducts = 200;
constexpr int kTrueSegment = 1448, kScaledSegment = 8948;
constexpr double kSegmentsOfAPath = 50;  // a path that holds fewer scaled segments gets true ones

struct SetSpec {
  std::string name;
  std::uint32_t stream = 0;  // of the random orders; sets with the same one are alike but for their sizes
  int cases = 0;             // that the axes are divided by
  int used = 0;              // of them, the first; 0: all
  std::vector<std::string> kinds = {"single", "pair", "tree", "ring", "halving-doubling"};
  std::vector<int> replicas = {2, 3, 4, 5, 6, 8};  // of collectives; of single and pair `pairs` decides
  std::vector<int> pairs = {1};
  std::vector<double> rates = {1e8, 5e8, 1e9};
  // Bytes of an exchange, and a case has two: at most; where a path holds too few scaled segments; up to
  // which segments are true ones.
  double most_payload = 1e8, unscaled_payload = 12e6, true_payload = 6e6;
  std::string queue = "host";
  bool ecn = false;
  std::vector<double> queue_products = {1};
  std::vector<double> losses = {0};
  int seeds = 1;
  std::vector<double> trunk_shares = {0};  // trunk over access rate; 0: a star
  std::vector<double> rtt_ratios = {1};
  std::vector<double> asymmetries = {1};  // down over up
  std::vector<double> round_trips_s = {0.01, 0.02, 0.05, 0.1, 0.2};
  // Windows of all connections together over the bandwidth-delay product; empty: unlimited.
  std::vector<double> window_shares;
  // Throughput of one connection over the access rate, between `sites` sites; empty: a star or a trunk.
  std::vector<double> throughput_shares;
  int sites = 0;
  bool is_trunk_fifo = false;
};

SetSpec set_like(SetSpec set, const char* name, std::uint32_t stream, int cases) {
  set.name = name;
  set.stream = stream;
  set.cases = cases;
  return set;
}

std::vector<SetSpec> sets_of_queues() {
  const SetSpec host = set_like({}, "host", 1, 320);

  SetSpec large = set_like({}, "large", 0, 320);
  large.used = 36;
  large.most_payload = 5e8;
  large.unscaled_payload = 1e8;
  large.true_payload = 25e6;

  SetSpec codel = set_like({}, "fq_codel-ecn", 2, 80);
  codel.queue = "fq_codel";
  codel.ecn = true;

  // Of packets alone: for validation/second_ns3.
  SetSpec fifo = set_like({}, "fifo", 3, 80);
  fifo.queue = "fifo";
  fifo.queue_products = {0.25, 1, 2};

  SetSpec loss = set_like({}, "loss", 4, 24);
  loss.replicas = {2, 3, 4};
  loss.rates = {1e8, 2e8, 5e8};
  loss.most_payload = loss.unscaled_payload = loss.true_payload = 15e6;
  loss.losses = {1e-6, 3e-6, 1e-5, 3e-5, 1e-4};
  loss.seeds = 5;
  return {host, large, codel, fifo, loss};
}

std::vector<SetSpec> sets_of_paths() {
  SetSpec trunk = set_like({}, "trunk", 5, 48);
  trunk.kinds = {"single", "pair"};
  trunk.pairs = {2, 3, 4};
  trunk.trunk_shares = {0.1, 0.5};
  trunk.rtt_ratios = {1, 1, 2, 4};

  SetSpec trunk_codel = set_like(trunk, "trunk-fq_codel-ecn", 6, 24);
  trunk_codel.queue = "fq_codel";
  trunk_codel.ecn = true;

  SetSpec asymmetric = set_like({}, "asymmetric", 8, 24);
  asymmetric.asymmetries = {0.1, 0.2, 0.5, 2, 5, 10};

  SetSpec window = set_like({}, "window", 9, 96);
  window.rates = {5e7, 1e8, 5e8, 1e9};
  window.most_payload = 3e7;
  window.window_shares = {0.05, 0.1, 0.2, 0.4, 0.8};

  SetSpec regions = set_like(window, "regions", 10, 64);
  regions.replicas = {3, 4, 5, 6, 8};
  regions.pairs = {1, 2, 3};
  regions.rates = {5e8, 1e9, 2e9};
  regions.round_trips_s = {0.02, 0.05, 0.1, 0.2};
  regions.window_shares = {};
  regions.throughput_shares = {0.02, 0.05, 0.1, 0.3};
  regions.sites = 3;

  // The cases of `trunk` with FIFOs of one product on the trunk alone.
  SetSpec trunk_queue = set_like(trunk, "trunk-queue", trunk.stream, trunk.cases);
  trunk_queue.is_trunk_fifo = true;
  return {trunk, trunk_codel, asymmetric, window, regions, trunk_queue};
}

const std::vector<SetSpec>& specs() {
  static const std::vector<SetSpec> list = [] {
    std::vector<SetSpec> all = sets_of_queues();
    for (SetSpec& set : sets_of_paths()) all.push_back(std::move(set));
    return all;
  }();
  return list;
}

// Where each case stands on each axis.
class Hypercube {
 public:
  Hypercube(std::uint32_t stream, int cases) : stream_(stream), cases_(cases) {}

  // In (0, 1); a new axis for every name.
  double place(std::uint32_t axis, int number) {
    while (axis >= orders_.size()) {
      RandomStream stream(kSeed, Purpose::kPlacement, static_cast<std::uint32_t>(orders_.size()), stream_);
      orders_.push_back(random_permutation(cases_, stream));
    }
    return (orders_[axis][static_cast<std::size_t>(number)] + 0.5) / cases_;
  }

  template <typename Level>
  Level level(std::uint32_t axis, int number, const std::vector<Level>& levels) {
    return levels[static_cast<std::size_t>(place(axis, number) * static_cast<double>(levels.size()))];
  }

 private:
  std::uint32_t stream_;
  int cases_;
  std::vector<std::vector<int>> orders_;
};

enum Axis : std::uint32_t {
  kKind,
  kReplicas,
  kRate,
  kRtt,
  kSize,
  kConnections,
  kGap,
  kQueueSize,
  kLoss,
  kTrunk,
  kRttRatio,
  kAsymmetry,
  kWindow
};

// Bytes on the way at the rate that a message gets.
double product_of(const GridCase& grid_case) {
  const double share = grid_case.trunk > 0 ? grid_case.trunk / (grid_case.replicas / 2)
                                           : std::min(grid_case.up, grid_case.down);
  return share / 8 * grid_case.rtt_s;
}

// A ring divides the contribution, halving-doubling sends half of it at most.
int parts_of(const GridCase& grid_case) {
  return grid_case.kind == "ring" ? grid_case.replicas : grid_case.kind == "halving-doubling" ? 2 : 1;
}

void set_message(GridCase& grid_case, double products) {
  const int parts = parts_of(grid_case);
  grid_case.products = products;
  grid_case.bytes = static_cast<std::int64_t>(products * product_of(grid_case)) * parts;
}

double most_products(GridCase grid_case, double most_payload) {
  set_message(grid_case, 1);
  return most_payload / static_cast<double>(grid_case.payload());
}

// A case whose smallest message would be too much gets fewer members, and if that does not help a slower
// link.
void make_affordable(GridCase& grid_case, double most_payload) {
  while (grid_case.is_collective() && grid_case.replicas > 2 && most_products(grid_case, most_payload) < 1.5)
    --grid_case.replicas;
  while (most_products(grid_case, most_payload) < 1) {
    grid_case.up /= 2;
    grid_case.down /= 2;
    grid_case.trunk /= 2;
  }
}

// Log-uniform from one product to as many as are allowed; rounded so that a file shows them.
void set_size(GridCase& grid_case, const SetSpec& spec, double place) {
  const bool may_scale = product_of(grid_case) >= kSegmentsOfAPath * kScaledSegment;
  const double most_payload =
      may_scale ? spec.most_payload : std::min(spec.most_payload, spec.unscaled_payload);
  make_affordable(grid_case, most_payload);
  const double most = std::min(kMostProducts, most_products(grid_case, most_payload));
  set_message(grid_case, std::max(1., std::round(100 * std::pow(most, place)) / 100));
  grid_case.segment = may_scale && static_cast<double>(grid_case.payload()) > spec.true_payload
                          ? kScaledSegment
                          : kTrueSegment;
}

// Of all connections: what is in flight at most. Never below the initial window.
double set_window(GridCase& grid_case, const SetSpec& spec, double share) {
  constexpr double kSegments = 10;
  const double least = kSegments * grid_case.segment;
  if (spec.sites > 0) {
    grid_case.throughput = std::round(std::max(share * grid_case.up, 8 * least / grid_case.rtt_s));
    return grid_case.connections * grid_case.throughput / 8 * grid_case.rtt_s;
  }
  grid_case.window = std::round(std::max(share * product_of(grid_case) / grid_case.connections, least));
  return grid_case.connections * grid_case.window;
}

// Messages of a quarter to twenty windows, log-uniform, as far as they are affordable; segments are true
// ones.
void set_windows(GridCase& grid_case, const SetSpec& spec, double share, double place) {
  constexpr double kLeast = 0.25, kMost = 20;
  const auto set = [&](double windows) {
    set_message(grid_case, windows * set_window(grid_case, spec, share) / product_of(grid_case));
    return static_cast<double>(grid_case.payload());
  };
  const int fewest = std::max(2, spec.sites);
  while (grid_case.is_collective() && grid_case.replicas > fewest && set(1.5) > spec.most_payload)
    --grid_case.replicas;
  while (set(1.5) > spec.most_payload) {
    grid_case.up /= 2;
    grid_case.down /= 2;
  }
  const double most = std::min(kMost, 1.5 * spec.most_payload / set(1.5));
  set(kLeast * std::pow(most / kLeast, place));
}

GridCase draw(const SetSpec& spec, Hypercube& cube, int number) {
  GridCase grid_case;
  grid_case.set = spec.name;
  grid_case.number = number;
  grid_case.kind = cube.level(kKind, number, spec.kinds);
  grid_case.replicas = grid_case.is_collective() ? cube.level(kReplicas, number, spec.replicas)
                                                 : 2 * cube.level(kReplicas, number, spec.pairs);
  const double rate = cube.level(kRate, number, spec.rates);
  const double trunk_share = cube.level(kTrunk, number, spec.trunk_shares);
  const double asymmetry = cube.level(kAsymmetry, number, spec.asymmetries);
  grid_case.trunk = trunk_share > 0 ? rate : 0;
  grid_case.up = grid_case.down = trunk_share > 0 ? rate / trunk_share : rate;
  (asymmetry > 1 ? grid_case.up : grid_case.down) *= asymmetry > 1 ? 1 / asymmetry : asymmetry;
  grid_case.rtt_s = cube.level(kRtt, number, spec.round_trips_s);
  grid_case.rtt_ratio = cube.level(kRttRatio, number, spec.rtt_ratios);
  grid_case.connections = cube.level(kConnections, number, std::vector<int>{1, 2, 4, 8});
  grid_case.gap_s = cube.level(kGap, number, std::vector<double>{0, 1});
  grid_case.queue = spec.queue;
  grid_case.is_trunk_fifo = spec.is_trunk_fifo;
  grid_case.ecn = spec.ecn;
  grid_case.queue_products = cube.level(kQueueSize, number, spec.queue_products);
  grid_case.loss = cube.level(kLoss, number, spec.losses);
  grid_case.seeds = spec.seeds;
  grid_case.sites = spec.sites;
  const std::vector<double>& shares = spec.sites > 0 ? spec.throughput_shares : spec.window_shares;
  if (shares.empty())
    set_size(grid_case, spec, cube.place(kSize, number));
  else
    set_windows(grid_case, spec, cube.level(kWindow, number, shares), cube.place(kSize, number));
  return grid_case;
}

}  // namespace

const std::vector<std::string>& set_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list;
    for (const SetSpec& spec : specs()) list.push_back(spec.name);
    return list;
  }();
  return names;
}

std::vector<GridCase> draw_set(const std::string& name) {
  for (const SetSpec& spec : specs()) {
    if (spec.name != name) continue;
    Hypercube cube(spec.stream, spec.cases);
    std::vector<GridCase> cases;
    for (int number = 0; number < (spec.used > 0 ? spec.used : spec.cases); ++number)
      cases.push_back(draw(spec, cube, number));
    return cases;
  }
  throw RunError("no set \"" + name + "\" in the grid; there are " + join(set_names()));
}

}  // namespace longhaul
