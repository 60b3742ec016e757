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

TEST(World, HasAHostAWorkerWithTheRateOfItsLinkAndABurstOfHalfAMillisecond) {
  const Case config = star_case(2, 100e6, 0.01);
  const std::string script = world_script(config, build_topology(config), "/bin/longhaul");
  for (const char* line : {"#!/bin/sh\n", "longhaul='/bin/longhaul'\n", "size='2'\n", "mtu='1500'\n",
                           "hosts='0 10.9.0.1 100000000 6250\n1 10.9.0.2 100000000 6250'\n",
                           "control='cubic'\n", "idle='1'\n", "overhead='38'\n"})
    EXPECT_SAYS(script, line) << line;
}

TEST(World, ASlowLinkHasABurstOfTwoFramesAndValuesAreQuotedForTheShell) {
  Case config = star_case(2, 10e6, 0.01);
  config.network.tcp.segment = 8948;
  config.network.tcp.slow_start_after_idle = false;
  config.resolved = {{"case", "it's"}};
  const std::string script = world_script(config, build_topology(config), "longhaul");
  for (const char* line :
       {"0 10.9.0.1 10000000 18100\n", "mtu='9000'\n", "idle='0'\n", R"(case_json='{"case":"it'\''s"}')"})
    EXPECT_SAYS(script, line) << line;
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
