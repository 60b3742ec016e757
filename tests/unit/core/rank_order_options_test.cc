// network.rank_order as a user writes it, and the groups that know of sites.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <stdexcept>

#include "core/scenario/network_spec.h"
#include "tests/support/traces.h"

namespace longhaul::rank_order_options_test {

TEST(RankOrderOption, IsAWordOrAListOfPlaces) {
  EXPECT_EQ(parse_rank_order("round-robin", 4).kind, RankOrderSpec::Kind::kRoundRobin);
  EXPECT_EQ(to_string(parse_rank_order("optimized", 4).kind), "optimized");
  const RankOrderSpec list = parse_rank_order({3, 1, 0, 2}, 4);
  EXPECT_EQ(to_string(list.kind), "list");
  EXPECT_EQ(list.places, (std::vector<int>{3, 1, 0, 2}));
}

using Groups = std::vector<std::vector<int>>;

std::vector<int> sites(const std::vector<int>& counts) {
  std::vector<int> site_of;
  for (std::size_t site = 0; site < counts.size(); ++site)
    site_of.insert(site_of.end(), static_cast<std::size_t>(counts[site]), static_cast<int>(site));
  return site_of;
}

std::size_t sites_in(const std::vector<int>& group, const std::vector<int>& site_of) {
  std::set<int> met;
  for (const int replica : group) met.insert(site_of[static_cast<std::size_t>(replica)]);
  return met.size();
}

int groups_inside(const Groups& groups, const std::vector<int>& site_of) {
  return static_cast<int>(std::count_if(groups.begin(), groups.end(), [&](const std::vector<int>& group) {
    return sites_in(group, site_of) == 1;
  }));
}

// Each replica is in one group, all of them of one size; where one is left over, the last one is smaller.
void expect_partition(const Groups& groups, std::size_t replicas, std::size_t size) {
  std::vector<int> all, expected(replicas);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    all.insert(all.end(), groups[i].begin(), groups[i].end());
    EXPECT_EQ(groups[i].size(), std::min(size, replicas - i * size));
  }
  std::sort(all.begin(), all.end());
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(all, expected);
}

TEST(SiteGroups, AreInsideWhereSitesAreEvenAndDrawnAnew) {
  const std::vector<int> site_of = sites({4, 2, 6});
  for (int step = 10; step <= 100; step += 10) {
    const auto groups = groups_inside_sites(3, site_of, 2, step);
    expect_partition(groups, 12, 2);
    EXPECT_EQ(groups_inside(groups, site_of), 6);
  }
  EXPECT_NE(groups_inside_sites(3, site_of, 2, 10), groups_inside_sites(3, site_of, 2, 20));
  EXPECT_EQ(groups_inside_sites(3, site_of, 2, 10), groups_inside_sites(3, site_of, 2, 10));
}

// 3, 5, 1 and 3 replicas leave one over each: two pairs go across, 1 + 2 + 0 + 1 stay inside.
TEST(SiteGroups, WhatAnOddSiteLeavesOverGoesAcross) {
  const std::vector<int> site_of = sites({3, 5, 1, 3});
  std::set<int> left_over;
  for (int step = 1; step <= 60; ++step) {
    const auto groups = groups_inside_sites(1, site_of, 2, step);
    expect_partition(groups, 12, 2);
    EXPECT_EQ(groups_inside(groups, site_of), 4);
    for (const auto& group : groups)
      if (sites_in(group, site_of) == 2) left_over.insert(group.begin(), group.end());
  }
  EXPECT_EQ(left_over.size(), 12u) << "in turn each replica is the one that is left over";
}

