// How far the flow and packet fidelities are from the Linux kernel's own TCP: replays the exchanges that
// measure.py timed and prints the residuals as tables. By hand, never part of the tests.
//
//   kernel_residuals FILE [detail]
#include <ns3/simulator.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/base/csv.h"
#include "core/base/errors.h"
#include "net/topologies/registry.h"
#include "sim/network/clock.h"
#include "sim/simulated_replay.h"
#include "tests/unit/net/cases.h"

namespace longhaul {
namespace {

// From cold windows, 10 ms after that one, and 1 s after the second.
constexpr int kExchanges = 3;
const char* const kNames[kExchanges] = {"cold", "at once", "after 1 s"};
constexpr double kPauses_s[kExchanges] = {0, 0.01, 1};

struct Point {
  std::string queue, congestion_control;
  double rate, rtt_s;
  int connections, directions;
  double products;
  std::int64_t bytes;
  double measured_s[kExchanges];
};

std::vector<Point> read_points(const std::string& file) {
  const CsvTable table = read_csv(file);
  std::vector<Point> points;
  for (const auto& row : table.rows) {
    const auto text = [&](const char* name) { return row[table.column(name)]; };
    const auto number = [&](const char* name) { return std::stod(text(name)); };
    points.push_back({text("queue"),
                      text("congestion_control"),
                      number("rate_bps"),
                      number("rtt_s"),
                      static_cast<int>(number("connections")),
                      static_cast<int>(number("directions")),
                      number("products"),
                      static_cast<std::int64_t>(number("bytes")),
                      {number("cold_s"), number("warm_s"), number("after_idle_s")}});
  }
  return points;
}

// The bottleneck is the sender's: what comes after it in the measurement only delays.
NetworkSpec network_of(const Point& point, const std::string& fidelity) {
  NetworkSpec network = star_case(2, point.rate, point.rtt_s).network;
  network.fidelity = fidelity;
  network.topology = star_spec(point.rate, 10e9, point.rtt_s);
  network.tcp.connections = point.connections;
  network.tcp.congestion_control = point.congestion_control;
  network.tcp.ecn = point.queue == "fq_codel-ecn";
  network.tcp.queue = network.tcp.ecn ? "fq_codel" : point.queue;
  return network;
}

// The exchanges of one point, one after the other.
class Exchanges {
 public:
  Exchanges(const Point& point, const std::string& fidelity)
      : point_(point),
        topology_([&] {
          Case config = star_case(2, 1e9, 0.1);
          config.network = network_of(point, fidelity);
          return build_topology(config);
        }()),
        network_(make_network(
            network_of(point, fidelity), topology_,
            [] {
              return std::vector<std::pair<int, int>>{{0, 1}, {1, 0}};
            },
            1)) {}

  std::vector<double> run() {
    const ClockScope scope{simulator_clock()};
    after(network_->ready_s(), [this] { begin(0); });
    ns3::Simulator::Run();
    return times_s_;
  }

 private:
  void begin(int index) {
    if (index == kExchanges) return ns3::Simulator::Stop();
    after(kPauses_s[index], [this, index] {
      const double begun_s = now_s();
      open_ = point_.directions;
      for (int side = 0; side < point_.directions; ++side)
        network_->send({side, 1 - side, point_.bytes}, [this, index, begun_s] {
          if (--open_ > 0) return;
          times_s_.push_back(now_s() - begun_s);
          begin(index + 1);
        });
    });
  }

  const Point& point_;
  Topology topology_;
  std::unique_ptr<Network> network_;
  int open_ = 0;
  std::vector<double> times_s_;
};

// Residuals are relative to the kernel; empty where the fidelity has no model of the queue.
std::vector<double> residuals(const Point& point, const std::string& fidelity, bool prints) {
  std::vector<double> result;
  const std::vector<double> times_s = Exchanges(point, fidelity).run();
  for (int i = 0; i < kExchanges; ++i) {
    result.push_back(times_s.at(static_cast<std::size_t>(i)) / point.measured_s[i] - 1);
    if (prints)
      std::printf(
          "%-12s %-5s %3.0f Mb/s %3.0f ms %d conn. %d dir. %3.0f BDP  %-9s  kernel %8.4f  %-6s %8.4f %+6.1f "
          "%%\n",
          point.queue.c_str(), point.congestion_control.c_str(), point.rate / 1e6, point.rtt_s * 1e3,
          point.connections, point.directions, point.products, kNames[i], point.measured_s[i],
          fidelity.c_str(), times_s[static_cast<std::size_t>(i)], 100 * result.back());
  }
  return result;
}

void print_row(const std::string& name, const std::vector<double>& values) {
  std::vector<double> sizes;
  double sum = 0;
  for (const double value : values) {
    sizes.push_back(std::abs(value));
    sum += value;
  }
  std::sort(sizes.begin(), sizes.end());
  const auto at = [&](double share) {
    return 100 * sizes[static_cast<std::size_t>(share * static_cast<double>(sizes.size() - 1) + 0.5)];
  };
  std::printf("| %s | %zu | %.1f | %.1f | %.1f | %+.1f |\n", name.c_str(), sizes.size(), at(0.5), at(0.95),
              at(1), 100 * sum / static_cast<double>(sizes.size()));
}

void run(const std::string& file, bool prints) {
  std::map<std::string, std::vector<double>> rows;
  for (const Point& point : read_points(file))
    for (const std::string fidelity : {"flow", "packet"}) {
      if (fidelity == "flow" && point.queue == "fifo") continue;
      const std::vector<double> all = residuals(point, fidelity, prints);
      for (int i = 0; i < kExchanges; ++i)
        rows[point.queue + ", kernel's " + point.congestion_control + ", " +
             std::to_string(point.directions) + (point.directions == 1 ? " direction, " : " directions, ") +
             kNames[i] + ", " + fidelity]
            .push_back(all[static_cast<std::size_t>(i)]);
    }
  std::printf(
      "\n| residual against the kernel | points | median %% | 95th %% | largest %% | mean, signed %% |\n"
      "|---|---|---|---|---|---|\n");
  for (const auto& [name, values] : rows) print_row(name, values);
}

}  // namespace
}  // namespace longhaul

int main(int argc, char** argv) try {
  if (argc < 2) throw longhaul::InputError({"", "", "no file", "kernel_residuals FILE [detail]", ""});
  longhaul::run(argv[1], argc > 2);
} catch (const std::exception& error) {
  std::fprintf(stderr, "kernel_residuals: %s\n", error.what());
  return 2;
}
