#include "net/fair_shares.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace longhaul {
namespace {

constexpr double kSameLevel = 1 + 1e-12;
constexpr double kSameRate = 1e-10;

}  // namespace

FairShares::FairShares(const std::vector<double>& capacity, double ack_share)
    : links_(capacity.size()), ack_share_(ack_share) {
  for (std::size_t i = 0; i < capacity.size(); ++i) links_[i].capacity = capacity[i];
}

int FairShares::add(const Flow& flow) {
  Sharing sharing;
  sharing.cap = flow.cap;
  sharing.weight = flow.weight;
  sharing.first_hop = static_cast<std::uint32_t>(hops_.size());
  sharing.hops = static_cast<std::uint16_t>(flow.data->size());
  for (const LinkDirection direction : *flow.data) hops_.push_back({direction, 0});
  if (flow.acks != nullptr && ack_share_ > 0) {
    sharing.ack_hops = static_cast<std::uint16_t>(flow.acks->size());
    for (const LinkDirection direction : *flow.acks) hops_.push_back({direction, 0});
  }
  flows_.push_back(sharing);
  given_.push_back(flow);
  new_rates_.push_back(-1);
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

// Sums are begun again when nobody is left, so that roundings do not pile up.
void FairShares::load_way_back(const Sharing& sharing, double change, int flows) {
  for (const Hop& hop : acks_of(sharing)) {
    Link& back = link(hop.link);
    back.ack_load += ack_share_ * change;
    if ((back.ack_flows += flows) == 0) back.ack_load = 0;
    make_dirty(hop.link);
  }
}

void FairShares::start(int flow) {
  Sharing& sharing = at(flow);
  if (sharing.is_sending) return;
  sharing.is_sending = true;
  for (Hop& hop : data_of(sharing)) {
    ShortList& list = link(hop.link).flows;
    hop.place = static_cast<std::uint32_t>(list.size());
    list.push_back(flow);
    make_dirty(hop.link);
  }
  load_way_back(sharing, sharing.rate, 1);
}

void FairShares::stop(int flow) {
  Sharing& sharing = at(flow);
  if (!sharing.is_sending) return;
  sharing.is_sending = false;
  for (const Hop& hop : data_of(sharing)) {
    ShortList& list = link(hop.link).flows;
    const int last = list.back();
    if (last != flow) {
      list[hop.place] = last;
      for (Hop& moved : data_of(at(last)))
        if (moved.link == hop.link) moved.place = hop.place;
    }
    list.pop_back();
    make_dirty(hop.link);
  }
  load_way_back(sharing, -sharing.rate, -1);
}

void FairShares::set_capacity(LinkDirection direction, double capacity) {
  link(direction).capacity = capacity;
  make_dirty(direction);
}

void FairShares::set_cap(int flow, double cap) {
  Sharing& sharing = at(flow);
  if (sharing.cap == cap) return;
  sharing.cap = given_[static_cast<std::size_t>(flow)].cap = cap;
  for (const Hop& hop : data_of(sharing)) make_dirty(hop.link);
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
    if (touched.flows.size() == 1 && is_alone(at(touched.flows.front())))
      solve_alone(touched.flows.front());
    else
      solve_component(direction);
  }
  dirty_.clear();
  return changed_;
}

bool FairShares::is_alone(const Sharing& sharing) {
  const Hops data = data_of(sharing);
  return std::all_of(data.begin(), data.end(),
                     [&](const Hop& hop) { return link(hop.link).flows.size() == 1; });
}

void FairShares::set_rate(int flow, double rate) {
  Sharing& sharing = at(flow);
  if (rate == sharing.rate || std::abs(rate - sharing.rate) <= kSameRate * sharing.rate) return;
  const double change = rate - sharing.rate;
  sharing.rate = rate;
  load_way_back(sharing, change, 0);
  if (sharing.reported != solves_) changed_.push_back(flow);
  sharing.reported = solves_;
}

void FairShares::solve_alone(int flow) {
  const Sharing& sharing = at(flow);
  double rate = sharing.cap;
  for (const Hop& hop : data_of(sharing)) {
    Link& one = link(hop.link);
    one.is_dirty = false;
    rate = std::min(rate, for_data(one));
  }
  set_rate(flow, rate);
}