// Of pairs. 3 and 4: inside the odd site one sits out, each in turn. 3, 3 and 5: of the three that are left
// over two meet across, and one sits out. 1, 2 and 2: the single replica sits out at each step that stays
// inside. At a step across, all pairs of 3 and 2 can be across where one of the three sits out.
TEST(SiteGroups, OneOfAnOddNumberSitsOut) {
  using Draw = decltype(&groups_inside_sites);
  const std::tuple<std::vector<int>, Draw, int, std::set<int>> cases[] = {
      {{3, 4}, groups_inside_sites, 3, {0, 1, 2}},
      {{3, 3, 5}, groups_inside_sites, 4, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}},
      {{1, 2, 2}, groups_inside_sites, 2, {0}},
      {{3, 2}, groups_across_sites, 0, {0, 1, 2}}};
  for (const auto& [counts, draw, pairs_inside, may_sit_out] : cases) {
    const std::vector<int> site_of = sites(counts);
    std::set<int> sat_out;
    for (int step = 1; step <= 200; ++step) {
      const auto groups = draw(1, site_of, 2, step);
      ASSERT_EQ(groups.back().size(), 1u);
      sat_out.insert(groups.back()[0]);
      EXPECT_EQ(groups_inside(groups, site_of), pairs_inside + 1) << "and the group of one";
      expect_partition(groups, site_of.size(), 2);
    }
    EXPECT_EQ(sat_out, may_sit_out);
  }
}

// No pair is inside where no site has more than half; groups of four have four sites where there are enough.
TEST(SiteGroups, GoAcrossAsManySitesAsTheyHaveMembers) {
  const std::pair<std::vector<int>, int> cases[] = {
      {{6, 6}, 2}, {{5, 4, 3}, 2}, {{1, 1, 2}, 2}, {{6, 1, 1, 1, 1, 2}, 2}, {{4, 4, 4, 4, 4}, 4}};
  for (const auto& [counts, size] : cases) {
    const std::vector<int> site_of = sites(counts);
    for (int step = 1; step <= 50; ++step) {
      const auto groups = groups_across_sites(5, site_of, size, step);
      expect_partition(groups, site_of.size(), static_cast<std::size_t>(size));
      for (const auto& group : groups) EXPECT_EQ(sites_in(group, site_of), group.size());
    }
  }
}

// 8 of 10 at one site: only two can meet somebody else.
TEST(SiteGroups, ALargeSitePairsItsSurplusInside) {
  const std::vector<int> site_of = sites({8, 1, 1});
  for (int step = 1; step <= 20; ++step)
    EXPECT_EQ(groups_inside(groups_across_sites(5, site_of, 2, step), site_of), 3);
}

OperationPlan by_sites() {
  OperationRule outer = rule_of("outer", "pair", 10);
  outer.grouping = Grouping::kSites;
  outer.group_size = 2;
  outer.across_every = 3;
  OperationRule presend = outer;
  presend.name = "presend";
  presend.overlap_steps = 10;
  return {{outer, presend}};
}

// Outer steps 1, 2, 4, 5, 7 stay inside, 3 and 6 go across; φ goes ahead to the group of the next outer step.
// A trace has all of them.
TEST(SiteGroups, EveryThirdOuterStepGoesAcross) {
  const PlanContext context{1, 8, 70, 1000, sites({4, 4})};
  const Trace trace = read_back(make_trace(by_sites(), context));
  EXPECT_EQ(trace.groups.size(), 7u + 6u);
  EXPECT_THROW(operations_at(trace.plan, PlanContext{1, 8, 70, 1000}, 10), std::logic_error) << "no sites";
  for (int outer = 1; outer <= 7; ++outer) {
    const auto exchanges = trace.operations_at(10 * outer);
    EXPECT_EQ(exchanges[0].groups, operations_at(trace.plan, context, 10 * outer)[0].groups);
    EXPECT_EQ(groups_inside(exchanges[0].groups, context.site_of), outer % 3 == 0 ? 0 : 4) << outer;
    if (outer == 7) continue;
    ASSERT_EQ(exchanges.size(), 2u);
    EXPECT_EQ(exchanges[1].groups, trace.operations_at(10 * outer + 10)[0].groups);
  }
}

}  // namespace longhaul::rank_order_options_test
