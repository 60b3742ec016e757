#include "net/variation/variation.h"

#include <fmt/core.h>

#include <cmath>

#include "core/base/errors.h"
#include "core/base/hash.h"
#include "core/base/index.h"
#include "core/base/json.h"
#include "core/base/random.h"
#include "core/base/ranges.h"
#include "core/base/units.h"
#include "net/overrides.h"
#include "net/variation/link_trace.h"
#include "net/variation/on_off_source.h"
#include "net/variation/struck_links.h"

namespace longhaul {
namespace {

constexpr char kPath[] = "network.variation";

// As acknowledgements do (fair_shares.h), traffic that does not yield leaves a tenth: a link that others take
// altogether would be an outage.
constexpr double kLeast = 0.1;

std::string path_of(const char* list, std::size_t index) {
  return element_path(std::string(kPath) + "." + list, index);
}

std::vector<LinkDirection> directions_of(int link, const Directions& directions) {
  std::vector<LinkDirection> all;
  if (directions.forward) all.push_back(2 * link);
  if (directions.backward) all.push_back(2 * link + 1);
  return all;
}

std::string name_of(const Topology& topology, LinkDirection direction) {
  return topology.links()[as_index(direction / 2)].name + (direction % 2 == 0 ? " forward" : " backward");
}

}  // namespace

Variation::Variation(const VariationSpec& spec, const Topology& topology, std::uint64_t seed)
    : topology_(topology), jitter_spec_(spec.jitter), directions_(2 * topology.links().size()) {
  for (std::size_t i = 0; i < spec.traces.size(); ++i) add_trace(spec.traces[i], path_of("traces", i));
  for (std::size_t i = 0; i < spec.background.size(); ++i)
    add_background(spec.background[i], static_cast<int>(i), seed);
  if (spec.has_jitter()) jitter_.emplace(spec.jitter, seed);
  for (const Fault& fault : spec.faults) add_fault(fault, seed);
  for (std::size_t i = 0; i < directions_.size(); ++i) {
    const auto direction = static_cast<LinkDirection>(i);
    rates_.push_back(own_rate(direction));
    delays_s_.push_back(own_delay_s(direction));
    losses_.push_back(0);
    directions_[i].varies |= jitter_.has_value();
  }
  capacities_ = rates_;
  advance_to(0);
}

void Variation::add_fault(const Fault& fault, std::uint64_t seed) {
  for (const StruckLinks& struck : struck_by(fault, topology_)) {
    for (const int link : struck.links)
      for (const LinkDirection direction : {2 * link, 2 * link + 1}) {
        directions_[as_index(direction)].faults.push_back(static_cast<int>(faults_.size()));
        directions_[as_index(direction)].varies = true;
      }
    faults_.push_back(
        {FaultWindows(fault.times, seed, fault.number, struck.subject), fault.rate, fault.delay, fault.loss});
  }
}

double Variation::own_delay_s(LinkDirection direction) const {
  return topology_.links()[as_index(direction / 2)].delay_s;
}

void Variation::add_trace(const TraceSpec& spec, const std::string& path) {
  const int number = static_cast<int>(traces_.size());
  traces_.push_back(read_link_trace(spec, path));
  const auto assign = [&](int& place, LinkDirection direction, const char* what) {
    if (place >= 0)
      throw InputError(path,
                       fmt::format("gives the {} of {}, which {} gives too", what,
                                   name_of(topology_, direction), path_of("traces", as_index(place))),
                       "one trace for each");
    place = number;
  };
  for (const int link : links_named(topology_, spec.link, path + ".link"))
    for (const LinkDirection direction : directions_of(link, spec.directions)) {
      OfDirection& state = directions_[as_index(direction)];
      if (traces_.back().has_rates()) assign(state.rate_trace, direction, "rate");
      if (traces_.back().has_delays()) assign(state.delay_trace, direction, "delay");
      state.varies = true;
    }
}

void Variation::add_background(const BackgroundSpec& spec, int index, std::uint64_t seed) {
  const std::string path = path_of("background", as_index(index));
  if (spec.link.empty()) {
    const int from = node_named(topology_, spec.from, path + ".from"),
              to = node_named(topology_, spec.to, path + ".to");
    if (from == to) throw InputError(path + ".to", "found the node of from again", "another node");
    return add_traffic(spec, topology_.path(from, to).directions, spec.from + ">" + spec.to, index, seed,
                       path);
  }
  for (const int link : links_named(topology_, spec.link, path + ".link"))
    for (const LinkDirection direction : directions_of(link, spec.directions))
      add_traffic(spec, {direction}, name_of(topology_, direction), index, seed, path);
}

void Variation::add_traffic(const BackgroundSpec& spec, std::vector<LinkDirection> path,
                            const std::string& place, int index, std::uint64_t seed,
                            const std::string& json_path) {
  if (none_of(path, [&](LinkDirection link_direction) { return std::isfinite(own_rate(link_direction)); }))
    throw InputError(json_path, place + " has no limit to its rate", "a link with a rate of its own",
                     "traffic of others takes nothing of a link that carries everything");
  int source = -1;
  if (spec.on_s) {
    source = static_cast<int>(sources_.size());
    sources_.emplace_back(*spec.on_s, *spec.off_s, seed, place, index);
  }
  if (spec.flows) {
    CrossFlow flow;
    flow.data = std::move(path);
    for (auto direction = flow.data.rbegin(); direction != flow.data.rend(); ++direction)
      flow.acks.push_back(*direction ^ 1);
    flow.weight = *spec.flows;
    flow.background = index;
    flow.source = source;
    cross_flows_.push_back(std::move(flow));
    return;
  }
  for (const LinkDirection direction : path) {
    if (spec.rate && *spec.rate > (1 - kLeast) * own_rate(direction))
      throw InputError(json_path + ".rate",
                       fmt::format("found {} on {}, which has {}", human_rate(*spec.rate),
                                   name_of(topology_, direction), human_rate(own_rate(direction))),
                       "at most nine tenths of a link");
    directions_[as_index(direction)].takers.push_back(static_cast<int>(takers_.size()));
    directions_[as_index(direction)].varies = true;
  }
  takers_.push_back({spec.rate, spec.share, source});
}

void Variation::draw_jitter() {
  if (!jitter_ || now_ns_ < jitter_until_ns_) return;
  jitter_until_ns_ = jitter_->next_change_ns(now_ns_);
  for (std::size_t i = 0; i < directions_.size(); ++i)
    directions_[i].jitter = jitter_->factors(topology_.links()[i / 2].name, static_cast<int>(i % 2), now_ns_);
}

void Variation::advance_to(std::int64_t time_ns) {
  now_ns_ = time_ns;
  changed_.clear();
  for (OnOffSource& source : sources_) source.advance_to(now_ns_);
  draw_jitter();
  for (std::size_t i = 0; i < directions_.size(); ++i)
    if (directions_[i].varies) update(static_cast<LinkDirection>(i));
}

void Variation::update(LinkDirection direction) {
  const auto i = as_index(direction);
  const OfDirection& state = directions_[i];
  double rate = own_rate(direction), delay_s = own_delay_s(direction), loss = 0;
  if (state.rate_trace >= 0) rate = traces_[as_index(state.rate_trace)].at(now_ns_).rate.value_or(rate);
  if (state.delay_trace >= 0)
    delay_s = traces_[as_index(state.delay_trace)].at(now_ns_).delay_s.value_or(delay_s);
  rate *= state.jitter.rate;
  delay_s *= state.jitter.delay;
  for (const int number : state.faults)
    if (const Strike& fault = faults_[as_index(number)]; fault.windows.is_on(now_ns_)) {
      rate = fault.rate == 0 ? 0 : rate * fault.rate;  // also of a link without a limit
      delay_s *= fault.delay;
      loss = loss == 0 ? fault.loss : 1 - (1 - loss) * (1 - fault.loss);
    }
  const double left = capacity(state, direction, rate);
  if (rate == 0) rate = rates_[i];
  if (rate == rates_[i] && delay_s == delays_s_[i] && loss == losses_[i] && left == capacities_[i]) return;
  rates_[i] = rate;
  delays_s_[i] = delay_s;
  losses_[i] = loss;
  capacities_[i] = left;
  changed_.push_back(direction);
}

double Variation::capacity(const OfDirection& state, LinkDirection direction, double rate) const {
  if (!std::isfinite(rate)) return rate;
  double taken = 0;
  for (const int number : state.takers) {
    const Taker& taker = takers_[as_index(number)];
    if (is_on(taker.source)) taken += taker.rate ? *taker.rate : *taker.share * own_rate(direction);
  }
  return std::max(rate - taken, kLeast * rate);
}

bool Variation::may_lose() const {
  return any_of(faults_, [](const Strike& fault) { return fault.loss > 0; });
}

std::int64_t Variation::next_change_ns() const {
  std::int64_t next_ns = jitter_ ? jitter_->next_change_ns(now_ns_) : kNever;
  for (const LinkTrace& trace : traces_) next_ns = std::min(next_ns, trace.next_change_ns(now_ns_));
  for (const OnOffSource& source : sources_) next_ns = std::min(next_ns, source.next_change_ns());
  for (const Strike& fault : faults_) next_ns = std::min(next_ns, fault.windows.next_change_ns(now_ns_));
  return next_ns;
}

std::int64_t Variation::next_outage_end_ns() const {
  std::int64_t next_ns = kNever;
  for (const LinkTrace& trace : traces_)
    if (trace.at(now_ns_).rate == 0.) next_ns = std::min(next_ns, trace.outage_end_ns(now_ns_));
  for (const Strike& fault : faults_)
    if (fault.rate == 0 && fault.windows.is_on(now_ns_))
      next_ns = std::min(next_ns, fault.windows.end_ns(now_ns_));
  return next_ns;
}

std::vector<double> Variation::largest_rates() const {
  std::vector<double> largest;
  for (std::size_t i = 0; i < directions_.size(); ++i) {
    double most = own_rate(static_cast<LinkDirection>(i));
    if (const int trace = directions_[i].rate_trace; trace >= 0)
      for (const LinkTrace::Row& row : traces_[as_index(trace)].rows())
        most = std::max(most, row.rate.value_or(0));
    largest.push_back(most * std::exp(2 * jitter_spec_.rate_sigma));
  }
  return largest;
}

std::vector<double> Variation::largest_delays_s() const {
  std::vector<double> largest;
  for (std::size_t i = 0; i < directions_.size(); ++i) {
    double most = own_delay_s(static_cast<LinkDirection>(i));
    if (const int trace = directions_[i].delay_trace; trace >= 0)
      for (const LinkTrace::Row& row : traces_[as_index(trace)].rows())
        most = std::max(most, row.delay_s.value_or(0));
    largest.push_back(most * std::exp(2 * jitter_spec_.delay_sigma));
  }
  return largest;
}

void Variation::check_for_packets(const VariationSpec& spec) const {
  for (std::size_t i = 0; i < traces_.size(); ++i) {
    const std::string path = path_of("traces", i);
    const Directions& directions = spec.traces[i].directions;
    if (traces_[i].has_delays() && !(directions.forward && directions.backward))
      throw InputError(path + ".direction", "found a delay of one direction with fidelity \"packet\"",
                       "\"both\", or fidelity \"flow\" or \"linux\"",
                       "ns-3's links have one delay for both directions");
    for (const LinkTrace::Row& row : traces_[i].rows())
      if (row.rate == 0.)
        throw InputError(path + ".file",
                         fmt::format("found an outage at {} s with fidelity \"packet\"",
                                     format_number(static_cast<double>(row.time_ns) / 1e9)),
                         "rates above 0, or fidelity \"linux\" or \"flow\"",
                         "ns-3's links have no rate of 0");
  }
}

}  // namespace longhaul
