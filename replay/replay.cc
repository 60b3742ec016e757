#include "replay/replay.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "core/base/child_main.h"
#include "core/base/errors.h"
#include "core/base/index.h"
#include "core/base/units.h"
#include "core/plan/combinations.h"
#include "net/topologies/registry.h"
#include "replay/estimate.h"
#include "replay/exchange_run.h"
#include "replay/faults.h"
#include "replay/logged_network.h"
#include "replay/membership.h"
#include "replay/network/analytic_network.h"
#include "replay/network/clock.h"
#include "replay/optimized_order.h"
#include "replay/outputs.h"
#include "replay/pipeline_run.h"
#include "replay/rebalance.h"
#include "replay/step_plan.h"
#include "replay/synchronizer.h"

namespace longhaul {
namespace {

// Whatever the last events of a simulation may call must outlive it, so it ends before the replay does.
struct Closing {
  Clock& clock;
  ~Closing() { clock.close(); }
};

class Replay : public Membership::Host, public Synchronizer::Host {
 public:
  Replay(const Case& config, const Trace& trace, const std::string& folder, ProgressReporter& reporter,
         Clock& clock, const NetworkMaker& network_of)
      : clock_(clock),
        trace_(trace),
        replicas_(as_index(worker_count(trace))),
        case_(config),
        times_(config, trace),
        slow_(config.faults, config.seed, worker_count(trace)),
        wiring_(trace.context.replicas, trace.plan.pipeline.stages),
        crews_(trace.context.replicas, trace.plan.pipeline.stages),
        topology_(placed_topology(config, trace.plan)),
        network_(network_of(
                     config.network, topology_, [&] { return connections(config); }, config.seed),
                 clock, folder, row_names(trace.plan)),
        context_{clock, network_, topology_.site_of(), SendingRules::of(config.network)},
        outputs_(folder, trace.plan, named_parts(config.network), trace.context.replicas),
        reporter_(reporter) {
    network_.set_heartbeat([this] { beat(); });
    if (config.has_absences()) {
      outputs_.expect_absences();
      membership_.emplace(config, trace_, context_, outputs_, *this);
    }
    if (throws_late_work_away(trace.plan)) outputs_.expect_lost_work();
    if (config.train && do_times_decide(config, trace.plan)) outputs_.expect_training(config, trace);
    if (has_merges(trace.plan)) synchronizer_.emplace(context_, trace_, *this);
    if (config.pipeline.rebalance_every == 0) return;
    outputs_.open_moves();
    rebalancing_.emplace(config.pipeline, context_, trace_, crews_, wiring_,
                         [this](const MoveTimes& times) { end_move(times); });
  }

  Json run() {
    const Closing closing{clock_};
    origin_s_ = network_.ready_s();
    clock_.after(origin_s_, [this] {
      for (int replica = 0; replica < count(); ++replica) compute(replica);
      if (membership_) membership_->start();
    });
    clock_.run();
    if (membership_ ? finished_ == 0 || !at_step_.empty() : finished_ < count()) throw RunError(deadlock());
    return write_results();
  }

 private:
  struct Waited {
    std::shared_ptr<StepPlan> plan;  // keeps the run alive
    GroupOperation* run = nullptr;
  };
  struct Replica {
    int step = 0;
    double computed_s = 0;
    bool is_waiting = false;
    std::shared_ptr<StepPlan> plan;  // of the step; null where nothing but compute happens
    std::size_t next = 0;            // instruction of its program
    std::vector<Waited> blocking;    // of this step, one after another
    std::vector<Waited> overlapped;  // posted earlier, awaited at the end of a step to come
    WorkerClocks clocks;             // with stages
    ReplicaTotals totals;
    // Where replicas may be gone.
    int life = 0;  // what was scheduled in an earlier one is void
    bool is_computed = false, has_ended = false;
    bool is_going = false;              // it leaves, and has taken its last step
    double left_step_s = 0;             // then: when that was over
    double begun_s = 0, planned_s = 0;  // the compute of its step
    int planned_steps = 0;              // that are computed as one
    double unshared_s = 0;              // compute since it last contributed to an operation
    std::int64_t unshared_steps = 0;
  };

