#include "bench/speed_cases.h"

#include <ns3/simulator.h>

#include <memory>
#include <random>

#include "core/plan/operations.h"
#include "replay/exchange_run.h"
#include "sim/network/clock.h"

namespace longhaul {

std::vector<SpeedLeaf> speed_leaves(int count, bool is_jittered) {
  std::vector<SpeedLeaf> all(static_cast<std::size_t>(count));
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> factor(0.99, 1.01);
  if (is_jittered)
    for (SpeedLeaf& leaf : all) leaf = {kSpeedRate * factor(random), kSpeedRtt_s / 4 * factor(random)};
  return all;
}

Topology speed_star(const std::vector<SpeedLeaf>& leaves) {
  Topology topology(static_cast<int>(leaves.size()));
  const int core = topology.add_router("core");
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    Link link;
    link.first = static_cast<int>(i);
    link.second = core;
    link.rate_forward = link.rate_backward = leaves[i].rate;
    link.delay_s = leaves[i].delay_s;
    topology.add_link(link);
  }
  return topology;
}

TcpSpec speed_tcp() {
  TcpSpec spec;
  spec.congestion_control = "cubic";
  spec.queue = "host";
  return spec;
}

std::int64_t run_speed_collective(FlowNetwork& network, const std::string& name, int group, int count,
                                  double spread_s, std::int64_t most) {
  OperationRule rule;
  rule.name = "outer";
  rule.collective = name;
  rule.payload = whole({"delta"}, Wire::kInt8);
  const std::int64_t bytes = name == "ring" ? kSpeedMessage * group : kSpeedMessage;
  const ExchangeContext context{simulator_clock(), network};
  std::vector<std::unique_ptr<ExchangeRun>> runs;
  std::mt19937_64 random(2);
  std::uniform_real_distribution<double> when(0, spread_s);
  for (int first = 0; first + group <= count; first += group) {
    std::vector<int> members;
    for (int i = 0; i < group; ++i) members.push_back(first + i);
    runs.push_back(std::make_unique<ExchangeRun>(context, rule, 0, 1, members, bytes, [](int) {}));
    for (const int member : members)
      after(spread_s > 0 ? when(random) : 0, [run = runs.back().get(), member] { run->post(member); });
  }
  const auto begun = [&runs](bool with_unfinished) {
    std::int64_t transfers = 0;
    for (const auto& run : runs) transfers += with_unfinished || run->is_finished() ? run->transfers() : 0;
    return transfers;
  };
  if (most > 0)
    network.set_heartbeat([&] {
      if (begun(true) >= most) ns3::Simulator::Stop();
    });
  ns3::Simulator::Run();
  return begun(most > 0);
}

}  // namespace longhaul
