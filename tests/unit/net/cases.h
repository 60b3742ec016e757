// Cases built in code, for tests of the network.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/base/units.h"
#include "core/scenario/case.h"

namespace longhaul {

// Quantities as a scenario writes them; they read back as the same doubles.
inline std::string bps(double rate) {
  return format_number(rate) + "bps";
}
inline std::string seconds(double time_s) {
  return format_number(time_s) + "s";
}

// Resolved sections of network.topology. Rates are in bit/s, up and down, and round trips in seconds.
inline Json access_section(double up, double down, double rtt_s) {
  return {{"up", bps(up)}, {"down", bps(down)}, {"rtt", seconds(rtt_s)}};
}
inline TopologySpec star_spec(double up, double down, double rtt_s) {
  return {"star", access_section(up, down, rtt_s)};
}
inline TopologySpec mesh_spec(double rate, double rtt_s) {
  return {"mesh", {{"rate", bps(rate)}, {"rtt", seconds(rtt_s)}}};
}

using SiteCounts = std::vector<std::pair<std::string, int>>;  // site, replicas

inline Json placement_section(const SiteCounts& placement) {
  Json json = Json::object();
  for (const auto& [site, count] : placement) json[site] = count;
  return json;
}
// `sites`: {site: replicas}, or how many.
inline TopologySpec hierarchical_spec(const Json& sites, const Json& inside, const Json& trunk) {
  return {"hierarchical", {{"sites", sites}, {"inside", inside}, {"trunk", trunk}}};
}

// Steps take 1 s.
inline Case star_case(int replicas, double rate, double rtt_s) {
  Case config;
  config.replicas = replicas;
  config.workload.steps = 1;
  config.workload.step_time.seconds = 1;
  config.network.fidelity = "flow";
  config.network.topology = star_spec(rate, rate, rtt_s);
  config.network.tcp.congestion_control = "cubic";
  config.network.tcp.queue = "host";
  return config;
}

inline Case mesh_case(int replicas, double rate, double rtt_s) {
  Case config = star_case(replicas, rate, rtt_s);
  config.network.topology = mesh_spec(rate, rtt_s);
  return config;
}

// Of the way up from a replica, bit/s.
inline LinkOverride up_of(int replica, double rate) {
  LinkOverride change;
  change.replicas = {replica, replica};
  change.up = rate;
  return change;
}

// A mesh on which each message takes a drawn time, in seconds.
inline Case drawn_case(int replicas, double mean_s, double std_s, bool barrier = true) {
  Case config = mesh_case(replicas, 1e9, 0);
  config.network.fidelity = "analytic";
  config.network.message_time = MessageTimeSpec{mean_s, std_s};
  config.network.barrier = barrier;
  return config;
}

inline Case regions_case(const std::string& matrix, const SiteCounts& placement) {
  Case config = star_case(0, 1e9, 0.1);
  for (const auto& [site, count] : placement) config.replicas += count;
  config.network.topology = {
      "regions", {{"matrix", matrix}, {"replicas", placement_section(placement)}, {"rate", bps(10e9)}}};
  return config;
}

// Of every two replicas.
template <typename Check>
void for_pairs(int replicas, const Check& check) {
  for (int i = 0; i < replicas; ++i)
    for (int j = 0; j < replicas; ++j)
      if (i != j) check(i, j);
}

// tests/data/four-corners.graphml: West, Middle and East on the equator, ten degrees apart, and North at the
// pole. Without a placement replicas are spread evenly.
inline Case corners_case(const SiteCounts& placement) {
  Case config = star_case(0, 0, 0);
  config.folder = LONGHAUL_SOURCE_DIR "/tests/data";
  for (const auto& [node, count] : placement) config.replicas += count;
  config.network.topology = {"graphml",
                             {{"file", "four-corners.graphml"},
                              {"replicas", placement.empty() ? Json("even") : placement_section(placement)},
                              {"rate", "10Gbps"},
                              {"rtt", "4ms"},
                              {"default_rate", "1Gbps"},
                              {"inflation", 1.5},
                              {"routing", "delay"}}};
  return config;
}

}  // namespace longhaul
