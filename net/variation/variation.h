// A network that changes with time: what every direction of every link has at a moment, from traces, jitter
// and the traffic of others (core/scenario/network_spec.h).
//
// It is evaluated where it is asked for (advance_to) and is a function of time, so that hours in which
// nothing is sent cost nothing and events exist only while transfers are under way. Rates are bit/s on the
// wire, times whole nanoseconds since the training began.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/index.h"
#include "core/scenario/fault.h"
#include "core/scenario/network_spec.h"
#include "net/topology.h"
#include "net/variation/link_jitter.h"
#include "net/variation/link_trace.h"
#include "net/variation/on_off_source.h"

namespace longhaul {

class Variation {
 public:
  static constexpr std::int64_t kNever = LinkTrace::kNever;

  // Long-lived connections of others, which share as the replicas' own do.
  struct CrossFlow {
    std::vector<LinkDirection> data, acks;
    double weight = 1;
    int background = 0;  // its number in network.variation.background
    int source = -1;     // that turns it on and off; -1: always on
  };

  // Reads the files. Throws InputError for a link, a node or a file that is not there, and for what is wrong
  // in a file. `topology` must outlive it.
  Variation(const VariationSpec& spec, const Topology& topology, std::uint64_t seed);

  // Goes to a time that is not before the latest one.
  void advance_to(std::int64_t time_ns);
  // After the latest time: the next change of anything; the next end of an outage that lasts now.
  std::int64_t next_change_ns() const;
  std::int64_t next_outage_end_ns() const;

  // By direction. What the link has, before traffic that does not yield; in an outage what it had before.
  const std::vector<double>& rates() const { return rates_; }
  const std::vector<double>& delays_s() const { return delays_s_; }
  // The share of packets that faults lose. Whether there will ever be any.
  const std::vector<double>& losses() const { return losses_; }
  bool may_lose() const;
  // What it has for flows that share: 0 in an outage.
  const std::vector<double>& capacities() const { return capacities_; }
  // Directions whose rate, delay, loss or capacity the latest advance_to() changed, in ascending order.
  const std::vector<LinkDirection>& changed() const { return changed_; }

  const std::vector<CrossFlow>& cross_flows() const { return cross_flows_; }
  bool is_on(const CrossFlow& flow) const { return is_on(flow.source); }

  const Topology& topology() const { return topology_; }

  // The largest that a direction will have, for buffers made beforehand (jitter: two standard deviations).
  std::vector<double> largest_rates() const;
  std::vector<double> largest_delays_s() const;

  // Throws InputError for what fidelity `packet` cannot carry: outages, and a delay of one direction alone.
  void check_for_packets(const VariationSpec& spec) const;

 private:
  struct OfDirection {
    int rate_trace = -1, delay_trace = -1;
    LinkJitter::Factors jitter;
    std::vector<int> takers, faults;
    bool varies = false;
  };
  // Traffic that keeps its rate whatever else is on the link.
  struct Taker {
    std::optional<double> rate, share;
    int source = -1;
  };

  // A fault of one link, or of the links of a site.
  struct Strike {
    FaultWindows windows;
    double rate = 1, delay = 1, loss = 0;
  };

  void add_fault(const Fault& fault, std::uint64_t seed);
  void add_trace(const TraceSpec& spec, const std::string& path);
  void add_background(const BackgroundSpec& spec, int index, std::uint64_t seed);
  void add_traffic(const BackgroundSpec& spec, std::vector<LinkDirection> path, const std::string& place,
                   int index, std::uint64_t seed, const std::string& json_path);
  void draw_jitter();
  void update(LinkDirection direction);
  double own_rate(LinkDirection direction) const { return topology_.rate(direction); }
  double own_delay_s(LinkDirection direction) const;
  double capacity(const OfDirection& state, LinkDirection direction, double rate) const;
  bool is_on(int source) const { return source < 0 || sources_[as_index(source)].is_on(); }

  const Topology& topology_;
  std::vector<LinkTrace> traces_;
  std::optional<LinkJitter> jitter_;
  JitterSpec jitter_spec_;
  std::vector<OnOffSource> sources_;
  std::vector<Taker> takers_;
  std::vector<Strike> faults_;
  std::vector<CrossFlow> cross_flows_;
  std::vector<OfDirection> directions_;
  std::vector<double> rates_, delays_s_, losses_, capacities_;
  std::vector<LinkDirection> changed_;
  std::int64_t now_ns_ = 0, jitter_until_ns_ = 0;
};

}  // namespace longhaul
