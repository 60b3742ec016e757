#include "replay/replay.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <set>

#include "core/child_main.h"
#include "core/errors.h"
#include "core/units.h"
#include "replay/bucketed_exchange.h"
#include "replay/estimate.h"
#include "replay/logged_network.h"
#include "replay/network/analytic_network.h"
#include "replay/network/event_queue.h"
#include "replay/optimized_order.h"
#include "replay/plan_index.h"
#include "replay/step_plan.h"
#include "replay/step_times.h"
#include "replay/tables/outputs.h"

namespace longhaul {
namespace {

// Whatever the last events of a simulation may call must outlive it, so it ends before the replay does.
struct Closing {
  Clock& clock;
  ~Closing() { clock.close(); }
};

class Replay {
 public:
  Replay(const Case& one, const Trace& trace, const std::string& folder, ProgressReporter& reporter,
         Clock& clock, const NetworkMaker& network_of)
      : clock_(clock),
        trace_(trace),
        replicas_(static_cast<std::size_t>(trace.context.replicas)),
        times_(one, trace),
        plans_(trace),
        topology_(placed_topology(one)),
        transfer_log_(folder, trace.plan.rules),
        network_(std::make_unique<LoggedNetwork>(
            network_of(
                one.network, topology_, [&] { return used_connections(trace, topology_.site_of()); },
                one.seed),
            transfer_log_, clock)),
        context_{clock, *network_, topology_.site_of(), SendingRules::of(one.network)},
        outputs_(folder, trace.plan.rules, named_parts(one.network), trace.context.replicas),
        reporter_(reporter) {
    network_->set_heartbeat([this] { beat(); });
  }

  Json run() {
    const Closing closing{clock_};
    origin_s_ = network_->ready_s();
    clock_.after(origin_s_, [this] {
      for (int replica = 0; replica < count(); ++replica) compute(replica);
    });
    clock_.run();
    if (finished_ < count()) throw RunError(deadlock());
    return write_results();
  }

 private:
  struct Waited {
    std::shared_ptr<StepPlan> plan;  // keeps the run alive
    BucketedExchange* run = nullptr;
  };
  struct Replica {
    int step = 0;
    double computed_s = 0;
    bool is_waiting = false;
    std::vector<Waited> blocking;    // of this step, one after another
    std::size_t released = 0;        // of `blocking`
    std::vector<Waited> overlapped;  // posted earlier, awaited at the end of a step to come
    ReplicaTotals totals;
  };

  int count() const { return trace_.context.replicas; }
  double since_origin(double time_s) const { return seconds_between(origin_s_, time_s); }
  double now() const { return since_origin(clock_.now_s()); }
  Replica& at(int replica) { return replicas_[static_cast<std::size_t>(replica)]; }

  // Steps at which nothing but compute happens are one event together.
  void compute(int replica) {
    Replica& state = at(replica);
    double seconds = 0, last_step = 0;
    do {
      seconds += last_step = times_.seconds(replica, ++state.step);
    } while (!is_recorded(trace_, state.step) && !plans_.has_exchange(state.step));
    state.totals.compute_s += seconds;
    for (const ExchangeRule& rule : trace_.plan.rules)
      if (rule.buckets > 1 && plans_.posts(rule, state.step))
        release_backward(replica, rule, seconds, last_step);
    clock_.after(seconds, [this, replica] { post_blocking(replica); });
  }

  // All buckets but the last, which the end of the step releases, `end_s` from now.
  void release_backward(int replica, const ExchangeRule& rule, double end_s, double step_s) {
    for (int bucket = 1; bucket < rule.buckets; ++bucket) {
      const double left_s = rule.overlap_backward * step_s * (rule.buckets - bucket) / rule.buckets;
      clock_.after(std::max(0., end_s - left_s), [this, replica, &rule] {
        for (BucketedExchange* run : plan_at(at(replica).step)->runs_of(replica))
          if (&run->rule() == &rule) run->release(replica);
      });
    }
  }

  void post_blocking(int replica) {
    Replica& state = at(replica);
    state.computed_s = now();
    state.blocking = runs_posted_by(replica, /*overlapped=*/false);
    state.released = 0;
    state.is_waiting = true;
    go_on_if_done(replica);
  }

