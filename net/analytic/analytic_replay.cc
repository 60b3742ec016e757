#include "net/analytic/analytic_replay.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/child_main.h"
#include "core/units.h"
#include "net/analytic/group_walk.h"
#include "net/analytic/sliced_walk.h"
#include "net/collectives/registry.h"
#include "net/collectives/slices.h"
#include "net/estimate.h"
#include "net/replay/outputs.h"
#include "net/replay/plan_index.h"
#include "net/replay/step_times.h"

namespace longhaul {
namespace {

double seconds(std::int64_t ns) {
  return static_cast<double>(ns) / 1e9;
}

class AnalyticReplay {
 public:
  AnalyticReplay(const Case& one, const Trace& trace, const std::string& folder, ProgressReporter& reporter)
      : trace_(trace),
        replicas_(static_cast<std::size_t>(trace.context.replicas)),
        times_(one, trace),
        plans_(trace),
        topology_(build_topology(one)),
        costs_(one.network, topology_, one.seed),
        busy_(static_cast<std::size_t>(2 * topology_.link_count())),
        outputs_(folder, trace.plan.rules, named_parts(one.network), trace.context.replicas),
        barrier_(one.network.barrier),
        slice_(one.network.slice),
        eager_bytes_(one.network.eager),
        reporter_(reporter) {}

  Json run() {
    for (int step = 1; step <= trace_.context.steps; ++step) {
      compute(step);
      if (is_recorded(trace_, step) || plans_.has_exchange(step)) end(step);
      beat(step);
    }
    return write_results();
  }

 private:
  // A replica's part in one exchange.
  struct Share {
    int step = 0, rule = 0, await_step = 0;
    std::int64_t ready_ns = 0, start_ns = 0, done_ns = 0, bytes = 0;
    SyncParts parts;
  };
  struct Replica {
    double computing_s = 0, last_step_s = 0;  // since its clock was last moved
    std::int64_t began_ns = 0;                // computing
    std::int64_t clock_ns = 0, computed_ns = 0;
    std::int64_t ready_ns = 0;  // for the next blocking exchange
    std::vector<Share> blocking, overlapped;
    ReplicaTotals totals;
  };
  // An exchange of a group that is over, until all that were over before it are known.
  struct Finished {
    std::int64_t done_ns = 0, start_ns = 0;
    int step = 0, rule = 0;
    std::vector<int> group;  // empty: everyone
  };

  Replica& at(int replica) { return replicas_[static_cast<std::size_t>(replica)]; }

  // Steps at which nothing but compute happens are rounded together, as in the replay.
  void compute(int step) {
    for (int replica = 0; replica < trace_.context.replicas; ++replica)
      at(replica).computing_s += at(replica).last_step_s = times_.seconds(replica, step);
  }

  void end(int step) {
    for (Replica& replica : replicas_) {
      replica.totals.compute_s += replica.computing_s;
      replica.began_ns = replica.clock_ns;
      replica.clock_ns += std::llround(replica.computing_s * 1e9);
      replica.computed_ns = replica.ready_ns = replica.clock_ns;
    }
    const std::vector<Exchange> exchanges = exchanges_at(step);
    if (is_recorded(trace_, step)) outputs_.open_step(step, replicas_.size());
    open_rows(exchanges, step);
    walk(exchanges, /*overlapped=*/false);
    for (int replica = 0; replica < trace_.context.replicas; ++replica) go_on(replica, step);
    walk(exchanges, /*overlapped=*/true);
    for (Replica& replica : replicas_) replica.computing_s = 0;
    settle();
  }

  std::vector<Exchange> exchanges_at(int step) const {
    return plans_.posts(step) ? trace_.exchanges_at(step) : std::vector<Exchange>();
  }

  void open_rows(const std::vector<Exchange>& exchanges, int step) {
    std::map<int, std::size_t> rows;
    for (const Exchange& exchange : exchanges)
      for (const auto& group : groups_of(exchange, trace_.context.replicas))
        if (group.size() > 1) rows[rule_index(trace_, exchange)] += group.size();
    for (const auto& [rule, count] : rows) outputs_.open_exchange(step, rule, count);
  }

