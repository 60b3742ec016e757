// How seconds and memory of the flow fidelity grow with the number of replicas, beside SimGrid in the same
// run where libsimgrid-dev is there. By hand, never timed in a test:
//
//   ninja -C build speed && build/bin/speed ring 1024 4096 8192 16384 [--simgrid 4096]
//   build/bin/speed spread-direct 64 128 256 512
//   build/bin/speed jittered-spread-pair 16 64 256 1024
//
// `--most M` stops each after about M transfers: enough to see what one costs. Each size in a process of its
// own; seconds are processor time of this process without the kernel's, memory is the largest resident size.
// `flat` is the time of a transfer over that at the first size. `jittered` draws every rate and delay from ±1
// %, so that no two links or events are alike; equal rounds of the other ring are skipped. `spread`: every
// member is ready at a time drawn from 1 s. Pairs are groups of two; all else is among all.
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

double largest_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

double user_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec) + 1e-6 * static_cast<double>(usage.ru_utime.tv_usec);
}

struct Measured {
  std::string collective;
  bool is_jittered = false, is_spread = false;
  std::int64_t most = 0;
};

Cost flow(const Measured& measured, int count) {
  const Topology topology = speed_star(speed_leaves(count, measured.is_jittered));
  FlowNetwork network(speed_tcp(), topology);
  const ClockScope scope{simulator_clock()};
  Cost cost;
  const double begun = user_seconds();
  cost.transfers =
      run_speed_collective(network, measured.collective, measured.collective == "pair" ? 2 : count, count,
                           measured.is_spread ? 1 : 0, measured.most);
  cost.seconds = user_seconds() - begun;
  cost.megabytes = largest_megabytes();
  return cost;
}

// Of a direct all-reduce one of its two rounds.
Cost simgrid(const Measured& measured, int count) {
  Cost cost;
#ifdef LONGHAUL_SIMGRID
  const bool is_ring = measured.collective == "ring";
  const auto run = is_ring ? simgrid_ring_s : simgrid_all_to_all_s;
  cost.seconds = run(speed_leaves(count, measured.is_jittered), static_cast<double>(kSpeedMessage));
  cost.transfers = (is_ring ? 2 : 1) * (count - std::int64_t{1}) * count;
  cost.megabytes = largest_megabytes();
#else
  (void)measured;
  (void)count;
#endif
  return cost;
}

double nanoseconds_each(const Cost& cost) {
  return 1e9 * cost.seconds / static_cast<double>(cost.transfers);
}

// Takes a word off the beginning of a name.
bool take(const std::string& word, std::string& name) {
  if (name.rfind(word, 0) != 0) return false;
  name.erase(0, word.size());
  return true;
}

int print_table(const std::string& name, const std::vector<int>& sizes, int largest_simgrid,
                std::int64_t most) {
  Measured measured{name, false, false, most};
  measured.is_jittered = take("jittered-", measured.collective);
  measured.is_spread = take("spread-", measured.collective);
  std::printf(
      "| %s, N | transfers | s | million / s | flat | MB | SimGrid: million / s | MB | flow is faster |\n"
      "|---|---|---|---|---|---|---|---|---|\n",
      name.c_str());
  double first = 0;
  for (const int count : sizes) {
    const Cost own = in_child([&] { return flow(measured, count); });
    if (own.seconds < 0 || own.transfers == 0) return 1;
    if (first == 0) first = nanoseconds_each(own);
    std::printf("| %d | %lld | %.2f | %.2f | %.2f | %.0f |", count, static_cast<long long>(own.transfers),
                own.seconds, 1e3 / nanoseconds_each(own), nanoseconds_each(own) / first, own.megabytes);
    const Cost other = count <= largest_simgrid ? in_child([&] { return simgrid(measured, count); }) : Cost();
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
  if (argc < 3) {
    std::fputs("usage: speed [jittered-][spread-]COLLECTIVE N... [--simgrid LARGEST_N] [--most M]\n", stderr);
    return 2;
  }
  return longhaul::print_table(argv[1], sizes, largest_simgrid, most);
}
