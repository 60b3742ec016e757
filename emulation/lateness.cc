#include "emulation/lateness.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "core/base/errors.h"
#include "emulation/host.h"

namespace longhaul {
namespace {

// On the world's own /run (world.sh).
constexpr char kCounts[] = "/run/longhaul-relay";

RelayCounts* mapped(int flags) {
  const int file = open(kCounts, flags | O_CLOEXEC, 0600);
  const bool is_there = file >= 0 && ((flags & O_CREAT) == 0 || ftruncate(file, sizeof(RelayCounts)) == 0);
  void* const memory =
      is_there ? mmap(nullptr, sizeof(RelayCounts), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : MAP_FAILED;
  const std::string reason = std::strerror(errno);
  if (file >= 0) close(file);
  if (memory == MAP_FAILED) throw RunError(std::string(kCounts) + ": " + reason);
  return static_cast<RelayCounts*>(memory);
}

// Packets that the device `wan` of the namespace around this process dropped on their way out.
std::int64_t dropped_here() {
  std::ifstream file("/proc/thread-self/net/dev");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos || line.find("wan") > colon) continue;
    std::istringstream numbers(line.substr(colon + 1));
    constexpr int kBeforeDropped = 11;  // eight of reception; bytes, packets and errors of sending
    std::int64_t number = 0;
    for (int i = 0; i < kBeforeDropped; ++i) numbers >> number;
    numbers >> number;
    return number;
  }
  return 0;
}

}  // namespace

RelayCounts* new_relay_counts() {
  return mapped(O_RDWR | O_CREAT);
}

Lateness lateness_of_world(int hosts) {
  const RelayCounts counts = *mapped(O_RDWR);
  Lateness lateness{counts.taken, counts.late, 0};
  for (int host = 0; host < hosts; ++host) {
    enter_namespace(host);
    lateness.dropped += dropped_here();
  }
  return lateness;
}

std::string lateness_in_words(const Lateness& lateness) {
  constexpr double kMostLate = 0.005;
  const double share =
      lateness.packets > 0 ? static_cast<double>(lateness.late) / static_cast<double>(lateness.packets) : 0;
  if (share <= kMostLate && lateness.dropped == 0) return "";
  return fmt::format(
      "this machine did not carry the rates: of {} packets {:.2g} % were more than {} ms late and {} were "
      "dropped; these times are of the machine, not of the network",
      lateness.packets, 100 * share, kLate_ns / 1000000, lateness.dropped);
}

}  // namespace longhaul