  // The runs that the replica takes part in, posted at its present step.
  std::vector<Waited> runs_posted_by(int replica, bool overlapped) {
    const std::shared_ptr<StepPlan> plan = plan_at(at(replica).step);
    std::vector<Waited> found;
    if (plan)
      for (BucketedExchange* run : plan->runs_of(replica))
        if ((run->rule().overlap_steps > 0) == overlapped) found.push_back({plan, run});
    return found;
  }

  std::shared_ptr<StepPlan> plan_at(int step) {
    const auto known = open_plans_.find(step);
    if (known != open_plans_.end()) return known->second;
    if (is_recorded(trace_, step) && step > latest_step_) outputs_.open_step(step, replicas_.size());
    latest_step_ = std::max(latest_step_, step);
    if (!plans_.posts(step)) return nullptr;
    const auto on_member_done = [this](BucketedExchange& run, int replica) {
      if (run.is_finished()) note_finished(run);
      go_on_if_done(replica);
    };
    auto plan = std::make_shared<StepPlan>(context_, trace_, step, on_member_done);
    for (const auto& [rule, rows] : plan->row_counts()) outputs_.open_exchange(step, rule, rows);
    return open_plans_[step] = plan;
  }

  void note_finished(const BucketedExchange& run) {
    transfers_ += run.transfers();
    const bool is_everyone = run.rule().grouping == Grouping::kEveryone;
    outputs_.add_schedule({run.rule_index(), run.step(), is_everyone ? nullptr : &run.group(),
                           since_origin(run.start_s()), since_origin(run.done_s())});
  }

  void go_on_if_done(int replica) {
    Replica& state = at(replica);
    if (!state.is_waiting) return;
    const auto is_done = [&](const Waited& waited) { return waited.run->is_done(replica); };
    if (state.released > 0 && !is_done(state.blocking[state.released - 1])) return;
    // That may end the exchange at once, and then has called back here.
    if (state.released < state.blocking.size()) return state.blocking[state.released++].run->release(replica);
    const auto is_due = [&](const Waited& waited) {
      return waited.run->step() + waited.run->rule().overlap_steps <= state.step;
    };
    for (const Waited& waited : state.overlapped)
      if (is_due(waited) && !is_done(waited)) return;
    state.is_waiting = false;
    go_on(replica);
  }

  void go_on(int replica) {
    Replica& state = at(replica);
    write_rows(replica);
    state.totals.idle_s += now() - state.computed_s;
    if (is_recorded(trace_, state.step)) outputs_.add_step(state.step, {replica, state.computed_s, now()});
    state.blocking.clear();
    for (const Waited& waited : runs_posted_by(replica, /*overlapped=*/true)) {
      state.overlapped.push_back(waited);
      waited.run->release(replica);
    }
    leave_step(replica);
  }

  // An awaited exchange shows in the done_s of the last blocking one at the step that needs it.
  void write_rows(int replica) {
    Replica& state = at(replica);
    double awaited_done_s = 0, awaited_s = state.computed_s;
    for (const Waited& waited : state.blocking)
      awaited_s = std::max(awaited_s, since_origin(waited.run->times(replica).done_s));
    std::vector<Waited> still_open;
    for (const Waited& waited : state.overlapped) {
      if (waited.run->step() + waited.run->rule().overlap_steps > state.step) {
        still_open.push_back(waited);
        continue;
      }
      const double done_s = since_origin(waited.run->times(replica).done_s);
      awaited_done_s = std::max(awaited_done_s, done_s);
      write_row(replica, *waited.run, done_s, awaited_s);
    }
    state.overlapped = std::move(still_open);
    for (const Waited& waited : state.blocking) {
      const double done_s = since_origin(waited.run->times(replica).done_s);
      const bool is_last = &waited == &state.blocking.back();
      const double ready_s = since_origin(waited.run->times(replica).ready_s);
      write_row(replica, *waited.run, is_last ? std::max(awaited_done_s, done_s) : done_s, ready_s);
    }
  }

