// Max-min fair sharing (max_min.h) kept up to date while flows start and stop: only what a change touches is
// solved again.
//
// Data couples the flows of one connected component of links; a component is solved as a whole, a flow that
// is alone on its links in a few operations. Acknowledgements couple components, weakly: a change is handed
// on along the way back until it moves a rate by less than 1e-10, a few steps when acknowledgements are 3 %.
// A flow that starts again is assumed to get what it had, so that a ring's steady state is right at once.
//
// Rates agree with max_min_rates() of the sending flows to about 1e-9; solve_all() is that slow reference.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "net/max_min.h"
#include "net/short_list.h"

namespace longhaul {

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

  // Brings the rates up to date after such changes: the sending flows whose rate is another now, each
  // once.
  const std::vector<int>& solve();
  const std::vector<int>& solve_all();
  double rate(int flow) const { return at(flow).rate; }

  // Whether no link carries more than it has and no flow more than its cap, to one part in 1e-6 (data that
  // starves keeps a tenth of its link beside any acknowledgements). For assertions: it looks at everything.
  bool is_conserving() const;

 private:
  static constexpr int kMostVisits = 20;

  // What is looked at all the time lies together: a flow's links one after another in hops_, not in its
  // paths.
  struct Sharing {
    double rate = 0;  // the latest, also of a flow that does not send
    double cap = kUnlimited, weight = 1;
    std::size_t component = 0;  // the latest one that it was collected into
    std::size_t reported = 0;   // the latest solve() that reports it
    std::uint32_t first_hop = 0;
    std::uint16_t hops = 0, ack_hops = 0;  // hops_: the data's, then the acknowledgements'
    bool is_sending = false;
  };
  struct Hop {
    LinkDirection link;
    std::uint32_t place;  // of a sending flow in the list of that link; only for data
  };
  struct Hops {
    Hop *first, *last;
    Hop* begin() const { return first; }
    Hop* end() const { return last; }
  };
  struct Link {
    double capacity = 0;
    double ack_load = 0;
    ShortList flows;  // that send over it
    int ack_flows = 0;
    bool is_dirty = false;
    int visits = 0;
    std::size_t visited = 0;      // the solve() that `visits` belongs to
    std::size_t component = 0;    // the latest one that it was collected into
    double left = 0, weight = 0;  // while filling
  };

  Sharing& at(int flow) { return flows_[static_cast<std::size_t>(flow)]; }
  const Sharing& at(int flow) const { return flows_[static_cast<std::size_t>(flow)]; }
  Link& link(LinkDirection direction) { return links_[static_cast<std::size_t>(direction)]; }
  const Link& link(LinkDirection direction) const { return links_[static_cast<std::size_t>(direction)]; }

  Hops data_of(const Sharing& sharing) {
    Hop* first = hops_.data() + sharing.first_hop;
    return {first, first + sharing.hops};
  }
  Hops acks_of(const Sharing& sharing) {
    Hop* first = hops_.data() + sharing.first_hop + sharing.hops;
    return {first, first + sharing.ack_hops};
  }

  // What acknowledgements leave to data: at least a tenth (max_min.cc).
  static double for_data(const Link& link);
  bool is_alone(const Sharing& sharing);
  void make_dirty(LinkDirection direction);
  void load_way_back(const Sharing& sharing, double change, int flows);
  void set_rate(int flow, double rate);
  void solve_alone(int flow);
  void solve_component(LinkDirection from);
  void collect(LinkDirection from);
  void fill();
  void freeze(int flow, double level);
  double lowest_level() const;

  std::vector<Link> links_;
  double ack_share_;
  std::vector<Sharing> flows_;
  std::vector<Flow> given_;  // as added, for solve_all()
  std::vector<Hop> hops_;
  std::vector<LinkDirection> dirty_;  // in the order of the changes
  std::vector<int> changed_;
  std::size_t solves_ = 0, components_ = 0;
  // Of the component at hand.
  std::vector<LinkDirection> component_links_;
  std::vector<int> component_flows_;
  std::vector<double> new_rates_;  // by flow; negative: not settled
  std::vector<std::pair<double, int>> caps_;
};

}  // namespace longhaul
