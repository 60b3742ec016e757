// Paths of micro-batches by hand, and what must hold of every plan of them.
#include "core/plan/paths.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/base/index.h"
#include "tests/support/said.h"

namespace longhaul::paths_test {

ModelShape shape_of(int layers) {
  return {8, layers, 2, 16, 4, 32};
}

PipelineSpec spec_of(int stages, int microbatches, int skip = 0, bool reorders = false) {
  PipelineSpec spec;
  spec.stages = stages;
  spec.microbatches = microbatches;
  spec.skip = skip;
  spec.reorders = reorders;
  return spec;
}

PipelinePlan plan_of(const PipelineSpec& spec, int layers) {
  return pipeline_plan(spec, shape_of(layers), shape_of(layers).parameters(), 4 * spec.microbatches,
                       Wire::kBf16);
}

using Orders = std::vector<std::vector<int>>;

// No part of a replica is met twice by the micro-batches of one number, whatever is left out and swapped;
// where nothing is, each hop is a permutation.
TEST(PipelinePaths, OnRandomRoutesNoPartIsMetTwice) {
  for (const auto& [skip, partial] :
       {std::pair(0, PartialPaths::kScheduled), {2, PartialPaths::kScheduled}, {2, PartialPaths::kRandom}}) {
    PipelineSpec spec = spec_of(6, 2, skip, skip > 0);
    spec.partial = partial;
    spec.routing = MicrobatchRouting::kRandom;
    const PipelinePlan plan = plan_of(spec, 6);
    int away = 0;
    std::set<std::vector<Route>> different;
    for (int step = 1; step <= 50; ++step)
      for (int m = 0; m < 2; ++m) {
        const std::vector<Route> paths = paths_of(plan, 3, 5, step, m);
        std::set<Stop> met;
        for (int home = 0; home < 5; ++home)
          for (const Stop& stop : paths[as_index(home)]) {
            if (!stop.is_there()) continue;
            EXPECT_TRUE(met.insert(stop).second) << stop.replica << " " << stop.part;
            EXPECT_TRUE(stop.part > 0 || stop.replica == home);
            away += stop.replica != home;
          }
        EXPECT_EQ(met.size(), as_index(5 * (6 - skip)));
        EXPECT_EQ(paths, paths_of(plan, 3, 5, step, m));
        different.insert(paths);
      }
    EXPECT_GT(away, 1000);
    EXPECT_EQ(different.size(), 100u);
  }
}

// Of 6000 draws each of three replicas follows each other one 2000 times, ± 4 standard deviations of 37.
TEST(PipelinePaths, EveryReplicaFollowsAsOften) {
  PipelineSpec spec = spec_of(2, 1);
  spec.routing = MicrobatchRouting::kRandom;
  const PipelinePlan plan = plan_of(spec, 2);
  int count[3][3] = {};
  for (int step = 1; step <= 6000; ++step) {
    const auto paths = paths_of(plan, 1, 3, step, 0);
    for (int home = 0; home < 3; ++home) ++count[home][paths[as_index(home)][1].replica];
  }
  for (const auto& row : count)
    for (const int times : row) EXPECT_NEAR(times, 2000, 150);
}

TEST(PipelinePartial, OrdersAreThoseWorkedOutByHand) {
  // Two workers between ends that take no time: the second micro-batch finds the first part taken, and meets
  // the other one.
  EXPECT_EQ(scheduled_orders(plan_of(spec_of(4, 2, 1), 4), {0, 1, 1, 0}),
            (Orders{{0, 1, -1, 3}, {0, -1, 2, 3}}));
  // Three workers, of which each micro-batch meets two. The first one is at 1 from 0 to 1 and at 2 from 1 to
  // 2; the second one finds 1 taken and meets 2 and 3 at those times. Each part is met twice: the third one
  // must take 1 and 3.
  EXPECT_EQ(scheduled_orders(plan_of(spec_of(5, 3, 1), 5), {0, 1, 1, 1, 0}),
            (Orders{{0, 1, 2, -1, 4}, {0, -1, 2, 3, 4}, {0, 1, -1, 3, 4}}));
  // The second one goes the other way round: 2 is free at first, and 1 after that.
  const PipelinePlan reorders = plan_of(spec_of(4, 2, 0, true), 4);
  EXPECT_EQ(scheduled_orders(reorders, {0, 1, 1, 0}), (Orders{{0, 1, 2, 3}, {0, 2, 1, 3}}));
  EXPECT_EQ(scheduled_orders(reorders, {1, 1, 1, 1}), (Orders{{0, 1, 2, 3}, {0, 1, 2, 3}}))
      << "the first part lets one through after another: nothing is gained";
}

TEST(PipelinePartial, EveryPlanIsEvenAndLeavesOutAsMany) {
  for (const int stages : {3, 4, 6, 9})
    for (const int microbatches : {1, 2, 5, 8, 24})
      for (int skip = 0; skip <= stages - 2; ++skip)
        for (const bool reorders : {false, true}) {
          if (reorders ? stages < 4 : skip == 0) continue;
          const PipelinePlan plan = plan_of(spec_of(stages, microbatches, skip, reorders), stages);
          ASSERT_EQ(plan.orders.size(), as_index(microbatches));
          std::map<int, int> visits;
          for (const std::vector<int>& order : plan.orders) {
            ASSERT_EQ(order.size(), as_index(stages));
            EXPECT_EQ(order.front(), 0);
            EXPECT_EQ(order.back(), stages - 1);
            EXPECT_EQ(std::count(order.begin(), order.end(), -1), skip);
            int swaps = 0;
            for (int place = 0; place < stages; ++place) {
              const int part = order[as_index(place)];
              if (part < 0) continue;
              ++visits[part];
              if (part != place) {
                ++swaps;
                EXPECT_EQ(order[as_index(part)], place) << "a neighbour in its place";
                EXPECT_EQ(std::abs(part - place), 1);
              }
            }
            EXPECT_TRUE(swaps == 0 || (swaps == 2 && reorders)) << swaps;
          }
          const int all = microbatches * (stages - 2 - skip), least = all / (stages - 2);
          for (int part = 1; part + 1 < stages; ++part) {
            EXPECT_GE(visits[part], least);
            EXPECT_LE(visits[part], least + 1);
          }
        }
}

// 6000 draws of 2 of 4 parts to leave out: each is met 3000 times, ± 4 standard deviations of 39. Three
// adjacent pairs at most can be swapped.
TEST(PipelinePartial, DrawnPathsAreUniform) {
  PipelineSpec spec = spec_of(6, 4, 2, true);
  spec.partial = PartialPaths::kRandom;
  const PipelinePlan plan = plan_of(spec, 6);
  EXPECT_TRUE(plan.orders.empty());
  const auto left_out = [](const Route& path) {
    std::vector<bool> out;
    for (const Stop& stop : path) out.push_back(!stop.is_there());
    return out;
  };
  std::map<int, int> visits;
  int swapped = 0, alike = 0;
  for (int step = 1; step <= 500; ++step)
    for (int m = 0; m < 4; ++m) {
      const std::vector<Route> paths = paths_of(plan, 7, 3, step, m);
      EXPECT_EQ(paths, paths_of(plan, 7, 3, step, m));
      alike += left_out(paths[0]) == left_out(paths[1]);
      for (int home = 0; home < 3; ++home) {
        const Route& path = paths[as_index(home)];
        EXPECT_EQ(path, straight_path(plan, 7, step, m, home));
        const std::vector<bool> out = left_out(path);
        EXPECT_EQ(std::count(out.begin(), out.end(), true), 2);
        for (int place = 0; place < 6; ++place) {
          const Stop& stop = path[as_index(place)];
          if (!stop.is_there()) continue;
          EXPECT_EQ(stop.replica, home);
          ++visits[stop.part];
          swapped += stop.part == place + 1;
        }
      }
    }
  for (const int part : {1, 2, 3, 4}) EXPECT_NEAR(visits[part], 3000, 160);
  EXPECT_EQ(visits[0], 6000);
  EXPECT_EQ(visits[5], 6000);
  EXPECT_NEAR(swapped, 3000, 160) << "of six pairs that may be left three are neighbours";
  EXPECT_NEAR(alike, 2000. / 6, 70) << "replicas draw for themselves";
}

TEST(PipelinePartial, BytesFollowTheHops) {
  // 4 tokens of 8 numbers of 2 bytes; 5 micro-batches, 6 − 1 − 2 hops, both ways.
  EXPECT_EQ(plan_of(spec_of(6, 5, 2), 6).bytes_of_step(), 5 * 3 * 64 * 2);
  EXPECT_EQ(plan_of(spec_of(6, 5), 6).bytes_of_step(), 5 * 5 * 64 * 2);
  EXPECT_EQ(plan_of(spec_of(5, 2, 1), 7).bytes_of_step(), 2 * 3 * 64 * 2) << "of 2, 2, 1, 1, 1 layers";
}

TEST(PipelinePartial, HopsAreThoseOfThePlan) {
  using Hops = std::set<std::pair<int, int>>;
  PipelinePlan plan = plan_of(spec_of(4, 2), 4);
  EXPECT_EQ(hops_of(plan), (Hops{{0, 1}, {1, 2}, {2, 3}}));
  plan.skip = 1;
  plan.orders = {{0, 1, -1, 3}, {0, -1, 2, 3}};
  EXPECT_EQ(hops_of(plan), (Hops{{0, 1}, {0, 2}, {1, 3}, {2, 3}}));
  plan.skip = 0;
  plan.reorders = true;
  plan.orders = {{0, 2, 1, 3}};
  EXPECT_EQ(hops_of(plan), (Hops{{0, 2}, {2, 1}, {1, 3}}));
}

TEST(PipelinePartial, ComesBackFromATrace) {
  const PipelinePlan plan = plan_of(spec_of(6, 4, 2, true), 6);
  const auto read = [](const Json& json, int layers = 6) {
    return pipeline_from(json, shape_of(layers).parameters());
  };
  const PipelinePlan back = read(to_json(plan));
  EXPECT_EQ(back.skip, 2);
  EXPECT_TRUE(back.reorders);
  EXPECT_EQ(back.orders, plan.orders);
  Json json = to_json(plan);
  for (const Json& order :
       {Json({0, 1, 2, 3, 4, 5}), Json({0, -1, -1, 3, 4, 4}), Json({0, -1, -1, 3, 3, 5}), Json({0, 5})}) {
    json["partial"]["orders"] = Json::array({order, order, order, order});
    EXPECT_THROW(read(json), InputError) << order;
  }
  // With two parts a stage passes are numbered in rounds of the stages, which gpipe does not have.
  json = to_json(plan_of(spec_of(4, 2), 4));
  read(json, 4);
  json["stages"] = 2;
  EXPECT_THROW(read(json, 4), InputError);
}

}  // namespace longhaul::paths_test
