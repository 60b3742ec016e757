// The operations of one average, one after another, as its members see them.
#include "replay/exchange/bucketed_exchange.h"

#include <gtest/gtest.h>

#include <limits>
#include <map>

#include "tests/unit/replay/library_exchange.h"

namespace longhaul {
namespace {

// A pair sends eagerly, so that the later one has what it needs when it posts: it is done in that moment, and
// is said to be once. The earlier one is done when its partner's message has arrived.
TEST(BucketedExchange, AMemberThatIsDoneWhenItPostsIsSaidOnce) {
  Case config = star_case(2, library_exchange::kRate, 2 * library_exchange::kLatency);
  config.network.eager = std::numeric_limits<double>::infinity();
  const Topology topology = build_topology(config);
  EventQueue clock;
  AnalyticNetwork network(config.network, topology, 1, clock);
  const ExchangeContext context{clock, network, {}, config.network};
  const OperationRule rule = library_exchange::rule_of(OperationKind::kGroupAverage, "pair");
  Operation operation;
  operation.rule = &rule;
  operation.post_step = 1;
  operation.bytes = 1448;
  std::map<int, std::vector<double>> done_s;
  BucketedExchange exchange(context, operation, 0, {0, 1},
                            [&](int replica) { done_s[replica].push_back(clock.now_s()); });
  clock.after(0, [&] { exchange.release(0); });
  clock.after(2, [&] { exchange.release(1); });
  clock.run();
  ASSERT_EQ(done_s[1].size(), 1u);
  EXPECT_EQ(done_s[1][0], 2);
  ASSERT_EQ(done_s[0].size(), 1u);
  EXPECT_NEAR(done_s[0][0], 2 + library_exchange::kLatency + library_exchange::wire_s(1448), 1e-9);
  EXPECT_TRUE(exchange.is_finished());
}

}  // namespace
}  // namespace longhaul
