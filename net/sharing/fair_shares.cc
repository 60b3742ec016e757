#include "net/sharing/fair_shares.h"

#include <cmath>

#include "core/base/index.h"
#include "core/base/ranges.h"

namespace longhaul {
namespace {

constexpr double kSameRate = 1e-10;
constexpr double kLargestWeight = 1 << 20;  // sums of fewer than 2^32 such are exact
constexpr std::size_t kBits = 64;           // of a word of sending_bits_

}  // namespace

FairShares::FairShares(const std::vector<double>& capacity, double ack_share)
    : links_(capacity.size()), ack_share_(ack_share), filling_(capacity.size()), capped_(capacity.size()) {
  for (std::size_t i = 0; i < capacity.size(); ++i) links_[i].capacity = capacity[i];
}

int FairShares::add(const Flow& flow) {
  Sharing sharing;
  sharing.cap = flow.cap;
  sharing.weight = flow.weight;
  Place place;
  place.first_hop = static_cast<std::uint32_t>(hops_.size());
  place.hops = static_cast<std::uint16_t>(flow.data->size());
  for (const LinkDirection direction : *flow.data) hops_.push_back({direction, 0});
  place.first_ack = static_cast<std::uint32_t>(ack_hops_.size());
  if (flow.acks != nullptr && ack_share_ > 0) {
    place.ack_hops = static_cast<std::uint16_t>(flow.acks->size());
    ack_hops_.insert(ack_hops_.end(), flow.acks->begin(), flow.acks->end());
  }
  const bool is_whole = flow.weight == std::floor(flow.weight) && flow.weight < kLargestWeight;
  if (flows_.empty() && is_whole) equal_weight_ = flow.weight;
  if (flow.weight != equal_weight_) equal_weight_ = 0;
  lowest_cap_ = std::min(lowest_cap_, flow.cap / flow.weight);
  if (flows_.size() % kBits == 0) sending_bits_.push_back(0);
  flows_.push_back(sharing);
  places_.push_back(place);
  rates_.push_back(0);
  reported_.push_back(0);
  paths_.emplace_back(flow.data, flow.acks);
  return static_cast<int>(flows_.size()) - 1;
}

double FairShares::for_data(const Link& link) {
  // A sum of acknowledgements that rounds to less than nothing must not let data through an outage.
  return std::max(link.capacity - std::max(0., link.ack_load), link.capacity / 10);
}

void FairShares::make_dirty(LinkDirection direction) {
  Link& touched = link(direction);
  if (touched.is_dirty || touched.flows.empty()) return;
  touched.is_dirty = true;
  dirty_.push_back(direction);
}

// Sums begin anew when no flow is left, so that rounding errors do not pile up.
void FairShares::load_way_back(int flow, double change, int flows) {
  for (const LinkDirection direction : acks_of(flow)) {
    Link& back = link(direction);
    back.ack_load += ack_share_ * change;
    if ((back.ack_flows += flows) == 0) back.ack_load = 0;
    make_dirty(direction);
  }
}

void FairShares::start(int flow) {
  Sharing& sharing = at(flow);
  if (sharing.is_sending) return;
  sharing.is_sending = true;
  sending_bits_[as_index(flow) / kBits] |= std::uint64_t{1} << (as_index(flow) % kBits);
  ++sending_;
  if (!known_.empty()) forget_components();
  for (Hop& hop : data_of(flow)) {
    ShortList& list = link(hop.link).flows;
    hop.place = static_cast<std::uint32_t>(list.size());
    list.push_back(flow);
    make_dirty(hop.link);
  }
  load_way_back(flow, rate(flow), 1);
}

void FairShares::stop(int flow) {
  Sharing& sharing = at(flow);
  if (!sharing.is_sending) return;
  sharing.is_sending = false;
  sending_bits_[as_index(flow) / kBits] &= ~(std::uint64_t{1} << (as_index(flow) % kBits));
  --sending_;
  if (!known_.empty()) forget_components();
  for (const Hop& hop : data_of(flow)) {
    ShortList& list = link(hop.link).flows;
    const int last = list.back();
    if (last != flow) {
      list[hop.place] = last;
      for (Hop& moved : data_of(last))
        if (moved.link == hop.link) moved.place = hop.place;
    }
    list.pop_back();
    make_dirty(hop.link);
  }
  load_way_back(flow, -rate(flow), -1);
}

void FairShares::set_capacity(LinkDirection direction, double capacity) {
  link(direction).capacity = capacity;
  make_dirty(direction);
}

void FairShares::set_cap(int flow, double cap) {
  Sharing& sharing = at(flow);
  if (sharing.cap == cap) return;
  sharing.cap = cap;
  lowest_cap_ = std::min(lowest_cap_, cap / sharing.weight);
  for (const Hop& hop : data_of(flow)) make_dirty(hop.link);
}

const std::vector<int>& FairShares::solve() {
  ++solves_;
  changed_.clear();
  for (std::size_t next = 0; next < dirty_.size(); ++next) {
    const LinkDirection direction = dirty_[next];
    Link& touched = link(direction);
    if (!touched.is_dirty) continue;
    touched.is_dirty = false;
    if (touched.flows.empty()) continue;
    if (touched.visited != solves_) touched.visits = 0;
    touched.visited = solves_;
    if (++touched.visits > kMostVisits) continue;
    if (touched.flows.size() == 1 && is_alone(touched.flows.front()))
      solve_alone(touched.flows.front());
    else
      solve_component(direction);
  }
  dirty_.clear();
  return changed_;
}

bool FairShares::is_alone(int flow) {
  const Range<Hop> data = data_of(flow);
  return std::all_of(data.begin(), data.end(),
                     [&](const Hop& hop) { return link(hop.link).flows.size() == 1; });
}

void FairShares::set_rate(int flow, double rate) {
  double& known = rates_[as_index(flow)];
  if (rate == known || std::abs(rate - known) <= kSameRate * known) return;
  const double change = rate - known;
  known = rate;
  load_way_back(flow, change, 0);
  std::uint64_t& reported = reported_[as_index(flow)];
  if (reported != solves_) changed_.push_back(flow);
  reported = solves_;
}

void FairShares::solve_alone(int flow) {
  const Sharing& sharing = at(flow);
  double rate = sharing.cap;
  for (const Hop& hop : data_of(flow)) {
    Link& crossed = link(hop.link);
    crossed.is_dirty = false;
    rate = std::min(rate, for_data(crossed));
  }
  set_rate(flow, rate);
}

void FairShares::solve_component(LinkDirection from) {
  if (fill_equally(from)) return;
  collect(from);
  capped_.fill(component_links_, component_flows_, Component{*this});
  for (const LinkDirection direction : component_links_) link(direction).is_dirty = false;
  for (const int flow : component_flows_) set_rate(flow, capped_.rate(flow));
}

// The order in which links and flows are looked at does not matter then: all that are settled in a round get
// the same.
bool FairShares::fill_equally(LinkDirection from) {
  if (equal_weight_ == 0) return false;
  const Link& first = link(from);
  if (for_data(first) / (equal_weight_ * static_cast<double>(first.flows.size())) >= lowest_cap_)
    return false;
  Known& component = known_[known_component(from)];
  if (component.has_caps) return false;
  filling_.begin(equal_weight_, lowest_cap_);
  for (std::size_t i = component.first_link; i < component.last_link; ++i) {
    Link& known = link(known_links_[i]);
    filling_.add(known_links_[i], for_data(known), known.flows.size());
  }
  const bool is_filled = filling_.fill([&](LinkDirection full, const auto& settle) {
    for (const int flow : link(full).flows) {
      const Range<Hop> data = data_of(flow);
      settle(data.begin(), data.end());
    }
  });
  component.has_caps = !is_filled;
  if (!is_filled) return false;
  for (std::size_t i = component.first_link; i < component.last_link; ++i)
    link(known_links_[i]).is_dirty = false;
  for (std::size_t i = component.first_flow; i < component.last_flow; ++i) {
    const Range<Hop> data = data_of(known_flows_[i]);
    set_rate(known_flows_[i], filling_.rate(data.begin(), data.end()));
  }
  return true;
}

// A component is told by its links alone, which are few beside its flows.
std::size_t FairShares::known_component(LinkDirection from) {
  if (link(from).known > forgotten_) return as_index(link(from).known - forgotten_ - 1);
  const std::uint64_t number = forgotten_ + known_.size() + 1;
  Known component;
  component.first_link = known_links_.size();
  component.first_flow = known_flows_.size();
  known_links_.push_back(from);
  link(from).known = number;
  for (std::size_t next = component.first_link; next < known_links_.size(); ++next)
    for (const int flow : link(known_links_[next]).flows) {
      const Range<Hop> data = data_of(flow);
      if (data.begin()->link == known_links_[next]) known_flows_.push_back(flow);
      for (const Hop& hop : data) {
        if (link(hop.link).known == number) continue;
        link(hop.link).known = number;
        known_links_.push_back(hop.link);
      }
    }
  component.last_link = known_links_.size();
  component.last_flow = known_flows_.size();
  sort_known_flows(component);
  known_.push_back(component);
  return known_.size() - 1;
}

// Going through all that send is cheaper than sorting a good part of them.
void FairShares::sort_known_flows(const Known& component) {
  constexpr std::size_t kGoodPart = 16;
  const auto first = known_flows_.begin() + static_cast<std::ptrdiff_t>(component.first_flow);
  if ((component.last_flow - component.first_flow) * kGoodPart < sending_)
    return std::sort(first, known_flows_.end());
  const std::uint64_t number = forgotten_ + known_.size() + 1;
  auto place = first;
  for (std::size_t word = 0; word < sending_bits_.size(); ++word)
    for (std::uint64_t left = sending_bits_[word]; left != 0; left &= left - 1) {
      const int flow = static_cast<int>(word * kBits) + __builtin_ctzll(left);
      if (link(data_of(flow).begin()->link).known == number) *place++ = flow;
    }
}

void FairShares::forget_components() {
  forgotten_ += known_.size();
  known_.clear();
  known_links_.clear();
  known_flows_.clear();
}

void FairShares::collect(LinkDirection from) {
  ++components_;
  component_links_.assign(1, from);
  component_flows_.clear();
  link(from).component = components_;
  for (std::size_t next = 0; next < component_links_.size(); ++next)
    for (const int flow : link(component_links_[next]).flows) {
      Sharing& sharing = at(flow);
      if (sharing.component == components_) continue;
      sharing.component = components_;
      component_flows_.push_back(flow);
      for (const Hop& hop : data_of(flow)) {
        if (link(hop.link).component == components_) continue;
        link(hop.link).component = components_;
        component_links_.push_back(hop.link);
      }
    }
  std::sort(component_flows_.begin(), component_flows_.end());
}

const std::vector<int>& FairShares::solve_all(Reference reference) {
  ++solves_;
  changed_.clear();
  for (const LinkDirection direction : dirty_) link(direction).is_dirty = false;
  dirty_.clear();
  const std::vector<double> capacity = each_of(links_, &Link::capacity);
  std::vector<int> sending;
  std::vector<Flow> flows;
  for (int flow = 0; flow < static_cast<int>(flows_.size()); ++flow)
    if (at(flow).is_sending) {
      sending.push_back(flow);
      const auto& [data, acks] = paths_[as_index(flow)];
      flows.push_back({data, acks, at(flow).weight, at(flow).cap});
    }
  const std::vector<double> rates = reference(capacity, flows, ack_share_);
  for (std::size_t i = 0; i < sending.size(); ++i) set_rate(sending[i], rates[i]);
  for (const LinkDirection direction : dirty_) link(direction).is_dirty = false;
  dirty_.clear();
  return changed_;
}

void FairShares::list_state(std::vector<double>& state) const {
  for (std::size_t i = 0; i < flows_.size(); ++i)
    state.insert(state.end(), {rates_[i], flows_[i].cap, static_cast<double>(flows_[i].is_sending)});
  for (const Link& link : links_) {
    state.insert(state.end(), {link.ack_load, static_cast<double>(link.ack_flows)});
    state.insert(state.end(), link.flows.begin(), link.flows.end());
  }
}

}  // namespace longhaul
