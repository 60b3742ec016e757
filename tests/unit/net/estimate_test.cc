#include "net/estimate.h"

#include <gtest/gtest.h>

#include "core/errors.h"
#include "tests/unit/net/cases.h"

namespace longhaul {
namespace {

// A ring among 4 every 10 of 100 steps: 10 exchanges of 2·3·4 = 24 transfers, together 6 · B, B = 2 · 1000
// bytes.
TEST(Estimate, CountsTheTransfersOfAllExchanges) {
  Case one = star_case(4, 1e8, 0.05);
  ExchangeRule rule;
  rule.name = "outer";
  rule.collective = "ring";
  rule.every = 10;
  rule.tensors = {"delta"};
  const Trace trace = make_trace({{rule}}, {1, 4, 100, 1000, 2});
  const ReplayEstimate flow = estimate(one, trace);
  EXPECT_EQ(flow.transfers, 240);
  EXPECT_EQ(flow.payload_bytes, 10 * 6 * 2000);
  EXPECT_GT(flow.seconds, 0);
}

TEST(Estimate, PacketsCostMoreThanFluid) {
  Case one = star_case(2, 1e8, 0.05);
  ExchangeRule rule;
  rule.collective = "pair";
  rule.grouping = Grouping::kRandom;
  rule.group_size = 2;
  rule.tensors = {"delta"};
  const Trace trace = make_trace({{rule}}, {1, 2, 10, 10000000, 2});
  const double fluid = estimate(one, trace).seconds;
  one.network.fidelity = "packet";
  EXPECT_GT(estimate(one, trace).seconds, 100 * fluid);
}

TEST(CheckNetwork, MessagesThatNs3CannotCountNeedMoreConnections) {
  Case one = star_case(2, 1e8, 0.05);
  one.workload.parameters = 6800000000;
  EXPECT_NO_THROW(check_network(one)) << "flow has no such limit";
  one.network.fidelity = "packet";
  EXPECT_THROW(check_network(one), InputError);
  one.network.tcp.connections = 8;
  EXPECT_NO_THROW(check_network(one));
}

TEST(Collectives, WithoutSitesHierarchicalIsRefused) {
  ExchangeRule rule;
  rule.collective = "hierarchical";
  EXPECT_THROW(check_collectives(star_case(4, 1e9, 0.1), {{rule}}), InputError);
  EXPECT_NO_THROW(check_collectives(regions_case("aws-2022", {{"london", 2}, {"tokyo", 2}}), {{rule}}));
}

}  // namespace
}  // namespace longhaul