  void write_row(int replica, const BucketedExchange& run, double done_s, double awaited_s) {
    const BucketedExchange::MemberTimes times = run.times(replica);
    at(replica).totals.bytes_sent += times.bytes_sent;
    SyncParts parts = times.parts;
    parts.waiting_s += done_s - since_origin(times.done_s);
    outputs_.add_exchange(run.step(), run.rule_index(),
                          {replica, since_origin(times.ready_s), since_origin(run.start_s()), done_s,
                           times.bytes_sent, parts, awaited_s});
  }

  void leave_step(int replica) {
    Replica& state = at(replica);
    const auto plan = open_plans_.find(state.step);
    if (plan != open_plans_.end() && plan->second->leave()) {
      // Its last run may be what called us: it goes when this event is over.
      clock_.after(0, [last = plan->second] {});
      open_plans_.erase(plan);
    }
    if (++steps_left_ % 256 == 0) beat();
    if (state.step < trace_.context.steps) return compute(replica);
    state.totals.clock_s = now();
    if (++finished_ == count()) clock_.stop();
  }

  void beat() {
    check_interrupt();
    double done = 0, bytes = 0;
    for (const Replica& replica : replicas_) {
      done += replica.step - 1;
      bytes += static_cast<double>(replica.totals.bytes_sent);
    }
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - began_;
    reporter_.progress(std::max(0., done), static_cast<double>(trace_.context.steps) * count(),
                       "replica-steps",
                       human_duration(std::max(0., now())) + " simulated in " + human_duration(wall.count()) +
                           ", " + human_bytes(bytes) + " sent");
  }

  std::string deadlock() const {
    constexpr std::size_t kMostLines = 12;
    std::vector<std::string> lines;
    for (const auto& [step, plan] : open_plans_)
      for (const std::string& line : plan->waiting()) lines.push_back(line);
    std::string text = "the simulation ran out of events while exchanges are open (" +
                       std::to_string(count() - finished_) + " of " + std::to_string(count()) +
                       " replicas wait):";
    for (std::size_t i = 0; i < std::min(lines.size(), kMostLines); ++i) text += "\n  " + lines[i];
    if (lines.size() > kMostLines) text += "\n  and " + std::to_string(lines.size() - kMostLines) + " more";
    return text;
  }

  Json write_results() {
    std::vector<ReplicaTotals> totals;
    for (const Replica& replica : replicas_) totals.push_back(replica.totals);
    transfer_log_.finish();
    Json report = outputs_.finish(totals, topology_, network_->loads(), transfers_, clock_.events());
    const double all = static_cast<double>(trace_.context.steps) * count();
    reporter_.progress(all, all, "replica-steps",
                       human_duration(report["simulated_s"].get<double>()) + " simulated");
    return report;
  }

  Clock& clock_;
  const Trace& trace_;
  std::vector<Replica> replicas_;
  StepTimes times_;
  PlanIndex plans_;
  Topology topology_;
  TransferLog transfer_log_;
  std::unique_ptr<Network> network_;
  ExchangeContext context_;
  ReplayOutputs outputs_;
  ProgressReporter& reporter_;
  std::map<int, std::shared_ptr<StepPlan>> open_plans_;  // by step; until every replica has left it
  int latest_step_ = 0;
  double origin_s_ = 0;
  int finished_ = 0;
  std::int64_t transfers_ = 0;
  std::uint64_t steps_left_ = 0;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

}  // namespace

Json replay(const Case& one, const Trace& trace, const std::string& folder, ProgressReporter& reporter,
            Clock& clock, const NetworkMaker& network_of) {
  check_fit(one, trace);
  check_collectives(one, trace.plan);
  return Replay(one, trace, folder, reporter, clock, network_of).run();
}

Json analytic_replay(const Case& one, const Trace& trace, const std::string& folder,
                     ProgressReporter& reporter) {
  EventQueue clock;
  const auto network_of = [&](const NetworkSpec& spec, const Topology& topology, const auto&,
                              std::uint64_t seed) {
    return std::make_unique<AnalyticNetwork>(spec, topology, seed, clock);
  };
  return replay(one, trace, folder, reporter, clock, network_of);
}

}  // namespace longhaul