  // Not where the replica has crashed since.
  template <typename Action>
  std::function<void()> in_this_life(int replica, Action action) {
    return [this, replica, life = at(replica).life, action = std::move(action)] {
      if (at(replica).life == life) action();
    };
  }

  int count() const { return static_cast<int>(replicas_.size()); }

  // Workers that change their stages may talk to all others.
  std::vector<std::pair<int, int>> connections(const Case& config) const {
    if (config.pipeline.rebalance_every == 0 && !config.has_absences())
      return used_connections(trace_, topology_.site_of());
    std::vector<std::pair<int, int>> all;
    for (int from = 0; from < count(); ++from)
      for (int to = 0; to < count(); ++to)
        if (from != to) all.emplace_back(from, to);
    return all;
  }

  double since_origin(double time_s) const { return seconds_between(origin_s_, time_s); }
  double now() const { return since_origin(clock_.now_s()); }
  Replica& at(int replica) { return replicas_[as_index(replica)]; }

  // Else the step takes it no time.
  bool takes(int replica, int step) const { return trace_.plan.dynamic_steps.takes(replica, step); }

  // Steps at which nothing but compute happens are one event together.
  void compute(int replica) {
    if (trace_.plan.pipeline.has_stages()) return enter_pipeline(replica);
    Replica& state = at(replica);
    double seconds = 0, last_step = 0;
    state.planned_steps = 0;
    do {
      const bool is_taken = takes(replica, ++state.step);
      state.planned_steps += is_taken;
      seconds += last_step = is_taken ? times_.seconds(replica, state.step) : 0;
    } while (!membership_ && !is_recorded(trace_, state.step) && !has_exchange(trace_, state.step));
    state.next = 0;
    if (releases_during_compute(trace_, state.step)) release_backward(replica, seconds, last_step);
    seconds = slow_.stretched_s(replica, now(), seconds);
    state.totals.compute_s += seconds;
    state.begun_s = now();
    state.planned_s = seconds;
    state.is_computed = false;
    if (membership_) ++at_step_[state.step];
    clock_.after(seconds, in_this_life(replica, [this, replica] {
                   begin_waits(replica);
                   follow_program(replica);
                 }));
  }

  // What Membership asks for and tells (membership.h).
  int step_of(int replica) const override { return replicas_[as_index(replica)].step; }
  bool has_ended(int replica) const override { return replicas_[as_index(replica)].has_ended; }
  int lowest_step() const override {
    return std::max(latest_lowest_, at_step_.empty() ? 0 : at_step_.begin()->first);
  }
  double since_origin_s() const override { return now(); }
  std::map<int, std::shared_ptr<StepPlan>> open_plans() const override { return open_plans_; }
  void cut(int replica) override {
    const auto open = open_plans_;
    for (const auto& [step, plan] : open) plan->cut(replica);
    if (synchronizer_) synchronizer_->cut(replica);
  }
  void lose(int replica) override {
    const auto open = open_plans_;
    for (const auto& [step, plan] : open) plan->lose(replica);
    if (synchronizer_) synchronizer_->lose(replica);
  }
  void announce_leave(int replica, int last_step) override {
    const auto open = open_plans_;
    for (const auto& [step, plan] : open)
      if (step > last_step) plan->lose(replica);
    if (synchronizer_) synchronizer_->announce_leave(replica, last_step);
  }
  void fail() const override {
    int at_work = 0;
    for (const auto& [step, replicas] : at_step_) at_work += replicas;
    throw RunError(fmt::format(
        "faults come so often that nobody ends a step, or one that all wait for stays away: of {} replicas "
        "{} have ended, {} are at work, at steps {} and above, after {}; rarer faults, shorter steps or "
        "another recovery.on_failure may help",
        count(), finished_, at_work, lowest_step(), human_duration(now())));
  }

