// A network that changes with time: what every direction of every link has at a moment, from traces, jitter
// and the traffic of others (core/scenario/network_spec.h).
//
// It is evaluated where it is asked for (advance_to) and is a function of time, so that hours in which
// nothing is sent cost nothing and events exist only while transfers are under way. Rates are bit/s on the
// wire, times whole nanoseconds since the training began.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "core/base/index.h"
#include "core/scenario/fault.h"
#include "core/scenario/network_spec.h"
#include "net/topology.h"

namespace longhaul {

// The rate and the delay of a link as step functions of time, from a CSV file (docs/formats.md).
//
// A row holds from its time until the next one. Before the first row, and in a cell that is empty, nothing is
// said: the link's own value holds, or the one of the row before. A trace that repeats begins again, with the
// link's own values, at the end of each period. Times are whole nanoseconds, as the simulator's are.
class LinkTrace {
 public:
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

  struct Row {
    std::int64_t time_ns = 0;
    std::optional<double> rate;     // bit/s on the wire; 0 is an outage
    std::optional<double> delay_s;  // one way
  };

  // `text` of the file `name`. Throws InputError of that file that names line and column. `spec` says whether
  // and how it repeats; what is wrong with that is said of `path`, where the trace stands in the scenario.
  static LinkTrace parse(const std::string& text, const std::string& name, const TraceSpec& spec,
                         const std::string& path);

  bool has_rates() const { return has_rates_; }
  bool has_delays() const { return has_delays_; }
  const std::vector<Row>& rows() const { return rows_; }

  // What holds at a time ≥ 0; nothing: the link's own.
  Row at(std::int64_t time_ns) const;
  // The next row or beginning of a period after `time_ns`; kNever if nothing comes.
  std::int64_t next_change_ns(std::int64_t time_ns) const;
  // Where the rate is 0 at `time_ns`: when it is no more; kNever if that does not come.
  std::int64_t outage_end_ns(std::int64_t time_ns) const;

 private:
  std::vector<Row> rows_;       // cells that were empty hold what the row before said
  std::int64_t period_ns_ = 0;  // 0: does not repeat
  bool has_rates_ = false, has_delays_ = false;
};

// Reads the file of `spec`. Throws InputError, of `path` if it cannot be read.
LinkTrace read_link_trace(const TraceSpec& spec, const std::string& path);

// Log-normal jitter: a factor of mean 1 on the rate and on the delay of each direction of each link, drawn
// anew every period.
//
// A draw belongs to (seed, name of the link, direction, period) and to nothing else: another link, another
// replica or a period without data changes no factor. exp(σ z − σ²/2) with a standard normal z has mean 1.
class LinkJitter {
 public:
  struct Factors {
    double rate = 1, delay = 1;
  };

  LinkJitter(const JitterSpec& spec, std::uint64_t seed);

  // `direction`: 0 forward, 1 backward.
  Factors factors(const std::string& link, int direction, std::int64_t time_ns) const;
  std::int64_t next_change_ns(std::int64_t time_ns) const { return (time_ns / every_ns_ + 1) * every_ns_; }

 private:
  JitterSpec spec_;
  std::uint64_t seed_;
  std::int64_t every_ns_;
};

// A source that is on and off for exponential times (an alternating renewal process), from the seed.
//
// It begins in its steady state: on with the probability on / (on + off); what is left of an exponential time
// is exponential again. Each time is a draw of its own (seed, name, number), so that it does not matter when
// the source is looked at. One never looks back.
class OnOffSource {
 public:
  // Means in seconds. `name` and `index` tell the sources of a seed apart.
  OnOffSource(double on_s, double off_s, std::uint64_t seed, const std::string& name, int index);

  void advance_to(std::int64_t time_ns);
  bool is_on() const { return is_on_; }
  std::int64_t next_change_ns() const { return next_ns_; }  // after the time of advance_to()

 private:
  std::int64_t draw_ns();

  double on_s_, off_s_;
  std::uint64_t seed_;
  std::uint32_t index_, draws_ = 0;
  bool is_on_ = false;
  std::int64_t next_ns_ = 0;
};

class Variation {
 public:
  static constexpr std::int64_t kNever = LinkTrace::kNever;

  // Long-lived connections of others, which share as the replicas' own do.
  struct CrossFlow {
    std::vector<LinkDirection> data, acks;
    double weight = 1;
    int background = 0;  // its number in network.variation.background
    int source = -1;  // that turns it on and off; -1: always on
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
  double capacity(const OfDirection& direction_here, LinkDirection direction, double rate) const;
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
