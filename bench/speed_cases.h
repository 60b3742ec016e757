// What speed.cc measures: a star of 1 Gb/s and 50 ms whose messages are 8 bandwidth-delay
// products.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/scenario/case.h"
#include "net/topology.h"
#include "sim/network/flow_network.h"

namespace longhaul {

constexpr double kSpeedRate = 1e9, kSpeedRtt_s = 0.05;
constexpr auto kSpeedMessage = static_cast<std::int64_t>(8 * kSpeedRate / 8 * kSpeedRtt_s);

struct SpeedLeaf {
  double rate = kSpeedRate, delay_s = kSpeedRtt_s / 4;
};

// `is_jittered`: every rate and delay drawn from ±1 %.
std::vector<SpeedLeaf> speed_leaves(int count, bool is_jittered);
Topology speed_star(const std::vector<SpeedLeaf>& leaves);
TcpSpec speed_tcp();

// Runs the simulation: groups of `group` among `count` members, each member ready at a time drawn from
// `spread_s`. The transfers of the exchanges that were finished; if `most` is above 0, it stops some time
// after that many were begun, and returns how many were.
std::int64_t run_speed_collective(FlowNetwork& network, const std::string& name, int group, int count,
                                  double spread_s, std::int64_t most = 0);

}  // namespace longhaul