  int stop(int replica) override {
    Replica& state = at(replica);
    ++state.life;
    ReplicaTotals& totals = state.totals;
    if (!state.is_computed) {
      const double done_s = std::clamp(now() - state.begun_s, 0., state.planned_s);
      totals.compute_s -= state.planned_s - done_s;
      state.unshared_s += done_s;
      totals.lost_s += membership_->waits() ? done_s : 0;
    } else {
      totals.idle_s += now() - (state.is_going ? state.left_step_s : state.computed_s);
      totals.lost_s += membership_->waits() ? state.planned_s : 0;
      if (membership_->waits() && state.unshared_steps > 0 && takes(replica, state.step))
        --state.unshared_steps;
    }
    if (!membership_->waits()) {
      totals.lost_s += state.unshared_s;
      state.unshared_s = 0;
      state.unshared_steps = 0;
      state.overlapped.clear();
    } else {
      const auto is_of_this_step = [&](const Waited& waited) { return waited.run->step() == state.step; };
      state.overlapped.erase(
          std::remove_if(state.overlapped.begin(), state.overlapped.end(), is_of_this_step),
          state.overlapped.end());
    }
    state.blocking.clear();
    state.plan.reset();
    state.is_waiting = false;
    stop_going(state);
    if (!membership_->waits()) leave_count(state.step);
    clock_.after(0, [this] { stop_if_all_ended(); });
    return state.is_computed ? state.step + 1 : state.step;
  }

  void begin(int replica, int step) override {
    at(replica).step = step - 1;
    if (synchronizer_) synchronizer_->begin(replica, step);
    compute(replica);
  }

  void redo(int replica) override {
    const int step = at(replica).step--;
    if (synchronizer_) synchronizer_->come_back(replica);
    compute(replica);
    leave_count(step);
  }

  bool is_going(int replica) const override { return replicas_[as_index(replica)].is_going; }

  void take_next_step(int replica) override {
    Replica& state = at(replica);
    if (state.is_going) state.totals.idle_s += now() - state.left_step_s;
    stop_going(state);
    const int step = state.step;
    if (synchronizer_) synchronizer_->come_back(replica);
    compute(replica);
    leave_count(step);
  }

  void let_go() override {
    for (int replica = 0; going_ > 0 && replica < count(); ++replica)
      if (is_going(replica)) go_if_all_is_over(replica);
  }

  void stop_going(Replica& state) {
    if (state.is_going) --going_;
    state.is_going = false;
  }

  // It leaves once its operations are over for all, and nobody downloads from it.
  void go_if_all_is_over(int replica) {
    Replica& state = at(replica);
    for (const auto& [step, plan] : open_plans_)
      if (step <= state.step && !plan->is_over_for(replica)) return;
    if (membership_->is_needed(replica)) return;
    if (synchronizer_ && !synchronizer_->is_over_for(replica)) return;
    for (const Waited& waited : state.overlapped)
      write_row(replica, *waited.run, since_origin(waited.run->times(replica).done_s), state.left_step_s);
    state.overlapped.clear();
    state.totals.idle_s += now() - state.left_step_s;
    if (synchronizer_) synchronizer_->cut(replica);
    state.computed_s = now();  // where its clock stands
    ++state.life;
    stop_going(state);
    if (!membership_->waits()) {
      state.totals.lost_s += std::exchange(state.unshared_s, 0);
      state.unshared_steps = 0;
      leave_count(state.step);
    }
    membership_->has_gone(replica);
    clock_.after(0, [this] { stop_if_all_ended(); });
  }

  void leave_count(int step) {
    const auto found = at_step_.find(step);
    if (--found->second == 0) at_step_.erase(found);
  }

  // Rows and plans of steps that nobody is at any more.
  void close_steps() {
    if (!at_step_.empty()) latest_lowest_ = at_step_.begin()->first;
    outputs_.close(synchronizer_ ? synchronizer_->lowest_open_step(latest_lowest_) : latest_lowest_);
    for (auto plan = open_plans_.begin(); plan != open_plans_.end() && plan->first < latest_lowest_;) {
      if (!plan->second->is_finished()) {
        ++plan;
        continue;
      }
      clock_.after(0, [last = plan->second] {});  // it may be what called us
      plan = open_plans_.erase(plan);
    }
  }

  void end_step_among_others(int replica) {
    Replica& state = at(replica);
    const int step = state.step;
    if (step < trace_.context.steps && membership_->goes_behind(replica, step)) {
      state.is_going = true;
      state.left_step_s = now();
      ++going_;
      membership_->left_step(replica, step);
      clock_.after(0, [this] { let_go(); });
      return;
    }
    leave_count(step);
    if (step < trace_.context.steps) {
      compute(replica);
    } else {
      state.totals.clock_s = now();
      if (synchronizer_) synchronizer_->end(replica);
      state.has_ended = true;
      ++finished_;
    }
    membership_->left_step(replica, step);
    close_steps();
    stop_if_all_ended();
  }