  void walk(const std::vector<Exchange>& exchanges, bool overlapped) {
    for (const Exchange& exchange : exchanges)
      if ((exchange.rule->overlap_steps > 0) == overlapped)
        for (const auto& group : groups_of(exchange, trace_.context.replicas))
          if (group.size() > 1) walk_group(exchange, group);
  }

  // Bucket by bucket: a member posts one when it is released and the one before is done.
  void walk_group(const Exchange& exchange, const std::vector<int>& group) {
    const ExchangeRule& rule = *exchange.rule;
    std::vector<Share> shares;
    std::int64_t start_ns = 0;
    for (const int replica : group) {
      shares.push_back({exchange.post_step, rule_index(trace_, exchange), exchange.await_step});
      shares.back().ready_ns = rule.overlap_steps > 0 ? at(replica).clock_ns : at(replica).ready_ns;
      start_ns = std::max(start_ns, shares.back().ready_ns);
    }
    for (Share& share : shares) share.start_ns = start_ns;
    for (int bucket = 0; bucket < rule.buckets; ++bucket) walk_bucket(exchange, bucket, group, shares);
    std::int64_t done_ns = 0;
    for (std::size_t i = 0; i < group.size(); ++i) {
      Replica& replica = at(group[i]);
      (rule.overlap_steps > 0 ? replica.overlapped : replica.blocking).push_back(shares[i]);
      if (rule.overlap_steps == 0) replica.ready_ns = shares[i].done_ns;
      done_ns = std::max(done_ns, shares[i].done_ns);
    }
    const bool is_everyone = rule.grouping == Grouping::kEveryone;
    finished_.push_back({done_ns, start_ns, exchange.post_step, rule_index(trace_, exchange),
                         is_everyone ? std::vector<int>() : group});
  }

  void walk_bucket(const Exchange& exchange, int bucket, const std::vector<int>& group,
                   std::vector<Share>& shares) {
    const ExchangeRule& rule = *exchange.rule;
    std::vector<GroupWalk::Moment> posted;
    for (std::size_t i = 0; i < group.size(); ++i) {
      const std::int64_t released = released_ns(at(group[i]), rule, bucket, shares[i]);
      posted.push_back(released < shares[i].done_ns ? GroupWalk::Moment{shares[i].done_ns, shares[i].parts}
                                                    : GroupWalk::Moment{released, {}});
    }
    const auto is_earlier = [](const auto& a, const auto& b) { return a.time_ns < b.time_ns; };
    if (barrier_) posted.assign(posted.size(), *std::max_element(posted.begin(), posted.end(), is_earlier));
    const GroupExchange shape =
        group_exchange(group, bucket_bytes(exchange, bucket), rule.tensors.size(), topology_.site_of());
    const GroupWalk::Name name{exchange.post_step, rule_index(trace_, exchange), bucket};
    const std::vector<GroupWalk::Times> times =
        walk_shape(find_collective(rule.collective), shape, group, name, posted, shares.front().start_ns);
    for (std::size_t i = 0; i < group.size(); ++i) {
      shares[i].done_ns = times[i].done_ns;
      shares[i].parts = times[i].parts;
      shares[i].bytes += times[i].bytes_sent;
    }
  }

  std::vector<GroupWalk::Times> walk_shape(const Collective& collective, const GroupExchange& shape,
                                           const std::vector<int>& group, const GroupWalk::Name& name,
                                           const std::vector<GroupWalk::Moment>& posted,
                                           std::int64_t start_ns) {
    const SlicedWalk::Rules rules{slice_count(slice_, collective, shape), eager_bytes_};
    const auto walked = [&](auto&& walk) {
      std::vector<GroupWalk::Times> times = walk.walk(posted, start_ns);
      transfers_ += walk.transfers();
      return times;
    };
    if (SlicedWalk::is_for(rules, collective))
      return walked(SlicedWalk(collective, shape, group, rules, costs_, busy_));
    return walked(GroupWalk(collective, shape, group, name, costs_, busy_));
  }

  // The backward pass releases all buckets but the last; that goes when the replica is ready.
  static std::int64_t released_ns(const Replica& replica, const ExchangeRule& rule, int bucket,
                                  const Share& share) {
    const int left = rule.buckets - 1 - bucket;
    if (left == 0) return share.ready_ns;
    const double left_s = rule.overlap_backward * replica.last_step_s * left / rule.buckets;
    return replica.began_ns + std::llround(std::max(0., replica.computing_s - left_s) * 1e9);
  }

