// One operation as a library carries it, on an idle star in the analytic network.
#pragma once

#include <gtest/gtest.h>

#include <numeric>

#include "core/base/index.h"
#include "net/library.h"
#include "net/topologies/registry.h"
#include "replay/exchange/exchange_run.h"
#include "replay/network/analytic_network.h"
#include "replay/network/clock.h"
#include "tests/unit/replay/replayed.h"

namespace longhaul::library_exchange {

constexpr double kRate = 1e8, kLatency = 0.05;  // bit/s of each link, s from replica to replica

inline OperationRule rule_of(OperationKind kind, const std::string& collective) {
  OperationRule rule;
  rule.kind = kind;
  rule.collective = collective;
  rule.payload = whole({"vector"}, Wire::kFp32);
  return rule;
}

// Of so many bytes with the headers of TCP, IP and Ethernet, on a link of kRate.
inline double wire_s(double bytes) {
  return 8 * bytes * (1448 + 52 + 38) / 1448 / kRate;
}

struct Took {
  double s = 0;
  std::int64_t transfers = 0, bytes_of_first = 0;
};

// Members post at times of their own; all must be done at the end.
inline Took exchange(const std::string& library, const OperationRule& rule, int members, std::int64_t bytes,
                     const std::vector<double>& posted_s = {}) {
  Case config = star_case(members, kRate, 2 * kLatency);
  config.network.library = library;
  const Topology topology = build_topology(config);
  EventQueue clock;
  AnalyticNetwork network(config.network, topology, 1, clock);
  const ExchangeContext context{clock, network, {}, config.network};
  std::vector<int> group(as_index(members));
  std::iota(group.begin(), group.end(), 0);
  const auto run = make_exchange_run(context, {rule, 0, 1, group, bytes}, [](int) {});
  for (const int member : group)
    clock.after(posted_s.empty() ? 0 : posted_s[as_index(member)], [&run, member] { run->post(member); });
  clock.run();
  EXPECT_TRUE(run->is_finished()) << library << " of " << members << ": " << bytes;
  return {run->done_s() - run->start_s(), run->transfers(), run->times(0).bytes_sent};
}

inline const OperationRule kAverage = rule_of(OperationKind::kAllReduce, kLibraryChoice);

}  // namespace longhaul::library_exchange