  // Who is gone is not waited for, if there is nobody left but those who have ended.
  void stop_if_all_ended() {
    if (finished_ == count() || (finished_ > 0 && at_step_.empty() && !membership_->waits())) clock_.stop();
  }

  void enter_pipeline(int worker) {
    Replica& state = at(worker);
    ++state.step;
    state.next = 0;
    if (state.step == 1)
      state.clocks.free_s = clock_.now_s();
    else
      state.clocks.free_s += now() - state.computed_s;  // exchanges
    pipeline_at(state.step)->enter(worker, state.clocks);
    if (rebalancing_) rebalancing_->enter(worker, state.step);
  }

  std::shared_ptr<PipelineRun> pipeline_at(int step) {
    std::shared_ptr<PipelineRun>& run = pipelines_[step];
    if (run) return run;
    PipelineRun::Watcher watcher;
    watcher.on_done = [this](int worker) { leave_pipeline(worker); };
    watcher.on_last_pass = [this](int worker, double pass_s, double microbatch_s) {
      if (releases_during_compute(trace_, at(worker).step)) release_backward(worker, pass_s, microbatch_s);
    };
    watcher.on_task = [this, step](const TaskTimes& times) {
      outputs_.add_task(step,
                        {times.worker, times.task, since_origin(times.begin_s), since_origin(times.end_s)});
    };
    watcher.pace = [this](int worker, double seconds) { return slow_.stretched_s(worker, now(), seconds); };
    watcher.on_last_of_all = [this, step] {
      if (rebalancing_) end_passes(step);
    };
    run = std::make_shared<PipelineRun>(context_, trace_, times_, wiring_, crews_, step, watcher);
    if (is_recorded(trace_, step)) outputs_.open_pipeline(step, replicas_.size());
    return run;
  }

  void end_passes(int step) {
    std::vector<double> busy_s;
    for (int worker = 0; worker < count(); ++worker)
      busy_s.push_back(pipelines_.at(step)->times(worker).compute_s);
    rebalancing_->end_passes(step, busy_s);
  }

  void end_move(const MoveTimes& times) {
    const StageMove& move = times.move;
    outputs_.add_move({times.step, move.worker, move.from, move.to, move.source, times.bytes,
                       since_origin(times.begin_s), since_origin(times.done_s)});
    at(move.source).totals.bytes_sent += times.bytes;
    ++transfers_;
    pipelines_.at(at(move.worker).step)->wake(move.worker);
  }

  // Nothing of the step's micro-batches is left to do for this worker.
  void leave_pipeline(int worker) {
    Replica& state = at(worker);
    const int step = state.step;
    const std::shared_ptr<PipelineRun> run = pipelines_.at(step);
    const PipelineRun::WorkerTimes& times = run->times(worker);
    state.totals.compute_s += times.compute_s;
    state.totals.idle_s += times.bubble_s + times.network_s;
    state.totals.bubble_s += times.bubble_s;
    state.totals.stage_wait_s += times.network_s;
    state.totals.bytes_sent += times.bytes_sent;
    if (is_recorded(trace_, step))
      outputs_.add_pipeline(step, {worker, crews_.stage_of(worker, step), times.compute_s, times.bubble_s,
                                   times.network_s, times.bytes_sent});
    state.clocks = run->clocks(worker);
    if (run->leave()) {
      transfers_ += run->transfers();
      clock_.after(0, [last = run] {});  // it is what called us
      pipelines_.erase(step);
    }
    begin_waits(worker);
    follow_program(worker);
  }