  // An awaited exchange shows in the done_s of the last blocking one at the step that needs it.
  void go_on(int replica, int step) {
    Replica& state = at(replica);
    std::int64_t awaited_ns = 0;
    std::vector<Share> still_open;
    for (const Share& share : state.overlapped) {
      if (share.await_step > step) {
        still_open.push_back(share);
        continue;
      }
      awaited_ns = std::max(awaited_ns, share.done_ns);
      write_row(replica, share, share.done_ns);
    }
    state.clock_ns = std::max(state.ready_ns, awaited_ns);
    for (const Share& share : state.blocking) {
      const bool is_last = &share == &state.blocking.back();
      write_row(replica, share, is_last ? std::max(awaited_ns, share.done_ns) : share.done_ns);
    }
    state.overlapped = std::move(still_open);
    state.blocking.clear();
    state.totals.idle_s += seconds(state.clock_ns) - seconds(state.computed_ns);
    if (is_recorded(trace_, step))
      outputs_.add_step(step, {replica, seconds(state.computed_ns), seconds(state.clock_ns)});
  }

  void write_row(int replica, const Share& share, std::int64_t done_ns) {
    at(replica).totals.bytes_sent += share.bytes;
    SyncParts parts = share.parts;
    parts.waiting_s += seconds(done_ns - share.done_ns);
    outputs_.add_exchange(
        share.step, share.rule,
        {replica, seconds(share.ready_ns), seconds(share.start_ns), seconds(done_ns), share.bytes, parts});
  }

  // Whatever comes later begins after the earliest clock.
  void settle() {
    std::int64_t horizon_ns = replicas_.front().clock_ns;
    for (const Replica& replica : replicas_) horizon_ns = std::min(horizon_ns, replica.clock_ns);
    busy_.count_until(horizon_ns);
    write_schedule(horizon_ns);
  }

  // In the order in which they were over.
  void write_schedule(std::int64_t until_ns) {
    std::stable_sort(finished_.begin(), finished_.end(),
                     [](const Finished& a, const Finished& b) { return a.done_ns < b.done_ns; });
    std::size_t written = 0;
    for (; written < finished_.size() && finished_[written].done_ns < until_ns; ++written) {
      const Finished& one = finished_[written];
      outputs_.add_schedule({one.rule, one.step, one.group.empty() ? nullptr : &one.group,
                             seconds(one.start_ns), seconds(one.done_ns)});
    }
    finished_.erase(finished_.begin(), finished_.begin() + static_cast<std::ptrdiff_t>(written));
  }

  void beat(int step) {
    check_interrupt();
    double bytes = 0;
    for (const Replica& replica : replicas_) bytes += static_cast<double>(replica.totals.bytes_sent);
    reporter_.progress(
        static_cast<double>(step) * trace_.context.replicas,
        static_cast<double>(trace_.context.steps) * trace_.context.replicas, "replica-steps",
        human_duration(seconds(replicas_.front().clock_ns)) + " walked, " + human_bytes(bytes) + " sent");
  }

  Json write_results() {
    busy_.count_until(INT64_MAX);
    write_schedule(INT64_MAX);
    std::vector<ReplicaTotals> totals;
    for (Replica& replica : replicas_) {
      replica.totals.clock_s = seconds(replica.clock_ns);
      totals.push_back(replica.totals);
    }
    return outputs_.finish(totals, topology_, busy_.loads(), transfers_, /*events=*/0);
  }

  const Trace& trace_;
  std::vector<Replica> replicas_;
  StepTimes times_;
  PlanIndex plans_;
  Topology topology_;
  MessageCosts costs_;
  BusyTimes busy_;
  ReplayOutputs outputs_;
  bool barrier_;
  SliceSpec slice_;
  double eager_bytes_;
  ProgressReporter& reporter_;
  std::vector<Finished> finished_;
  std::int64_t transfers_ = 0;
};

}  // namespace

Json analytic_replay(const Case& one, const Trace& trace, const std::string& folder,
                     ProgressReporter& reporter) {
  check_fit(one, trace);
  check_collectives(one, trace.plan);
  return AnalyticReplay(one, trace, folder, reporter).run();
}

}  // namespace longhaul
