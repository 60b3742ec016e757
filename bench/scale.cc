// How seconds and memory of the flow fidelity grow with the number of replicas, beside SimGrid in the same
// run where libsimgrid-dev is there. By hand:
//
//   ninja -C build scale && build/bin/scale ring 1024 4096 8192 16384 [--simgrid 4096]
//   build/bin/scale direct 64 128 256 512 [--simgrid 128]
//   build/bin/scale spread-direct 64 128 256 512
//
// `--most M` stops each after about M transfers: enough to see what one costs. Each size in a process of its
// own; seconds are processor time of this process without the kernel's, memory is the largest resident size.
// `flat` is the time of a transfer over that at the first size. `spread`: every member is ready at a time
// drawn from 1 s.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "bench/speed_cases.h"
#include "sim/network/clock.h"
#ifdef LONGHAUL_SIMGRID
#include "bench/simgrid_runs.h"
#endif

namespace longhaul {
namespace {

struct Cost {
  double seconds = -1, megabytes = 0;
  std::int64_t transfers = 0;
};

Cost in_child(const std::function<Cost()>& measure) {
  int ends[2];
  Cost cost;
  if (pipe(ends) != 0) return cost;
  std::fflush(stdout);  // the child has a copy of what is not written yet
  const pid_t child = fork();
  if (child == 0) {
    cost = measure();
    _exit(write(ends[1], &cost, sizeof cost) == sizeof cost ? 0 : 1);
  }
  close(ends[1]);
  if (child < 0 || read(ends[0], &cost, sizeof cost) != sizeof cost) cost = Cost();
  close(ends[0]);
  if (child > 0) waitpid(child, nullptr, 0);
  return cost;
}

double largest_megabytes(int who) {
  rusage usage{};
  getrusage(who, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

double user_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec) + 1e-6 * static_cast<double>(usage.ru_utime.tv_usec);
}

Cost flow(const std::string& collective, int count, double spread_s, std::int64_t most) {
  const Topology topology = speed_star(speed_leaves(count, false));
  FlowNetwork network(speed_tcp(), topology);
  const SimulationScope scope;
  Cost cost;
  const double begun = user_seconds();
  cost.transfers = run_speed_collective(network, collective, count, count, spread_s, most);
  cost.seconds = user_seconds() - begun;
  cost.megabytes = largest_megabytes(RUSAGE_SELF);
  return cost;
}

// Of a direct all-reduce one of its two rounds.
Cost simgrid(const std::string& collective, int count) {
  Cost cost;
#ifdef LONGHAUL_SIMGRID
  std::vector<StarLeaf> leaves;
  for (const SpeedLeaf& leaf : speed_leaves(count, false)) leaves.push_back({leaf.rate, leaf.delay_s});
  const auto run = collective == "ring" ? simgrid_ring_s : simgrid_all_to_all_s;
  cost.seconds = run(leaves, static_cast<double>(kSpeedMessage));
  cost.transfers = (collective == "ring" ? 2 : 1) * (count - std::int64_t{1}) * count;
  cost.megabytes = largest_megabytes(RUSAGE_CHILDREN);
#else
  (void)collective;
  (void)count;
#endif
  return cost;
}

double nanoseconds_each(const Cost& cost) {
  return 1e9 * cost.seconds / static_cast<double>(cost.transfers);
}

int print_table(const std::string& name, const std::vector<int>& sizes, int largest_simgrid,
                std::int64_t most) {
  const bool is_spread = name.rfind("spread-", 0) == 0;
  const std::string collective = is_spread ? name.substr(7) : name;
  std::printf(
      "| %s, N | transfers | s | million / s | flat | MB | SimGrid: million / s | MB | flow is faster |\n"
      "|---|---|---|---|---|---|---|---|---|\n",
      name.c_str());
  double first = 0;
  for (const int count : sizes) {
    const Cost own = in_child([&] { return flow(collective, count, is_spread ? 1 : 0, most); });
    if (own.seconds < 0 || own.transfers == 0) return 1;
    if (first == 0) first = nanoseconds_each(own);
    std::printf("| %d | %lld | %.2f | %.2f | %.2f | %.0f |", count, static_cast<long long>(own.transfers),
                own.seconds, 1e3 / nanoseconds_each(own), nanoseconds_each(own) / first, own.megabytes);
    const Cost other =
        count <= largest_simgrid ? in_child([&] { return simgrid(collective, count); }) : Cost();
    if (other.seconds > 0)
      std::printf(" %.3f | %.0f | %.1f times |\n", 1e3 / nanoseconds_each(other), other.megabytes,
                  nanoseconds_each(other) / nanoseconds_each(own));
    else
      std::printf(" | | |\n");
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace
}  // namespace longhaul

int main(int argc, char** argv) {
  std::vector<int> sizes;
  int largest_simgrid = 0;
  std::int64_t most = 0;
  for (int i = 2; i < argc; ++i) {
    if (std::string(argv[i]) == "--simgrid" && i + 1 < argc)
      largest_simgrid = std::atoi(argv[++i]);
    else if (std::string(argv[i]) == "--most" && i + 1 < argc)
      most = std::atoll(argv[++i]);
    else
      sizes.push_back(std::atoi(argv[i]));
  }
  if (argc < 3) return std::fputs("usage: scale [spread-]COLLECTIVE N... [--simgrid LARGEST_N]\n", stderr), 2;
  return longhaul::print_table(argv[1], sizes, largest_simgrid, most);
}
