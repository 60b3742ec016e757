// What a life has started ends with it; what it sent still loads the links.
#include "replay/work/life.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "net/topologies/registry.h"
#include "replay/network/analytic_network.h"
#include "tests/unit/replay/replayed.h"

namespace longhaul {
namespace {

struct Owner {
  Life life;
  std::vector<int> rang = {};
};

TEST(Life, ItsTimersRingUntilItEnds) {
  EventQueue clock;
  Owner owner;
  const auto ring = [&owner](int number) { return [&owner, number] { owner.rang.push_back(number); }; };
  owner.life.after(clock, 1, ring(1));
  owner.life.after(clock, 3, ring(3));
  clock.after(2, [&] {
    owner.life.end();
    owner.life.after(clock, 2, ring(4));
  });
  clock.run();
  EXPECT_EQ(owner.rang, (std::vector{1, 4}));
}

TEST(Life, ATimerOutlivesItsOwner) {
  EventQueue clock;
  auto owner = std::make_unique<Owner>();
  bool has_rung = false;
  owner->life.after(clock, 2, [&has_rung] { has_rung = true; });
  const Life::Watch watch = owner->life.watch();
  EXPECT_FALSE(watch.has_ended());
  clock.after(1, [&owner] { owner.reset(); });
  clock.run();
  EXPECT_FALSE(has_rung);
  EXPECT_TRUE(watch.has_ended());
}

TEST(Life, MovedElsewhereItGoesOn) {
  EventQueue clock;
  Life first;
  int rung = 0;
  first.after(clock, 1, [&rung] { ++rung; });
  Life second = std::move(first);
  clock.after(0.5, [&] { second.after(clock, 1, [&rung] { ++rung; }); });
  clock.run();
  EXPECT_EQ(rung, 2);
  second.after(clock, 1, [&rung] { ++rung; });
  second = Life();  // the one that it was has ended
  clock.run();
  EXPECT_EQ(rung, 2);
}

// 1448 bytes fill a segment, which with its headers has 1448 + 52 + 38 bytes on the wire.
TEST(Life, WhatADeadSenderSentLoadsTheLinks) {
  const Case config = star_case(2, 1e6, 0.1);
  const Topology topology = build_topology(config);
  EventQueue clock;
  AnalyticNetwork network(config.network, topology, 1, clock);
  Life sender;
  int arrived = 0;
  clock.after(0, [&] {
    sender.send(network, {0, 1, 1448}, [&arrived] { ++arrived; });
    sender.end();
    sender.send(network, {1, 0, 1448}, [&arrived] { ++arrived; });
  });
  clock.run();
  EXPECT_EQ(arrived, 1);
  std::vector<std::int64_t> bytes;
  for (const LinkLoad& load : network.loads())
    if (load.bytes > 0) bytes.push_back(load.bytes);
  EXPECT_EQ(bytes, (std::vector<std::int64_t>{1538, 1538, 1538, 1538}));
}

// What is retired by an action stays for all actions of its instant.
TEST(Clock, RetiredObjectsStayUntilALaterInstant) {
  EventQueue clock;
  auto object = std::make_shared<int>(1);
  const std::weak_ptr<int> seen = object;
  std::vector<bool> is_there;
  clock.after(1, [&] {
    clock.retire(std::move(object));
    clock.after(0, [&] { is_there.push_back(!seen.expired()); });
    clock.after(0.5, [&] { is_there.push_back(!seen.expired()); });
  });
  clock.run();
  EXPECT_EQ(is_there, (std::vector{true, false}));
}

TEST(Clock, AClosedOneKeepsNothing) {
  EventQueue clock;
  auto object = std::make_shared<int>(1);
  const std::weak_ptr<int> seen = object;
  {
    const ClockScope scope{clock};
    clock.after(1, [&] { clock.retire(std::move(object)); });
    clock.run();
    EXPECT_FALSE(seen.expired());
  }
  EXPECT_TRUE(seen.expired());
}

}  // namespace
}  // namespace longhaul
