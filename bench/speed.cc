// Transfers per second of the flow fidelity, and of SimGrid on the same ring and all-to-all where
// libsimgrid-dev is there. By hand, never timed in a test:
//
//   ninja -C build speed && build/bin/speed [--benchmark_filter=…]
//
// A star of 1 Gb/s and 50 ms; `jittered` draws every rate and delay from ±1 %, so that no two links or events
// are alike; equal rounds of the other ring are skipped. `items_per_second` are transfers, and times are
// processor time: other work on the machine then counts only by what it takes from the caches. Messages are
// as large as 8 bandwidth-delay products.
#include <benchmark/benchmark.h>
#include <ns3/simulator.h>

#include <ctime>

#include "bench/speed_cases.h"
#include "sim/network/clock.h"
#include "sim/network/flow_network.h"
#ifdef LONGHAUL_SIMGRID
#include "bench/simgrid_runs.h"
#endif

namespace longhaul {
namespace {

// `start` begins everything from within the simulation and returns the number of transfers at the end.
template <typename Start>
void time_flow(benchmark::State& state, bool is_jittered, const Start& start) {
  const int count = static_cast<int>(state.range(0));
  const Topology topology = speed_star(speed_leaves(count, is_jittered));
  std::int64_t transfers = 0;
  for (auto _ : state) {
    FlowNetwork network(speed_tcp(), topology);
    const SimulationScope scope;
    const std::clock_t begun = std::clock();
    transfers += start(network, count);
    state.SetIterationTime(static_cast<double>(std::clock() - begun) / CLOCKS_PER_SEC);
  }
  state.SetItemsProcessed(transfers);
}

std::int64_t all_to_all(FlowNetwork& network, int count) {
  std::int64_t arrived = 0;
  after(0, [&] {
    for (int from = 0; from < count; ++from)
      for (int to = 0; to < count; ++to)
        if (from != to) network.send({from, to, kSpeedMessage}, [&arrived] { ++arrived; });
  });
  ns3::Simulator::Run();
  return arrived;
}

void FlowRing(benchmark::State& state) {
  time_flow(state, false,
            [](FlowNetwork& network, int n) { return run_speed_collective(network, "ring", n, n, 0); });
}
void FlowJitteredRing(benchmark::State& state) {
  time_flow(state, true,
            [](FlowNetwork& network, int n) { return run_speed_collective(network, "ring", n, n, 0); });
}
void FlowTree(benchmark::State& state) {
  time_flow(state, false,
            [](FlowNetwork& network, int n) { return run_speed_collective(network, "tree", n, n, 0); });
}
void FlowHalvingDoubling(benchmark::State& state) {
  time_flow(state, false, [](FlowNetwork& network, int n) {
    return run_speed_collective(network, "halving-doubling", n, n, 0);
  });
}
void FlowUnsynchronizedPairs(benchmark::State& state) {
  time_flow(state, true,
            [](FlowNetwork& network, int n) { return run_speed_collective(network, "pair", 2, n, 1); });
}
void FlowAllToAll(benchmark::State& state) {
  time_flow(state, false, all_to_all);
}

#ifdef LONGHAUL_SIMGRID
std::vector<StarLeaf> simgrid_leaves(int count, bool is_jittered) {
  std::vector<StarLeaf> all;
  for (const SpeedLeaf& leaf : speed_leaves(count, is_jittered)) all.push_back({leaf.rate, leaf.delay_s});
  return all;
}

template <typename Run>
void time_simgrid(benchmark::State& state, bool is_jittered, std::int64_t transfers, const Run& run) {
  const auto all = simgrid_leaves(static_cast<int>(state.range(0)), is_jittered);
  for (auto _ : state) {
    const double seconds = run(all, static_cast<double>(kSpeedMessage));
    if (seconds < 0) return state.SkipWithError("SimGrid failed");
    state.SetIterationTime(seconds);
  }
  state.SetItemsProcessed(transfers * state.iterations());
}

void SimGridRing(benchmark::State& state) {
  time_simgrid(state, false, 2 * (state.range(0) - 1) * state.range(0), simgrid_ring_s);
}
void SimGridJitteredRing(benchmark::State& state) {
  time_simgrid(state, true, 2 * (state.range(0) - 1) * state.range(0), simgrid_ring_s);
}
void SimGridAllToAll(benchmark::State& state) {
  time_simgrid(state, false, (state.range(0) - 1) * state.range(0), simgrid_all_to_all_s);
}
#endif

void in_steps_of_four(benchmark::internal::Benchmark* benchmark) {
  benchmark->RangeMultiplier(4)->Range(16, 4096)->UseManualTime()->Unit(benchmark::kMillisecond);
}
void up_to_1024(benchmark::internal::Benchmark* benchmark) {
  benchmark->RangeMultiplier(4)->Range(16, 1024)->UseManualTime()->Unit(benchmark::kMillisecond);
}
void up_to_256(benchmark::internal::Benchmark* benchmark) {
  benchmark->RangeMultiplier(4)->Range(16, 256)->UseManualTime()->Unit(benchmark::kMillisecond);
}

BENCHMARK(FlowRing)->Apply(in_steps_of_four);
BENCHMARK(FlowJitteredRing)->Apply(up_to_1024);
BENCHMARK(FlowTree)->Apply(in_steps_of_four);
BENCHMARK(FlowHalvingDoubling)->Apply(in_steps_of_four);
BENCHMARK(FlowUnsynchronizedPairs)->Apply(in_steps_of_four);
BENCHMARK(FlowAllToAll)->Apply(up_to_256);
#ifdef LONGHAUL_SIMGRID
BENCHMARK(SimGridRing)->Apply(up_to_1024);
BENCHMARK(SimGridJitteredRing)->Apply(up_to_1024);
BENCHMARK(SimGridAllToAll)->Apply(up_to_256);
#endif

}  // namespace
}  // namespace longhaul

BENCHMARK_MAIN();
