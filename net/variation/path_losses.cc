#include "net/variation/path_losses.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/base/errors.h"
#include "core/base/index.h"
#include "core/base/json.h"
#include "core/base/units.h"
#include "net/tcp/congestion.h"
#include "net/variation/struck_links.h"

namespace longhaul {
namespace {

constexpr int kMeasuredLinks = 2;

double measured_loss_of_a_link(const NetworkSpec& network) {
  const bool is_bbr = network.tcp.has_control("bbr");
  if (network.fidelity == "linux") return is_bbr ? 1e-2 : 5e-2;
  return is_bbr ? 1e-3 : 5e-3;
}

// −log(1 − loss): what adds up along a path.
double as_weight(double loss) {
  return -std::log1p(-loss);
}

// Replicas whose only link leads to the same router; of those the two with the lossiest links.
struct Neighbours {
  int first = -1, second = -1;
  double first_weight = 0, second_weight = 0;

  void add(int replica, double weight) {
    if (first < 0 || weight > first_weight) {
      second = first;
      second_weight = first_weight;
      first = replica;
      first_weight = weight;
    } else if (second < 0 || weight > second_weight) {
      second = replica;
      second_weight = weight;
    }
  }
};

class LossyPaths {
 public:
  explicit LossyPaths(const Topology& topology) : topology_(topology) {
    std::vector<int> links_of(as_index(topology.nodes())), only_link(links_of.size());
    for (int link = 0; link < static_cast<int>(topology.links().size()); ++link)
      for (const int node :
           {topology.links()[as_index(link)].first, topology.links()[as_index(link)].second}) {
        ++links_of[as_index(node)];
        only_link[as_index(node)] = link;
      }
    for (int replica = 0; replica < topology.replicas(); ++replica) {
      const bool is_leaf = links_of[as_index(replica)] == 1;
      const Link& link = topology.links()[as_index(only_link[as_index(replica)])];
      places_.push_back({is_leaf ? (link.first == replica ? link.second : link.first) : replica,
                         is_leaf ? only_link[as_index(replica)] : -1});
    }
  }

  // `weights`: of each link.
  LossyPath worst(const std::vector<double>& weights) const {
    std::map<int, Neighbours> at_router;
    for (int replica = 0; replica < topology_.replicas(); ++replica) {
      const Place& place = places_[as_index(replica)];
      at_router[place.router].add(replica, place.link < 0 ? 0 : weights[as_index(place.link)]);
    }
    LossyPath worst;
    double most = 0;
    const auto look_at = [&](int source, int target) {
      const std::vector<LinkDirection> directions = topology_.path(source, target).directions;
      double weight = 0;
      for (const LinkDirection direction : directions) weight += weights[as_index(direction / 2)];
      if (weight <= most) return;
      most = weight;
      worst = {-std::expm1(-weight), static_cast<int>(directions.size()), source, target};
    };
    for (const auto& [router, here] : at_router) {
      if (here.second >= 0) look_at(here.first, here.second);
      for (const auto& [other_router, there] : at_router)
        if (other_router != router) look_at(here.first, there.first);
    }
    return worst;
  }

 private:
  struct Place {
    int router = 0, link = -1;
  };

  const Topology& topology_;
  std::vector<Place> places_;
};

bool is_on(const FaultTimes& times, double time_s) {
  return times.every_s > 0 || (times.at_s <= time_s && time_s - times.at_s < times.for_s);
}

// The begin of each fault with a time of its own: what is worst begins with one of them.
std::vector<double> moments(const std::vector<Fault>& faults) {
  std::vector<double> moments;
  for (const Fault& fault : faults)
    if (fault.loss > 0 && fault.times.every_s == 0) moments.push_back(fault.times.at_s);
  if (moments.empty()) moments.push_back(0);
  return moments;
}

}  // namespace

double most_measured_loss(const NetworkSpec& network) {
  return path_loss(measured_loss_of_a_link(network), kMeasuredLinks);
}

LossyPath lossiest_path(const NetworkSpec& network, const Topology& topology) {
  const std::vector<Fault>& faults = network.variation.faults;
  const double everywhere = network.tcp.loss;
  const bool has_lossy_faults =
      std::any_of(faults.begin(), faults.end(), [](const Fault& fault) { return fault.loss > 0; });
  if (topology.replicas() < 2 || (everywhere == 0 && !has_lossy_faults)) return {};
  if (topology.is_mesh()) return {everywhere, 1, 0, 1};
  const LossyPaths paths(topology);
  std::vector<std::vector<StruckLinks>> struck(faults.size());
  for (std::size_t i = 0; i < faults.size(); ++i)
    if (faults[i].loss > 0) struck[i] = struck_by(faults[i], topology);
  LossyPath worst;
  for (const double moment_s : moments(faults)) {
    std::vector<double> weights(topology.links().size(), as_weight(everywhere));
    for (std::size_t i = 0; i < faults.size(); ++i)
      if (is_on(faults[i].times, moment_s))
        for (const StruckLinks& together : struck[i])
          for (const int link : together.links) weights[as_index(link)] += as_weight(faults[i].loss);
    const LossyPath path = paths.worst(weights);
    if (path.loss <= worst.loss) continue;
    worst = path;
    for (const LinkDirection direction : topology.path(path.source, path.target).directions)
      for (std::size_t i = 0; i < faults.size(); ++i)
        for (const StruckLinks& together : struck[i])
          if (is_on(faults[i].times, moment_s) &&
              std::count(together.links.begin(), together.links.end(), direction / 2) > 0 &&
              (worst.fault < 0 || faults[i].loss > faults[as_index(worst.fault)].loss))
            worst.fault = static_cast<int>(i);
  }
  return worst;
}

void check_losses(const NetworkSpec& network, const Topology& topology) {
  const LossyPath worst = lossiest_path(network, topology);
  const double most = most_measured_loss(network);
  constexpr double kRounding = 1e-9;
  if (worst.loss <= most + kRounding) return;
  const auto in_per_cent = [](double share) { return fmt::format("{:.3g} %", 100 * share); };
  const double everywhere = network.tcp.loss;
  const bool is_of_fault = worst.fault >= 0 && path_loss(everywhere, worst.links) <= most + kRounding;
  const Fault* const fault = is_of_fault ? &network.variation.faults[as_index(worst.fault)] : nullptr;
  const std::string where =
      fmt::format("the path from {} to {}, {} link{}, {} {} of its packets", topology.node_name(worst.source),
                  topology.node_name(worst.target), worst.links, worst.links == 1 ? "" : "s",
                  is_of_fault ? "then loses up to" : "loses", in_per_cent(worst.loss));
  const std::string measured = fmt::format("at most {} of the packets of a path{}", in_per_cent(most),
                                           network.tcp.has_control("bbr") ? " with BBR" : "");
  throw InputError(
      is_of_fault ? element_path("faults", as_index(fault->number)) + ".loss" : "network.tcp.loss",
      fmt::format("found {}: {}", format_number(is_of_fault ? fault->loss : everywhere), where),
      is_of_fault
          ? measured
          : fmt::format("{}, here {:.3g} a link", measured, -std::expm1(std::log1p(-most) / worst.links)),
      network.fidelity == "linux"
          ? "nothing was held against the kernel's TCP beyond that; `longhaul emulate` measures the kernel's "
            "own "
            "time (as root)"
          : "fidelity \"linux\" was held against the kernel's TCP up to 5 % a link, 1 % with BBR, where flow "
            "is "
            "several times too fast; `longhaul emulate` measures the kernel's own time (as root)");
}

}  // namespace longhaul
