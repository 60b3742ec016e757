// How far the flow fidelity is from packets with queue `host`: a table, by hand, never part of the tests.
//
//   residuals [largest payload of a case in MB, default 100]
//
// Every point is one exchange from cold connections and one more after a second of compute. No parameter of
// the flow fidelity was fitted on these points, or on any: its constants are those of the protocols
// (docs/model.md).
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <vector>

#include "net/collectives/registry.h"
#include "net/framing.h"
#include "tests/unit/sim/replays.h"

namespace longhaul {
namespace {

struct Point {
  std::string collective;
  int replicas;
  double rate, rtt_s, products;  // a message is `products` bandwidth-delay products
  int connections;
};

struct Residuals {
  std::vector<double> flow, naive;  // relative to packets

  void print(const std::string& name) const {
    print_one(name + ", flow", flow);
    print_one(name + ", latency + bytes / rate", naive);
  }

 private:
  static void print_one(const std::string& name, const std::vector<double>& signed_values) {
    std::vector<double> sizes;
    double sum = 0;
    for (const double value : signed_values) {
      sizes.push_back(std::abs(value));
      sum += value;
    }
    std::sort(sizes.begin(), sizes.end());
    const auto at = [&](double share) {
      return 100 * sizes[static_cast<std::size_t>(share * (sizes.size() - 1) + 0.5)];
    };
    std::printf("| %s | %zu | %.1f | %.1f | %.1f | %+.1f |\n", name.c_str(), sizes.size(), at(0.5), at(0.95),
                at(1), 100 * sum / static_cast<double>(sizes.size()));
  }
};

std::vector<Point> grid() {
  std::vector<Point> points;
  const std::vector<std::pair<std::string, int>> shapes = {
      {"pair", 2}, {"ring", 4}, {"tree", 4}, {"halving-doubling", 4}};
  for (const auto& [collective, replicas] : shapes)
    for (const double rate : {1e8, 1e9})
      for (const double rtt_s : {0.02, 0.05, 0.1, 0.2})
        for (const double products : {1., 5., 20.})
          for (const int connections : {1, 4})
            points.push_back({collective, replicas, rate, rtt_s, products, connections});
  return points;
}

GroupExchange exchange_of(const Point& point) {
  const double message = point.products * point.rate / 8 * point.rtt_s;
  const int parts = point.collective == "ring" ? point.replicas : 1;
  return {point.replicas, static_cast<std::int64_t>(message) * parts, 1};
}

void measure(const Point& point, Residuals& cold, Residuals& again) {
  const GroupExchange exchange = exchange_of(point);
  Case one = star_case(point.replicas, point.rate, point.rtt_s);
  one.network.tcp.connections = point.connections;
  const Trace trace = single_exchange(point.collective, point.replicas, exchange.bytes, 2);
  const Replayed flow = run_replay(one, trace);
  one.network.fidelity = "packet";
  const Replayed packet = run_replay(one, trace);
  const double naive = find_collective(point.collective)
                           .idle_star_s(exchange, point.rtt_s / 2, point.rate / 8 * payload_share(1448));
  for (const int step : {1, 2}) {
    const double measured = packet.sync_time_s(step);
    Residuals& all = step == 1 ? cold : again;
    all.flow.push_back(flow.sync_time_s(step) / measured - 1);
    all.naive.push_back(naive / measured - 1);
  }
  std::printf(
      "%-16s %d  %5.0f Mb/s %4.0f ms %3.0f BDP %d conn.  cold: packet %8.4f flow %8.4f %+6.1f %%   after 1 "
      "s: packet %8.4f "
      "flow %8.4f %+6.1f %%   naive %+6.1f %%\n",
      point.collective.c_str(), point.replicas, point.rate / 1e6, point.rtt_s * 1e3, point.products,
      point.connections, packet.sync_time_s(1), flow.sync_time_s(1), 100 * cold.flow.back(),
      packet.sync_time_s(2), flow.sync_time_s(2), 100 * again.flow.back(), 100 * cold.naive.back());
  std::fflush(stdout);
}

void run(double most_bytes) {
  std::map<std::string, Residuals> cold, again;
  for (const Point& point : grid()) {
    const double payload =
        static_cast<double>(find_collective(point.collective).totals(exchange_of(point)).bytes);
    if (payload > most_bytes) continue;
    measure(point, cold[point.collective], again[point.collective]);
  }
  std::printf(
      "\n| residual against packets | points | median %% | 95th %% | largest %% | mean, signed %% "
      "|\n|---|---|---|---|---|---|\n");
  for (const auto& [name, residuals] : cold) residuals.print(name + ", cold");
  for (const auto& [name, residuals] : again) residuals.print(name + ", after 1 s idle");
}

}  // namespace
}  // namespace longhaul

int main(int argc, char** argv) {
  longhaul::run((argc > 1 ? std::atof(argv[1]) : 100) * 1e6);
}
