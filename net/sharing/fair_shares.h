// Max-min fair sharing (max_min.h) kept up to date while flows start and stop: only what a change touches is
// solved again.
//
// Data couples the flows of one connected component of links; a component is solved as a whole, a flow that
// is alone on its links in a few operations. Acknowledgements couple components, weakly: a change is handed
// on along the way back until it moves a rate by less than 1e-10, a few steps when acknowledgements are 3 %.
// A flow that starts again is assumed to get what it had, so that a ring's steady state is right at once.
//
// In an all-to-all every change touches every flow. Where all flows weigh the same and no cap holds one back,
// which is nearly always so there, a component is filled link by link (EqualFilling): same operations on the
// same numbers, but nothing is looked up, sorted or stored a flow before its rate is known.
//
// Rates agree with progressive filling of all sending flows at once (tests/support/max_min_rates.h) to about
// 1e-9; solve_all() takes them from such a slow reference.
#pragma once

#include <boost/container/small_vector.hpp>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/index.h"
#include "net/sharing/max_min.h"

namespace longhaul {

// A list of numbers that is mostly one or two long: those lie in the list itself, more on the heap. The flows
// of a link are such lists; a vector of its own for each costs a cache miss at every look.
using ShortList = boost::container::small_vector<int, 2>;

class FairShares {
 public:
  // `capacity` by direction; rates have its unit.
  FairShares(const std::vector<double>& capacity, double ack_share);

  // A flow that does not send yet; its paths must outlive this. Flows are numbered from 0.
  int add(const Flow& flow);
  void start(int flow);
  void stop(int flow);
  // What a link has from now on (0: nothing passes), and what a flow may have.
  void set_capacity(LinkDirection direction, double capacity);
  void set_cap(int flow, double cap);

  // Brings the rates up to date after such changes: the sending flows whose rate is another now, each once.
  const std::vector<int>& solve();
  using Reference = std::vector<double> (*)(const std::vector<double>& capacity,
                                            const std::vector<Flow>& flows, double ack_share);
  const std::vector<int>& solve_all(Reference reference);
  double rate(int flow) const { return rates_[as_index(flow)]; }

  // All that says how it goes on, between two changes.
  void list_state(std::vector<double>& state) const;

 private:
  static constexpr int kMostVisits = 20;

  // What is looked at all the time lies together: a flow's links one after another in hops_, not in its
  // paths.
  struct Sharing {
    double cap = kUnlimited, weight = 1;
    std::size_t component = 0;  // the latest one that it was collected into
    bool is_sending = false;
  };
  struct Place {  // of a flow's links in hops_ and ack_hops_
    std::uint32_t first_hop = 0, first_ack = 0;
    std::uint16_t hops = 0, ack_hops = 0;
  };
  struct Hop {
    LinkDirection link;
    std::uint32_t place;  // of a sending flow in the list of that link
  };
  template <typename T>
  struct Range {
    T *first, *last;
    T* begin() const { return first; }
    T* end() const { return last; }
  };
  struct Link {
    double capacity = 0;
    double ack_load = 0;
    ShortList flows;  // that send over it
    int ack_flows = 0;
    bool is_dirty = false;
    int visits = 0;
    std::uint64_t visited = 0;  // the solve() that `visits` belongs to
    std::size_t component = 0;  // the latest one that it was collected into
    std::uint64_t known = 0;    // one more than the number of its component
  };
  // Places in known_links_ and known_flows_, whose flows are in order.
  struct Known {
    std::size_t first_link = 0, last_link = 0, first_flow = 0, last_flow = 0;
    bool has_caps = false;  // that hold flows back
  };
  // What CappedFilling asks of the component at hand.
  struct Component {
    FairShares& shares;
    double cap(int flow) const { return shares.at(flow).cap; }
    double weight(int flow) const { return shares.at(flow).weight; }
    Range<Hop> hops(int flow) const { return shares.data_of(flow); }
    double capacity(LinkDirection direction) const { return for_data(shares.link(direction)); }
    const ShortList& flows(LinkDirection direction) const { return shares.link(direction).flows; }
  };

  Sharing& at(int flow) { return flows_[as_index(flow)]; }
  Link& link(LinkDirection direction) { return links_[as_index(direction)]; }

  Range<Hop> data_of(int flow) {
    const Place& place = places_[as_index(flow)];
    Hop* first = hops_.data() + place.first_hop;
    return {first, first + place.hops};
  }
  Range<const LinkDirection> acks_of(int flow) const {
    const Place& place = places_[as_index(flow)];
    const LinkDirection* first = ack_hops_.data() + place.first_ack;
    return {first, first + place.ack_hops};
  }

  // What acknowledgements leave to data. A tenth is always left: data that starves would stop the
  // acknowledgements, too.
  static double for_data(const Link& link);
  bool is_alone(int flow);
  void make_dirty(LinkDirection direction);
  void load_way_back(int flow, double change, int flows);
  void set_rate(int flow, double rate);
  void solve_alone(int flow);
  void solve_component(LinkDirection from);
  bool fill_equally(LinkDirection from);
  std::size_t known_component(LinkDirection from);
  void sort_known_flows(const Known& component);
  void forget_components();
  void collect(LinkDirection from);

  std::vector<Link> links_;
  double ack_share_;
  // By flow.
  std::vector<Sharing> flows_;
  std::vector<Place> places_;
  std::vector<double> rates_;            // the latest, also of a flow that does not send
  std::vector<std::uint64_t> reported_;  // the latest solve() that reports it
  std::vector<std::pair<const std::vector<LinkDirection>*, const std::vector<LinkDirection>*>>
      paths_;  // data and acknowledgements, as added: for solve_all()
  std::vector<Hop> hops_;
  std::vector<LinkDirection> ack_hops_;
  std::vector<LinkDirection> dirty_;  // in the order of the changes
  std::vector<int> changed_;
  std::uint64_t solves_ = 0;
  std::size_t components_ = 0;
  double equal_weight_ = 0;         // of all flows; 0: they differ, or it is no whole number
  double lowest_cap_ = kUnlimited;  // that any flow ever had, over its weight
  // Flows that send, as bits: in the order of their numbers without sorting.
  std::vector<std::uint64_t> sending_bits_;
  std::size_t sending_ = 0;
  // The components looked at since a flow started or stopped: acknowledgements ask for them several times.
  std::vector<Known> known_;
  std::vector<LinkDirection> known_links_;
  std::vector<int> known_flows_;
  std::uint64_t forgotten_ = 0;  // number of the first of them, among all that ever were
  EqualFilling filling_;
  // Of the component at hand.
  std::vector<LinkDirection> component_links_;
  std::vector<int> component_flows_;
  CappedFilling capped_;
};

}  // namespace longhaul
