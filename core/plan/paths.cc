#include "core/plan/paths.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <numeric>

#include "core/base/index.h"
#include "core/base/random.h"

namespace longhaul {
namespace {

// What is met, in its order, at the places of those parts in theirs.
std::vector<int> at_places(const PipelinePlan& plan, const std::vector<int>& met) {
  std::vector<int> places = met, order(as_index(plan.part_count()), -1);
  std::sort(places.begin(), places.end());
  for (std::size_t i = 0; i < met.size(); ++i) order[as_index(places[i])] = met[i];
  return order;
}

// Skipped parts and the pair that is swapped: all alike probable.
std::vector<int> drawn_order(const PipelinePlan& plan, std::uint64_t seed, int step, int microbatch,
                             int home) {
  RandomStream stream(seed, Purpose::kSkips, static_cast<std::uint32_t>(home),
                      static_cast<std::uint32_t>(step), static_cast<std::uint16_t>(microbatch));
  const int middle = plan.part_count() - 2;
  const std::vector<int> drawn = random_permutation(middle, stream);
  std::vector<int> met(drawn.begin() + plan.skip, drawn.end());
  for (int& part : met) ++part;
  met.push_back(0);
  met.push_back(plan.part_count() - 1);
  std::sort(met.begin(), met.end());
  if (!plan.reorders) return at_places(plan, met);
  std::vector<std::size_t> first_of_pairs;
  for (std::size_t i = 1; i + 2 < met.size(); ++i)
    if (met[i] + 1 == met[i + 1]) first_of_pairs.push_back(i);
  if (!first_of_pairs.empty()) {
    const std::size_t i = first_of_pairs[stream.below(first_of_pairs.size())];
    std::swap(met[i], met[i + 1]);
  }
  return at_places(plan, met);
}

std::vector<int> order_of(const PipelinePlan& plan, std::uint64_t seed, int step, int microbatch, int home) {
  if (!plan.orders.empty()) return plan.orders[as_index(microbatch)];
  if (plan.is_partial()) return drawn_order(plan, seed, step, microbatch, home);
  std::vector<int> order(as_index(plan.part_count()));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

constexpr double kBackward = 2;  // forward passes

// When a worker is at work for micro-batches that were planned before: times that do not touch, ascending.
class Planned {
 public:
  // The first time at or behind `from_s` at which it is free for so long.
  double earliest_s(double from_s, double seconds) const {
    for (auto busy = first_behind(from_s); busy != busy_.end(); ++busy) {
      if (from_s + seconds <= busy->begin_s) break;
      from_s = std::max(from_s, busy->end_s);
    }
    return from_s;
  }
  void take(double begin_s, double seconds) {
    if (seconds <= 0) return;
    auto next = busy_.insert(first_behind(begin_s), Busy{begin_s, begin_s + seconds});
    if (next != busy_.begin() && std::prev(next)->end_s >= next->begin_s) {
      std::prev(next)->end_s = next->end_s;
      next = std::prev(busy_.erase(next));
    }
    if (std::next(next) != busy_.end() && next->end_s >= std::next(next)->begin_s) {
      next->end_s = std::next(next)->end_s;
      busy_.erase(std::next(next));
    }
  }

 private:
  struct Busy {
    double begin_s, end_s;
  };
  std::vector<Busy>::const_iterator first_behind(double time_s) const {
    return std::upper_bound(busy_.begin(), busy_.end(), time_s,
                            [](double time, const Busy& busy) { return time < busy.end_s; });
  }

  std::vector<Busy> busy_;
};

// One replica's micro-batches, one after another.
class Planner {
 public:
  Planner(const PipelinePlan& plan, const std::vector<double>& forward)
      : plan_(plan),
        forward_(forward),
        middle_(plan.part_count() - 2),
        workers_(plan.parts.size()),
        taken_s_(plan.parts.size()) {
    // As many micro-batches for each part, and the rest of them dealt out evenly.
    const int visits = plan.microbatches * (middle_ - plan.skip);
    for (int i = 0; i < middle_; ++i) left_.push_back(visits * (i + 1) / middle_ - visits * i / middle_);
  }

  std::vector<int> next(int microbatch) {
    std::vector<double> ends_s = ends_s_;
    std::sort(ends_s.begin(), ends_s.end());
    // A replica has as many micro-batches under way as there are stages.
    const int before = microbatch - plan_.stages;
    const std::vector<int> met =
        fastest(before < 0 ? 0 : ends_s[as_index(before)], plan_.microbatches - microbatch);
    take(met, before < 0 ? 0 : ends_s[as_index(before)]);
    return at_places(plan_, met);
  }

 private:
  // How a micro-batch may have come so far.
  struct Way {
    double time_s = std::numeric_limits<double>::infinity(), load_s = 0;
    int from = -1;  // which of the states before
    bool is_met = false, is_swap = false;

    bool is_before(const Way& other) const {
      return time_s < other.time_s || (time_s == other.time_s && load_s < other.load_s);
    }
  };

  double forward_s(int part) const { return forward_[as_index(part)]; }
  double met_s(int part, double from_s) const {
    return workers_[as_index(part)].earliest_s(from_s, forward_s(part)) + forward_s(part);
  }

  // The parts on the best way; state (i, skipped, swapped): the first i parts between the ends are decided.
  // `agents`: micro-batches that are not planned yet, this one counted.
  std::vector<int> fastest(double from_s, int agents) const {
    const int skips = plan_.skip + 1, states = 2 * skips;
    std::vector<std::vector<Way>> ways(as_index(middle_) + 1, std::vector<Way>(as_index(states)));
    ways[0][0].time_s = met_s(0, from_s);
    const auto offer = [](Way& best, const Way& other) {
      if (other.is_before(best)) best = other;
    };
    const auto may_meet = [&](int i) { return left_[as_index(i)] > 0; };
    for (int i = 0; i < middle_; ++i)
      for (int state = 0; state < states; ++state) {
        const Way& way = ways[as_index(i)][as_index(state)];
        if (way.time_s == std::numeric_limits<double>::infinity()) continue;
        const int part = i + 1;
        if (may_meet(i))
          offer(ways[as_index(i) + 1][as_index(state)],
                {met_s(part, way.time_s), way.load_s + taken_s_[as_index(part)], state, true, false});
        // All that are left must meet a part that as many are left for.
        if (left_[as_index(i)] < agents && state / 2 < plan_.skip)
          offer(ways[as_index(i) + 1][as_index(state + 2)], {way.time_s, way.load_s, state, false, false});
        if (plan_.reorders && state % 2 == 0 && i + 1 < middle_ && may_meet(i) && may_meet(i + 1))
          offer(ways[as_index(i) + 2][as_index(state + 1)],
                {met_s(part, met_s(part + 1, way.time_s)),
                 way.load_s + taken_s_[as_index(part)] + taken_s_[as_index(part) + 1], state, true, true});
      }
    int state = 2 * plan_.skip;
    const std::vector<Way>& last = ways.back();
    if (last[as_index(state) + 1].is_before(last[as_index(state)])) ++state;
    std::vector<int> met = {plan_.part_count() - 1};
    for (int i = middle_; i > 0;) {
      const Way& way = ways[as_index(i)][as_index(state)];
      if (way.is_swap) {
        met.push_back(i - 1);
        met.push_back(i);
        i -= 2;
      } else {
        if (way.is_met) met.push_back(i);
        --i;
      }
      state = way.from;
    }
    met.push_back(0);
    std::reverse(met.begin(), met.end());
    return met;
  }

  // There, and the backward passes back.
  void take(const std::vector<int>& met, double from_s) {
    for (const int part : met) {
      const double end_s = met_s(part, from_s);
      book(part, end_s - forward_s(part), forward_s(part));
      from_s = end_s;
    }
    for (auto part = met.rbegin(); part != met.rend(); ++part) {
      const double seconds = kBackward * forward_s(*part);
      const double begin_s = workers_[as_index(*part)].earliest_s(from_s, seconds);
      book(*part, begin_s, seconds);
      from_s = begin_s + seconds;
      if (*part > 0 && *part <= middle_) --left_[as_index(*part) - 1];
    }
    ends_s_.push_back(from_s);
  }
  void book(int part, double begin_s, double seconds) {
    workers_[as_index(part)].take(begin_s, seconds);
    taken_s_[as_index(part)] += seconds;
  }

  const PipelinePlan& plan_;
  const std::vector<double>& forward_;
  int middle_;
  std::vector<Planned> workers_;
  std::vector<double> taken_s_;  // by part
  std::vector<int> left_;        // micro-batches that will meet each part between the ends
  std::vector<double> ends_s_;   // of micro-batches, when their last backward pass is over
};

}  // namespace

Route straight_path(const PipelinePlan& plan, std::uint64_t seed, int step, int microbatch, int home) {
  Route path;
  for (const int part : order_of(plan, seed, step, microbatch, home))
    path.push_back({part < 0 ? -1 : home, part});
  return path;
}

std::vector<Route> paths_of(const PipelinePlan& plan, std::uint64_t seed, int replicas, int step,
                            int microbatch) {
  std::vector<Route> paths;
  for (int home = 0; home < replicas; ++home)
    paths.push_back(straight_path(plan, seed, step, microbatch, home));
  if (plan.routing != MicrobatchRouting::kRandom) return paths;
  std::vector<int> at(as_index(replicas));  // by home, at a part
  std::iota(at.begin(), at.end(), 0);
  std::vector<std::vector<int>> replica_of;  // [part][home]
  for (int part = 0; part < plan.part_count(); ++part) {
    replica_of.push_back(at);
    if (part + 1 == plan.part_count()) break;
    RandomStream stream(seed, Purpose::kRoutes, static_cast<std::uint32_t>(microbatch),
                        static_cast<std::uint32_t>(step), static_cast<std::uint16_t>(part));
    const std::vector<int> next = random_permutation(replicas, stream);
    for (int& replica : at) replica = next[as_index(replica)];
  }
  for (std::size_t home = 0; home < paths.size(); ++home)
    for (Stop& stop : paths[home])
      if (stop.is_there()) stop.replica = replica_of[as_index(stop.part)][home];
  return paths;
}

int next_place(const Route& path, int place, bool is_forward) {
  const int count = static_cast<int>(path.size());
  do place += is_forward ? 1 : -1;
  while (place >= 0 && place < count && !path[as_index(place)].is_there());
  return place < count ? place : -1;
}

std::set<std::pair<int, int>> hops_of(const PipelinePlan& plan) {
  std::set<std::pair<int, int>> hops;
  const int parts = plan.part_count();
  const bool is_drawn = plan.is_partial() && plan.orders.empty();
  for (int from = 0; from + 1 < parts; ++from)
    for (int to = 1; to < parts; ++to) {
      const int ahead = to - from, most = plan.skip + 1 + (plan.reorders ? 1 : 0);
      const bool is_back = plan.reorders && from > 0 && to + 1 < parts && ahead == -1;
      if (is_drawn ? (ahead > 0 && ahead <= most) || is_back : !plan.is_partial() && ahead == 1)
        hops.insert({from, to});
    }
  for (const std::vector<int>& order : plan.orders) {
    int before = -1;
    for (const int part : order) {
      if (part < 0) continue;
      if (before >= 0) hops.insert({before, part});
      before = part;
    }
  }
  return hops;
}

std::vector<std::vector<int>> scheduled_orders(const PipelinePlan& plan, const std::vector<double>& forward) {
  Planner planner(plan, forward);
  std::vector<std::vector<int>> orders;
  for (int microbatch = 0; microbatch < plan.microbatches; ++microbatch)
    orders.push_back(planner.next(microbatch));
  return orders;
}

}  // namespace longhaul
