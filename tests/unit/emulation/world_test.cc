// What of a case can be emulated, and the script of its world. That the world works is tested where
// namespaces may be made (tests/integration/network/emulate_test.cc).
#include "emulation/world.h"

#include <gtest/gtest.h>

#include "net/topologies/registry.h"
#include "tests/support/said.h"
#include "tests/unit/net/cases.h"

namespace longhaul::world_test {

std::string refusal(const Case& config) {
  return refused_path([&] { check_emulated(config, build_topology(config)); });
}

// A burst of half a millisecond, and of two frames at least. Values are quoted for the shell.
TEST(World, HasAHostAWorkerWithTheRateOfItsLink) {
  const Case fast = star_case(2, 100e6, 0.01);
  Case slow = star_case(2, 10e6, 0.01);
  slow.network.tcp.segment = 8948;
  slow.network.tcp.slow_start_after_idle = false;
  slow.network.tcp.host_controls = {"reno", "cubic"};
  slow.resolved = {{"case", "it's"}};
  const std::pair<Case, std::vector<const char*>> worlds[] = {
      {fast,
       {"#!/bin/sh\n", "longhaul='/bin/longhaul'\n", "size='2'\n", "mtu='1500'\n",
        "hosts='0 10.9.0.1 100000000 6250 cubic\n1 10.9.0.2 100000000 6250 cubic'\n", "idle='1'\n",
        "overhead='38'\n"}},
      {slow,
       {"0 10.9.0.1 10000000 18100 reno\n1 10.9.0.2 10000000 18100 cubic'\n", "mtu='9000'\n", "idle='0'\n",
        R"(case_json='{"case":"it'\''s"}')"}}};
  for (const auto& [config, lines] : worlds)
    for (const char* line : lines)
      EXPECT_SAYS(world_script(config, build_topology(config), "/bin/longhaul"), line);
}

TEST(World, WhatNoWorldHasIsRefusedByItsPath) {
  const Case good = star_case(4, 100e6, 0.01);
  EXPECT_EQ(refusal(good), "");
  const auto changed = [&](auto change) {
    Case config = good;
    change(config);
    return refusal(config);
  };
  EXPECT_EQ(changed([](Case& c) { c.network.tcp.queue = "fq_codel"; }), "network.tcp.queue");
  EXPECT_EQ(changed([](Case& c) { c.network.tcp.trunk_queue = "fifo"; }), "network.tcp.trunk_queue");
  EXPECT_EQ(changed([](Case& c) { c.network.tcp.window = 65536; }), "network.tcp.window");
  EXPECT_EQ(changed([](Case& c) { c.network.tcp.congestion_control = "no-such"; }),
            "network.tcp.congestion_control");
  EXPECT_EQ(changed([](Case& c) { c.network.variation.jitter.rate_sigma = 0.1; }), "network.variation");
  EXPECT_EQ(changed([](Case& c) { c.network.message_time = MessageTimeSpec{1, 0}; }), "network.message_time");
  EXPECT_EQ(changed([](Case& c) { c.faults.emplace_back(); }), "faults");
  EXPECT_EQ(changed([](Case& c) { c.train.emplace(); }), "train");
  EXPECT_EQ(refusal(star_case(65, 100e6, 0.01)), "replicas");
  EXPECT_EQ(refusal(mesh_case(4, 100e6, 0.01)), "network.topology");
  // One replica a link is needed, and no limit of single connections.
  EXPECT_EQ(refusal(regions_case("aws-2022", {{"oregon", 2}, {"london", 2}})), "network.topology");
  EXPECT_EQ(changed([](Case& c) {
              c.network.topology =
                  hierarchical_spec(2, access_section(1e9, 1e9, 0.001), access_section(1e8, 1e8, 0.05));
            }),
            "");
}

}  // namespace longhaul::world_test
