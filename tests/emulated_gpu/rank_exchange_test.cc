// Outer steps whose rows lie on the cards of several ranks, against the host's runner in one process, to the
// bit: parts and pieces end within a row, and groups are of one, within a rank, over some and over all.
#include "trainer/cuda/rank_exchange.h"

#include <gtest/gtest.h>

#include <cstring>

#include "core/base/random.h"
#include "tests/unit/trainer/operation_support.h"
#include "tests/unit/trainer/thread_ranks.h"

namespace longhaul::rank_exchange_test {

constexpr int kReplicas = 6;
constexpr std::int64_t kColumns = 1003;
constexpr RankExchange::Sizes kSmall{256, 100, 4096};

const Json kNoloco = {{"alpha", 0.5}, {"beta", 0.7}, {"gamma", 0.6}},
           kDiloco = {{"outer_lr", 0.7}, {"outer_momentum", 0.9}, {"nesterov", true}};
const MethodSpec kDdp{"ddp", "", Json::object()};

// Of all magnitudes, so that another order of summing would show.
void fill(Arena& arena) {
  for (const Slot slot : arena.slots())
    for (int replica = arena.held().first; replica < arena.held().end; ++replica) {
      RandomStream stream(11 + arena.index_of(slot), Purpose::kInitialWeights,
                          static_cast<std::uint32_t>(replica));
      for (std::int64_t i = 0; i < kColumns; ++i)
        arena.row(slot, replica)[i] = static_cast<float>(stream.normal() * (i % 3 == 0 ? 1e3 : 1));
    }
}

using Groups = std::vector<std::vector<int>>;  // none: everyone

void expect_the_hosts_rows(Wire wire, const MethodSpec& method, const std::vector<std::string>& tensors,
                           const Groups& groups) {
  const OperationRule rule = rule_for(tensors, wire);
  UpdateBench expected(method, kReplicas, kColumns);
  fill(expected.arena);
  expected.run(rule, 1, groups);
  for (const int size : {2, 3, 6})
    ThreadRanks::run(size, [&](Ranks& ranks) {
      const auto update = make_update(method);
      Arena arena(expected.arena.slots(), kReplicas, kColumns, block_of(ranks, kReplicas));
      fill(arena);
      const auto backend = make_loop_backend();
      ExchangeLog log;
      Replicas replicas{arena, *backend, log, ranks};
      const OperationRunner runner(*update, replicas);
      const int first = arena.held().first;
      const std::size_t count = static_cast<std::size_t>(arena.held().size() * kColumns);
      std::vector<DeviceTable<float>> tables;
      for (const Slot slot : arena.slots()) {
        tables.emplace_back(count);
        tables.back().set(arena.row(slot, first), count);
      }
      RankExchange exchange(
          replicas, [&](Slot slot) { return tables[arena.index_of(slot)].get(); }, kSmall);
      EXPECT_TRUE(exchange.run({&rule, 1, 1, groups, 0}, runner, nullptr));
      for (const Slot slot : arena.slots()) {
        const std::vector<float> found = tables[arena.index_of(slot)].read();
        EXPECT_EQ(std::memcmp(found.data(), expected.arena.row(slot, first), count * sizeof(float)), 0)
            << method.name << Json(groups) << ", wire " << static_cast<int>(wire) << ", " << size
            << " ranks, rank " << ranks.rank() << ", " << slot.name;
      }
    });
}

TEST(RankExchange, LeavesTheRowsOfTheHostsRunner) {
  for (const Wire wire : {Wire::kFp32, Wire::kBf16, Wire::kFp16}) {
    expect_the_hosts_rows(wire, {"diloco", "", kDiloco}, {"delta"}, {});
    for (const Groups& groups : {Groups(), {{0, 1, 2, 4, 5}}})
      expect_the_hosts_rows(wire, kDdp, {"gradient"}, groups);
    for (const Groups& groups :
         {Groups(), {{0, 3}, {4, 1}, {2, 5}}, {{0, 1}, {5, 2, 3}}, {{0, 3}, {4}, {2, 5}, {1}}})
      expect_the_hosts_rows(wire, {"noloco", "", kNoloco}, {"delta", "phi"}, groups);
  }
}

TEST(RankExchange, WhatHasNoKernelIsLeftToTheHost) {
  ThreadRanks::run(2, [](Ranks& ranks) {
    UpdateBench bench(kDdp, 2, 8);
    Arena arena(bench.arena.slots(), 2, 8, block_of(ranks, 2));
    Replicas replicas{arena, *bench.backend, bench.log, ranks};
    OperationRunner runner(*bench.update, replicas);
    RankExchange exchange(replicas, [](Slot) -> float* { throw std::logic_error("nothing is touched"); });
    OperationRule part = rule_for({"gradient"});
    part.payload.front().columns = {{0, 4}};
    EXPECT_FALSE(exchange.run({&part, 1, 1, {}, 0}, runner, nullptr));
    const OperationRule whole = rule_for({"gradient"});
    Operation with_takers{&whole, 1, 1, {}, 0};
    with_takers.takers.emplace();
    EXPECT_FALSE(exchange.run(with_takers, runner, nullptr));
  });
}

}  // namespace longhaul::rank_exchange_test
