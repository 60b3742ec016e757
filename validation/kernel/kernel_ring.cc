// The long version of kernel_ring_test.cc: a ring of eight with one member late, over the kernel's TCP and in
// both fidelities, as a Markdown table. By hand, as root; minutes.
//
//   kernel_ring [REPETITIONS]
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "validation/kernel/model_rings.h"

namespace longhaul {
namespace {

KernelRing ring_of_eight() {
  KernelRing ring;
  ring.members = 8;
  ring.chunk = ring.slice = 1000000;
  ring.rate = 50e6;
  ring.rtt_s = 0.2;
  const std::vector<double> equal(8, 1.);
  std::vector<double> one_late = equal;
  one_late[4] += 1.3;
  ring.compute_s = {equal, one_late};
  return ring;
}

struct Row {
  const char* name;
  KernelRing ring;
  bool has_model = true;
};

std::vector<Row> rows() {
  std::vector<Row> all = {{"whole chunks (1 MB)", ring_of_eight()}};
  for (const auto& [name, slice] :
       {std::pair("slices of 512 KiB", 524288), std::pair("slices of 256 KiB", 262144),
        std::pair("slices of 128 KiB", 131072), std::pair("slices of 64 KiB", 65536),
        std::pair("slices of 16 KiB", 16384)}) {
    all.push_back({name, ring_of_eight()});
    all.back().ring.slice = slice;
  }
  all.push_back({"whole, no slow start after idle", ring_of_eight()});
  all.back().ring.slow_start_after_idle = false;
  all.push_back({"whole, BBR", ring_of_eight(), false});
  all.back().ring.congestion_control = "bbr";
  return all;
}

void print(const Row& row, int repetitions) {
  std::vector<double> equal, late;
  for (int i = 0; i < repetitions; ++i) {
    const std::vector<double> times = run_kernel_ring(row.ring);
    equal.push_back(times[0]);
    late.push_back(times[1]);
  }
  std::sort(equal.begin(), equal.end());
  std::sort(late.begin(), late.end());
  std::printf("| %s | %.2f | %.2f – %.2f – %.2f |", row.name, equal[equal.size() / 2], late.front(),
              late[late.size() / 2], late.back());
  if (!row.has_model) {
    std::printf(" – | – |\n");
  } else {
    const double flow_s = run_model_ring(row.ring, "flow")[1];
    std::printf(" %.2f | %.2f |\n", flow_s, run_model_ring(row.ring, "packet")[1]);
  }
  std::fflush(stdout);
}

int run(int repetitions) {
  const std::string why = why_no_kernel_rings();
  if (!why.empty()) {
    std::fprintf(stderr, "kernel_ring: %s\n", why.c_str());
    return 1;
  }
  std::printf(
      "| seconds | kernel, equal starts | kernel, one late: least – median – most of %d | flow | packet |\n"
      "|---|---|---|---|---|\n",
      repetitions);
  for (const Row& row : rows()) print(row, repetitions);
  return 0;
}

}  // namespace
}  // namespace longhaul

int main(int count, char** arguments) {
  return longhaul::run(count > 1 ? std::atoi(arguments[1]) : 5);
}