  // The buckets that a step of `step_s`, whose end is `end_s` from now, releases before that.
  void release_backward(int replica, double end_s, double step_s) {
    double after_s = 0;
    for (const Instruction& instruction :
         program_of_step(trace_.plan, trace_.context.steps, at(replica).step).instructions) {
      if (instruction.kind == Instruction::Kind::kCompute && instruction.left == 0) return;
      if (instruction.kind == Instruction::Kind::kCompute)
        after_s = std::max(0., end_s - instruction.left * step_s);
      else
        clock_.after(slow_.stretched_s(replica, now(), after_s),
                     in_this_life(replica, [this, replica, rule = instruction.rule] {
                       if (GroupOperation* run = plan_at(at(replica).step)->run_of(replica, rule))
                         run->release(replica);
                     }));
    }
  }

  // The step's compute is over.
  void begin_waits(int replica) {
    Replica& state = at(replica);
    state.computed_s = now();
    state.is_computed = true;
    state.unshared_s += state.planned_s;
    state.unshared_steps += state.planned_steps;
    state.plan = plan_at(state.step);
    if (!state.plan) return;
    const std::vector<Instruction>& program = state.plan->program().instructions;
    while (program[state.next].kind != Instruction::Kind::kOptimize &&
           !(program[state.next].kind == Instruction::Kind::kCompute && program[state.next].left == 0))
      ++state.next;
  }

  // On from the instruction that is next, to the end of the step or to an operation that is not done.
  void follow_program(int replica) {
    Replica& state = at(replica);
    if (!state.plan) {
      end_waits(replica);
      return leave_step(replica);
    }
    const std::shared_ptr<StepPlan> plan = state.plan;
    const Program& program = plan->program();
    state.is_waiting = false;
    for (; state.next < program.instructions.size(); ++state.next) {
      if (state.next == program.waits_end) end_waits(replica);
      const Instruction& instruction = program.instructions[state.next];
      if (instruction.kind == Instruction::Kind::kPost) {
        synchronizer_ ? contribute(replica, instruction.rule) : post(replica, plan, instruction);
      } else if (instruction.kind == Instruction::Kind::kAwait && !is_done(replica, instruction)) {
        state.is_waiting = true;
        return;
      }
    }
    if (state.next == program.waits_end) end_waits(replica);
    leave_step(replica);
  }

  // That may end the exchange at once: its member then is not waiting.
  void post(int replica, const std::shared_ptr<StepPlan>& plan, const Instruction& instruction) {
    GroupOperation* run = plan->run_of(replica, instruction.rule);
    if (!run) return;
    Replica& state = at(replica);
    (run->rule().is_blocking() ? state.blocking : state.overlapped).push_back({plan, run});
    if (instruction.bucket < run->rule().buckets) run->release(replica);
  }

  // To a merge.
  void contribute(int replica, int rule) {
    Replica& state = at(replica);
    if (!synchronizer_->post(replica, rule, state.step, {state.unshared_steps, state.unshared_s})) return;
    state.unshared_steps = 0;
    state.unshared_s = 0;
  }

  // Whoever takes no part in it has nothing to wait for.
  bool is_done(int replica, const Instruction& await) {
    const Replica& state = at(replica);
    if (synchronizer_) return synchronizer_->take_up(replica, await.rule, state.step);
    for (const std::vector<Waited>* posted : {&state.blocking, &state.overlapped})
      for (const Waited& waited : *posted)
        if (waited.run->rule_index() == await.rule && waited.run->step() == await.post_step)
          return waited.run->is_done(replica);
    return true;
  }

  std::shared_ptr<StepPlan> plan_at(int step) {
    const auto known = open_plans_.find(step);
    if (known != open_plans_.end()) return known->second;
    if (is_recorded(trace_, step) && step > latest_step_) outputs_.open_step(step, replicas_.size());
    latest_step_ = std::max(latest_step_, step);
    if (!has_exchange(trace_, step)) return nullptr;
    const auto on_member_done = [this](GroupOperation& run, int replica) {
      if (run.is_finished()) note_finished(run);
      if (run.is_finished() && going_ > 0) clock_.after(0, [this] { let_go(); });
      if (replica < 0) return;
      if (membership_ || run.rule().completion.fetches) note_contribution(run, replica);
      if (at(replica).is_waiting) follow_program(replica);
    };
    auto plan = membership_ ? std::make_shared<StepPlan>(context_, trace_, membership_->attendance(step),
                                                         step, on_member_done)
                            : std::make_shared<StepPlan>(context_, trace_, crews_, step, on_member_done);
    for (const auto& [rule, rows] : plan->row_counts()) outputs_.open_exchange(step, rule, rows);
    open_plans_[step] = plan;
    if (membership_) membership_->made(*plan, step);
    return plan;
  }