void FairShares::solve_component(LinkDirection from) {
  collect(from);
  fill();
  for (const LinkDirection direction : component_links_) link(direction).is_dirty = false;
  for (const int flow : component_flows_) set_rate(flow, new_rates_[static_cast<std::size_t>(flow)]);
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
      for (const Hop& hop : data_of(sharing)) {
        if (link(hop.link).component == components_) continue;
        link(hop.link).component = components_;
        component_links_.push_back(hop.link);
      }
    }
  std::sort(component_flows_.begin(), component_flows_.end());
}

double FairShares::lowest_level() const {
  double lowest = caps_.empty() ? kUnlimited : caps_.front().first;
  for (const LinkDirection direction : component_links_) {
    const Link& one = link(direction);
    if (one.weight > 0) lowest = std::min(lowest, std::max(0., one.left) / one.weight);
  }
  return lowest;
}

void FairShares::freeze(int flow, double level) {
  const Sharing& sharing = at(flow);
  double& rate = new_rates_[static_cast<std::size_t>(flow)];
  rate = std::min(sharing.cap, sharing.weight * level);
  for (const Hop& hop : data_of(sharing)) {
    Link& one = link(hop.link);
    one.left -= rate;
    one.weight -= sharing.weight;
    if (one.weight < 1e-9) one.weight = 0;
  }
}

// Each flow is settled once, when its cap or one of its links is reached: by a heap of caps and by the lists
// of the links.
void FairShares::fill() {
  for (const LinkDirection direction : component_links_) {
    link(direction).left = for_data(link(direction));
    link(direction).weight = 0;
  }
  caps_.clear();
  for (const int flow : component_flows_) {
    const Sharing& one = at(flow);
    new_rates_[static_cast<std::size_t>(flow)] = -1;
    caps_.emplace_back(one.cap / one.weight, flow);
    for (const Hop& hop : data_of(one)) link(hop.link).weight += one.weight;
  }
  std::make_heap(caps_.begin(), caps_.end(), std::greater<>());
  const auto is_settled = [&](int flow) { return new_rates_[static_cast<std::size_t>(flow)] >= 0; };
  std::vector<LinkDirection> full;
  for (std::size_t settled = 0; settled < component_flows_.size();) {
    while (!caps_.empty() && is_settled(caps_.front().second)) {
      std::pop_heap(caps_.begin(), caps_.end(), std::greater<>());
      caps_.pop_back();
    }
    const double level = lowest_level(), reached = level * kSameLevel;
    full.clear();
    for (const LinkDirection direction : component_links_) {
      const Link& one = link(direction);
      if (one.weight > 0 && std::max(0., one.left) / one.weight <= reached) full.push_back(direction);
    }
    const auto settle = [&](int flow) {
      if (is_settled(flow)) return;
      freeze(flow, level);
      ++settled;
    };
    for (const LinkDirection direction : full)
      for (const int flow : link(direction).flows) settle(flow);
    while (!caps_.empty() && caps_.front().first <= reached) {
      settle(caps_.front().second);
      std::pop_heap(caps_.begin(), caps_.end(), std::greater<>());
      caps_.pop_back();
    }
  }
}

const std::vector<int>& FairShares::solve_all() {
  ++solves_;
  changed_.clear();
  for (const LinkDirection direction : dirty_) link(direction).is_dirty = false;
  dirty_.clear();
  std::vector<double> capacity;
  for (const Link& one : links_) capacity.push_back(one.capacity);
  std::vector<int> sending;
  std::vector<Flow> flows;
  for (int flow = 0; flow < static_cast<int>(flows_.size()); ++flow)
    if (at(flow).is_sending) {
      sending.push_back(flow);
      flows.push_back(given_[static_cast<std::size_t>(flow)]);
    }
  const std::vector<double> rates = max_min_rates(capacity, flows, ack_share_);
  for (std::size_t i = 0; i < sending.size(); ++i) set_rate(sending[i], rates[i]);
  for (const LinkDirection direction : dirty_) link(direction).is_dirty = false;
  dirty_.clear();
  return changed_;
}

bool FairShares::is_conserving() const {
  constexpr double kRoom = 1 + 1e-6;
  for (const Link& one : links_) {
    double carried = 0;
    for (const int flow : one.flows) carried += at(flow).rate;
    if (carried > for_data(one) * kRoom) return false;
  }
  return std::all_of(flows_.begin(), flows_.end(), [&](const Sharing& sharing) {
    return !sharing.is_sending || sharing.rate <= sharing.cap * kRoom;
  });
}

}  // namespace longhaul
