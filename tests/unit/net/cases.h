// Cases built in code, for tests of the network.
#pragma once

#include "core/case.h"

namespace longhaul {

inline Case star_case(int replicas, double rate, double rtt_s) {
  Case one;
  one.replicas = replicas;
  one.workload.steps = 1;
  one.workload.step_time.seconds = 1;
  one.network.fidelity = "flow";
  one.network.topology = StarSpec{rate, rate, rtt_s};
  one.network.tcp.congestion_control = "cubic";
  one.network.tcp.queue = "host";
  return one;
}

inline Case mesh_case(int replicas, double rate, double rtt_s) {
  Case one = star_case(replicas, rate, rtt_s);
  one.network.topology = MeshSpec{rate, rtt_s};
  return one;
}

// A mesh on which each message takes a drawn time, in seconds.
inline Case drawn_case(int replicas, double mean_s, double std_s) {
  Case one = mesh_case(replicas, 1e9, 0);
  one.network.fidelity = "analytic";
  one.network.message_time = MessageTimeSpec{mean_s, std_s};
  one.network.barrier = true;
  return one;
}

inline Case regions_case(const std::string& matrix, std::vector<std::pair<std::string, int>> placement) {
  Case one = star_case(0, 1e9, 0.1);
  RegionsSpec regions;
  regions.matrix = matrix;
  regions.rate = 10e9;
  for (const auto& [site, count] : placement) one.replicas += count;
  regions.placement = std::move(placement);
  one.network.topology = regions;
  return one;
}

}  // namespace longhaul