  // What it computed so far is in the model now; or, where gradients were thrown away, its step is not.
  void note_contribution(const GroupOperation& run, int replica) {
    Replica& state = at(replica);
    const std::vector<int>& contributors = run.participants();
    if (std::find(contributors.begin(), contributors.end(), replica) != contributors.end()) {
      state.totals.useful_steps += state.unshared_steps;
    } else if (run.rule().completion.fetches) {
      state.totals.lost_s += state.unshared_s;
    } else if (run.rule().before_optimizer && state.unshared_steps > 0 && state.step == run.step()) {
      state.totals.lost_s += state.unshared_s;
    } else {
      return;
    }
    state.unshared_s = 0;
    state.unshared_steps = 0;
  }

  void note_finished(const GroupOperation& run) {
    transfers_ += run.transfers();
    if (membership_) {
      const bool is_discarded = static_cast<const RestartableExchange&>(run).is_discarded();
      if (is_discarded) outputs_.note_discarded(run.rule().before_optimizer);
      if (run.participants().empty() && !is_discarded) return;
      return outputs_.add_schedule({run.rule_index(), run.step(), &run.participants(),
                                    since_origin(run.start_s()), since_origin(run.done_s())});
    }
    const bool is_everyone = run.rule().is_of_everyone() && run.rule().completion.is_all() &&
                             crews_.is_original(run.rule().stage, run.step());
    outputs_.add_schedule({run.rule_index(), run.step(), is_everyone ? nullptr : &run.participants(),
                           since_origin(run.start_s()), since_origin(run.done_s())});
  }

  // Nothing of this step is waited for any more.
  void end_waits(int replica) {
    Replica& state = at(replica);
    write_rows(replica);
    state.totals.idle_s += now() - state.computed_s;
    if (is_recorded(trace_, state.step)) outputs_.add_step(state.step, {replica, state.computed_s, now()});
    state.blocking.clear();
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
      // What was released during the compute is awaited from its end on.
      write_row(replica, *waited.run, is_last ? std::max(awaited_done_s, done_s) : done_s,
                std::max(ready_s, state.computed_s));
    }
  }

  // What Synchronizer tells (synchronizer.h).
  void add_merge_row(int step, int rule, const ExchangeRow& of_clock) override {
    ExchangeRow row = of_clock;
    at(row.replica).totals.bytes_sent += row.bytes;
    for (double* time_s : {&row.ready_s, &row.start_s, &row.done_s, &row.awaited_s})
      *time_s = since_origin(*time_s);
    outputs_.add_exchange(step, rule, row);
  }
  void arrived(int) override {
    if (going_ > 0) clock_.after(0, [this] { let_go(); });
  }
  void answered(int replica) override {
    if (at(replica).is_waiting) follow_program(replica);
  }
  void merged(int replica, const Synchronizer::Work& work) override {
    at(replica).totals.useful_steps += work.steps;
  }
  void dropped(int replica, const Synchronizer::Work& work) override {
    at(replica).totals.lost_s += work.seconds;
  }

  void finish_merges() {
    for (MergeRow& merge : synchronizer_->finish()) {
      merge.start_s = since_origin(merge.start_s);
      merge.done_s = since_origin(merge.done_s);
      outputs_.add_schedule(merge);
    }
    transfers_ += synchronizer_->transfers();
  }

  void write_row(int replica, const GroupOperation& run, double done_s, double awaited_s) {
    const GroupOperation::MemberTimes times = run.times(replica);
    at(replica).totals.bytes_sent += times.bytes_sent;
    SyncParts parts = times.parts;
    parts.waiting_s += done_s - since_origin(times.done_s);
    // A member that came too late is passed by: it waits for no start.
    const double start_s = std::max(run.start_s(), times.ready_s);
    // What is known of a chain ends where an operation began anew, failed or was fetched.
    const double unknown_s = done_s - since_origin(start_s) - parts.total_s();
    if (membership_ && unknown_s > 1e-9) parts.waiting_s += unknown_s;
    outputs_.add_exchange(run.step(), run.rule_index(),
                          {replica, since_origin(times.ready_s), since_origin(start_s), done_s,
                           times.bytes_sent, parts, awaited_s});
  }

  void leave_step(int replica) {
    Replica& state = at(replica);
    state.plan.reset();
    if (++steps_left_ % 256 == 0) beat();
    if (membership_) return end_step_among_others(replica);
    const auto plan = open_plans_.find(state.step);
    if (plan != open_plans_.end() && plan->second->leave()) {
      // Its last run may be what called us: it goes when this event is over.
      clock_.after(0, [last = plan->second] {});
      open_plans_.erase(plan);
    }
    if (state.step < trace_.context.steps) return compute(replica);
    state.totals.clock_s = now();
    if (synchronizer_) synchronizer_->end(replica);
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
                       fmt::format("{} simulated in {}, {} sent", human_duration(std::max(0., now())),
                                   human_duration(wall.count()), human_bytes(bytes)));
  }

  std::string deadlock() const {
    constexpr std::size_t kMostLines = 12;
    std::vector<std::string> lines;
    for (const auto& [step, plan] : open_plans_)
      for (const std::string& line : plan->waiting()) lines.push_back(line);
    for (const auto& [step, run] : pipelines_)
      for (const std::string& line : run->waiting()) lines.push_back(line);
    if (synchronizer_)
      for (const std::string& line : synchronizer_->waiting()) lines.push_back(line);
    std::string text =
        fmt::format("the simulation ran out of events while exchanges are open ({} of {} replicas wait):",
                    count() - finished_, count());
    for (std::size_t i = 0; i < std::min(lines.size(), kMostLines); ++i) text += "\n  " + lines[i];
    if (lines.size() > kMostLines) text += fmt::format("\n  and {} more", lines.size() - kMostLines);
    return text;
  }

  // Clocks of those who are gone stand where they went.
  void end_absences() {
    outputs_.close(std::numeric_limits<int>::max());
    membership_->finish();
    for (int replica = 0; replica < count(); ++replica) {
      Replica& state = at(replica);
      if (!state.has_ended) state.totals.clock_s = state.is_computed ? state.computed_s : state.begun_s;
      state.totals.gone_s = membership_->gone_s(replica);
      state.totals.useful_steps += state.unshared_steps;
      // Then a step that was done twice was the same.
      if (membership_->waits())
        state.totals.useful_steps = trace_.plan.dynamic_steps.taken_until(
            replica, state.has_ended ? trace_.context.steps : state.step - 1);
    }
  }

  Json write_results() {
    std::vector<ReplicaTotals> totals;
    if (synchronizer_) finish_merges();
    if (membership_) end_absences();
    if (throws_late_work_away(trace_.plan) && !membership_)
      for (Replica& replica : replicas_) replica.totals.useful_steps += replica.unshared_steps;
    for (int worker = 0; worker < count(); ++worker) {
      totals.push_back(at(worker).totals);
      totals.back().stage = crews_.stage_of(worker, trace_.context.steps);
    }
    network_.finish();
    if (case_.resolved.contains("faults")) outputs_.write_faults(faults_until(case_, topology_, now()));
    Json report = outputs_.finish(totals, topology_, network_.loads(), transfers_, clock_.events());
    const double all = static_cast<double>(trace_.context.steps) * count();
    reporter_.progress(all, all, "replica-steps",
                       human_duration(report["simulated_s"].get<double>()) + " simulated");
    return report;
  }

  Clock& clock_;
  const Trace& trace_;
  std::vector<Replica> replicas_;
  const Case& case_;
  StepTimes times_;
  SlowReplicas slow_;
  Wiring wiring_;
  Crews crews_;
  Topology topology_;
  LoggedNetwork network_;
  ExchangeContext context_;
  std::optional<Rebalancing> rebalancing_;
  ReplayOutputs outputs_;
  std::optional<Membership> membership_;      // where replicas may crash
  std::optional<Synchronizer> synchronizer_;  // of a plan with merges
  std::map<int, int> at_step_;                // there: replicas at work, by their step
  int latest_lowest_ = 0;
  int going_ = 0;  // replicas that leave and have taken their last step
  ProgressReporter& reporter_;
  std::map<int, std::shared_ptr<PipelineRun>> pipelines_;  // by step; until every worker has left it
  std::map<int, std::shared_ptr<StepPlan>> open_plans_;    // by step; until every replica has left it
  int latest_step_ = 0;
  double origin_s_ = 0;
  int finished_ = 0;
  std::int64_t transfers_ = 0;
  std::uint64_t steps_left_ = 0;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

Trace read_trace_argument(const std::string& file) {
  if (file == "-") return read_trace(std::cin, "standard input");
  std::ifstream in(file);
  if (!in) throw InputError({file, "", "cannot be read", "a trace written by longhaul", ""});
  return read_trace(in, file);
}

// A user should know before a run of hours begins; stderr is the log.txt of the case.
void announce(const std::string& program, const Case& config, const Trace& trace, bool quiet) {
  constexpr double kWorthAWarning_s = 180;
  const ReplayEstimate expected = estimate(config, trace);
  const bool is_long = expected.seconds > kWorthAWarning_s;
  if (quiet && !is_long) return;
  std::string text = fmt::format("{}: {}{} transfers, {} of payload, fidelity {}: about {}\n", program,
                                 is_long ? "warning: " : "", expected.transfers,
                                 human_bytes(static_cast<double>(expected.payload_bytes)),
                                 config.network.fidelity, human_duration(expected.seconds));
  if (is_long && config.network.fidelity == "packet")
    text += program + ": fidelity \"flow\" takes seconds, a larger network.tcp.segment fewer packets\n";
  std::fputs(text.c_str(), stderr);
}

Case checked_case(const std::string& file) {
  Case config = read_case(file);
  try {
    check_topology_options(config);
  } catch (const InputError& error) {
    throw error.in_file(file);
  }
  return config;
}

Json run(const std::string& program, const ReplayArguments& arguments, const ReplayFunction& replay,
         ProgressReporter& reporter) {
  Case config = checked_case(arguments.case_file);
  const Trace trace = read_trace_argument(arguments.trace_file);
  const FolderLock lock(arguments.folder);
  try {
    if (config.network.rank_order.kind == RankOrderSpec::Kind::kOptimized) {
      const OptimizedOrder order = optimized_order(config, trace.plan);
      config.network.rank_order.places = order.places;
      if (!arguments.quiet) fmt::print(stderr, "{}: {}\n", program, gain_in_words(order));
    }
    check_network(config);
    announce(program, config, trace, arguments.quiet);
    return replay(config, trace, arguments.folder, reporter);
  } catch (const InputError& error) {
    throw error.parts().file.empty() ? error.in_file(arguments.case_file) : error;
  }
}

}  // namespace

Json replay(const Case& config, const Trace& trace, const std::string& folder, ProgressReporter& reporter,
            Clock& clock, const NetworkMaker& network_of) {
  if (trace.context.replicas != config.replicas)
    throw InputError(
        "replicas",
        fmt::format("the trace has {} replicas, the case {}", trace.context.replicas, config.replicas),
        "the trace of this case");
  if (trace.plan.pipeline.stages != config.pipeline.stages)
    throw InputError("pipeline.stages",
                     fmt::format("the trace has {} stages, the case {}", trace.plan.pipeline.stages,
                                 config.pipeline.stages),
                     "the trace of this case");
  check_collectives(config, trace.plan);
  check_combinations(config, trace.plan);
  return Replay(config, trace, folder, reporter, clock, network_of).run();
}

Json analytic_replay(const Case& config, const Trace& trace, const std::string& folder,
                     ProgressReporter& reporter) {
  EventQueue clock;
  const auto network_of = [&](const NetworkSpec& spec, const Topology& topology, const auto&,
                              std::uint64_t seed) {
    return std::make_unique<AnalyticNetwork>(spec, topology, seed, clock);
  };
  return replay(config, trace, folder, reporter, clock, network_of);
}

int replay_program(const std::string& program, const ReplayArguments& arguments,
                   const ReplayFunction& replay) {
  ProgressReporter reporter(program, arguments.progress_descriptor, arguments.quiet);
  return child_main(reporter, [&] { return run(program, arguments, replay, reporter); });
}

}  // namespace longhaul
