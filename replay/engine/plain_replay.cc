#include "replay/engine/plain_replay.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "core/base/errors.h"
#include "core/base/units.h"
#include "core/plan/absences.h"
#include "replay/engine/synchronizer.h"
#include "replay/engine/used_connections.h"
#include "replay/placement/optimized_order.h"
#include "replay/predict/estimate.h"
#include "replay/work/trace_steps.h"

namespace longhaul {
namespace {

// Workers that change their stages, and those who come back, may talk to all others.
std::vector<std::pair<int, int>> connections(const Case& config, const Trace& trace,
                                             const std::vector<int>& site_of) {
  if (config.pipeline.rebalance_every == 0 && !config.has_absences())
    return used_connections(trace, site_of, config.network);
  std::vector<std::pair<int, int>> all;
  for (int from = 0; from < worker_count(trace); ++from)
    for (int to = 0; to < worker_count(trace); ++to)
      if (from != to) all.emplace_back(from, to);
  return all;
}

}  // namespace

PlainReplay::PlainReplay(const Case& config, const Trace& trace, const std::string& folder,
                         ProgressReporter& reporter, Clock& clock, const NetworkMaker& network_of)
    : clock_(clock),
      trace_(trace),
      case_(config),
      workers_(clock, worker_count(trace)),
      topology_(placed_topology(config, trace.plan)),
      network_(network_of(
                   config.network, topology_, [&] { return connections(config, trace, topology_.site_of()); },
                   config.seed),
               clock, folder, row_names(trace.plan)),
      context_{clock, network_, topology_.site_of(), config.network},
      outputs_(folder, trace.plan, named_parts(config.network), trace.context.replicas),
      reporter_(reporter),
      times_(config, trace),
      slow_(config.faults, config.seed, worker_count(trace)),
      assignment_(trace.context.replicas, trace.plan.pipeline.stages) {
  network_.set_heartbeat([this] { beat(); });
  if (throws_late_work_away(trace.plan)) outputs_.expect_lost_work();
  if (config.train && do_times_decide(config, trace.plan)) outputs_.expect_training(config, trace);
  if (trace.plan.pipeline.has_stages())
    pipelines_.emplace(config.pipeline, context_, trace_, assignment_, times_, slow_, workers_, outputs_,
                       PipelineSteps::Watcher{[this](int worker) {
                                                begin_waits(worker);
                                                follow_program(worker);
                                              },
                                              [this](int worker, double pass_s, double microbatch_s) {
                                                release_backward(worker, pass_s, microbatch_s);
                                              }});
  if (has_merges(trace.plan))
    meetings_ = std::make_unique<Synchronizer>(context_, trace_, workers_, outputs_,
                                               [this](int replica) { go_on(replica); });
  else
    meetings_ = std::make_unique<GroupMeetings>(workers_, outputs_, config.has_absences());
}

Json PlainReplay::run() {
  const ClockScope scope{clock_};
  workers_.set_origin(network_.ready_s());
  clock_.after(network_.ready_s(), [this] { begin_training(); });
  clock_.run();
  if (!is_over()) throw RunError(deadlock());
  return write_results();
}

void PlainReplay::begin_training() {
  for (int worker = 0; worker < workers_.count(); ++worker) compute(worker);
}

// Steps at which nothing but compute happens are one event together.
void PlainReplay::compute(int worker) {
  if (pipelines_) return enter_pipeline(worker);
  Worker& state = workers_.at(worker);
  double seconds = 0, last_step = 0;
  state.planned_steps = 0;
  do {
    const bool is_taken =
        trace_.plan.dynamic_steps.takes(worker, ++state.step);  // else the step takes it no time
    state.planned_steps += is_taken;
    seconds += last_step = is_taken ? times_.seconds(worker, state.step) : 0;
  } while (takes_steps_together() && !is_recorded(trace_, state.step) && !has_exchange(trace_, state.step));
  state.next = 0;
  if (releases_during_compute(trace_, state.step)) release_backward(worker, seconds, last_step);
  seconds = slow_.stretched_s(worker, workers_.now(), seconds);
  state.totals.compute_s += seconds;
  state.begun_s = workers_.now();
  state.planned_s = seconds;
  state.is_computed = false;
  at_work_.enter(state.step);
  workers_.after(seconds, worker, [this, worker] {
    begin_waits(worker);
    follow_program(worker);
  });
}

void PlainReplay::enter_pipeline(int worker) {
  Worker& state = workers_.at(worker);
  ++state.step;
  state.next = 0;
  state.begun_s = workers_.now();
  state.planned_steps = 1;
  state.is_computed = false;
  at_work_.enter(state.step);
  pipelines_->enter(worker);
}

// The buckets that a step of `step_s`, whose end is `end_s` from now, releases before that.
void PlainReplay::release_backward(int worker, double end_s, double step_s) {
  double after_s = 0;
  const int step = workers_.at(worker).step;
  for (const Instruction& instruction :
       program_of_step(trace_.plan, trace_.context.steps, step).instructions) {
    if (instruction.kind == Instruction::Kind::kCompute && instruction.left == 0) return;
    if (instruction.kind == Instruction::Kind::kCompute)
      after_s = std::max(0., end_s - instruction.left * step_s);
    else
      workers_.after(slow_.stretched_s(worker, workers_.now(), after_s), worker,
                     [this, worker, rule = instruction.rule] {
                       if (GroupOperation* run = plan_at(workers_.at(worker).step)->run_of(worker, rule))
                         run->release(worker);
                     });
  }
}

// The step's compute is over.
void PlainReplay::begin_waits(int worker) {
  Worker& state = workers_.at(worker);
  state.computed_s = workers_.now();
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
void PlainReplay::follow_program(int worker) {
  Worker& state = workers_.at(worker);
  if (!state.plan) {
    end_waits(worker);
    return end_step(worker);
  }
  const std::shared_ptr<StepPlan> plan = state.plan;
  const Program& program = plan->program();
  state.is_waiting = false;
  for (; state.next < program.instructions.size(); ++state.next) {
    if (state.next == program.waits_end) end_waits(worker);
    const Instruction& instruction = program.instructions[state.next];
    if (instruction.kind == Instruction::Kind::kPost) {
      meetings_->post(worker, plan, instruction);
    } else if (instruction.kind == Instruction::Kind::kAwait && !meetings_->is_done(worker, instruction)) {
      state.is_waiting = true;
      return;
    }
  }
  if (state.next == program.waits_end) end_waits(worker);
  end_step(worker);
}

// Nothing of this step is waited for any more.
void PlainReplay::end_waits(int worker) {
  Worker& state = workers_.at(worker);
  meetings_->end_waits(worker);
  state.totals.idle_s += workers_.now() - state.computed_s;
  if (is_recorded(trace_, state.step))
    outputs_.add_step(state.step, {worker, state.computed_s, workers_.now()});
}

void PlainReplay::end_step(int worker) {
  Worker& state = workers_.at(worker);
  state.plan.reset();
  if (++steps_left_ % 256 == 0) beat();
  state.ended_step = state.step;
  at_work_.leave(state.step);
  if (state.step < trace_.context.steps) {
    compute(worker);
  } else {
    state.totals.clock_s = workers_.now();
    meetings_->end(worker);
    state.has_ended = true;
    ++finished_;
  }
  ended_step(worker);
  close_steps();
  stop_if_all_ended();
}

// Rows and plans of steps that nobody is at any more.
void PlainReplay::close_steps() {
  const int before = at_work_.closed(), lowest = at_work_.close();
  if (lowest == before && (open_plans_.empty() || open_plans_.begin()->first >= lowest)) return;
  outputs_.close(meetings_->lowest_open_step(lowest));
  if (pipelines_) pipelines_->close(lowest);
  for (auto plan = open_plans_.begin(); plan != open_plans_.end() && plan->first < lowest;) {
    if (!plan->second->is_finished()) {
      ++plan;
      continue;
    }
    clock_.after(0, [last = plan->second] {});  // it may be what called us
    plan = open_plans_.erase(plan);
  }
}

void PlainReplay::stop_if_all_ended() {
  if (is_over()) clock_.stop();
}

std::shared_ptr<StepPlan> PlainReplay::plan_at(int step) {
  const auto known = open_plans_.find(step);
  if (known != open_plans_.end()) return known->second;
  if (!has_exchange(trace_, step)) return nullptr;
  const auto plan = make_plan(step, [this](GroupOperation& run, int worker) { member_done(run, worker); });
  open_plans_[step] = plan;
  made_plan(*plan, step);
  return plan;
}

std::shared_ptr<StepPlan> PlainReplay::make_plan(int step, const StepPlan::MemberDone& on_member_done) {
  return std::make_shared<StepPlan>(context_, trace_, assignment_, step, on_member_done);
}

// `worker`: -1 where the operation ends because somebody is lost.
void PlainReplay::member_done(GroupOperation& run, int worker) {
  if (run.is_finished()) {
    transfers_ += run.transfers();
    note_finished(run);
    meetings_->note_finished(run);
  }
  if (worker < 0) return;
  if (counts_shares(run.rule())) note_contribution(run, worker);
  go_on(worker);
}

void PlainReplay::go_on(int worker) {
  if (workers_.at(worker).is_waiting) follow_program(worker);
}

// What it computed so far is in the model now; or, where gradients were thrown away, its step is not.
void PlainReplay::note_contribution(const GroupOperation& run, int worker) {
  Worker& state = workers_.at(worker);
  const std::vector<int>& contributors = run.participants();
  const bool throws_gradients_away =
      run.rule().before_optimizer && state.unshared_steps > 0 && state.step == run.step();
  if (std::find(contributors.begin(), contributors.end(), worker) != contributors.end())
    state.totals.useful_steps += state.unshared_steps;
  else if (run.rule().completion.fetches || throws_gradients_away)
    state.totals.lost_s += state.unshared_s;
  else
    return;
  state.unshared_s = 0;
  state.unshared_steps = 0;
}

void PlainReplay::note_finished(const GroupOperation& run) {
  const bool is_everyone = run.rule().is_of_everyone() && run.rule().completion.is_all() &&
                           assignment_.is_original(run.rule().stage, run.step());
  outputs_.add_schedule({run.rule_index(), run.step(), is_everyone ? nullptr : &run.participants(),
                         workers_.since_origin(run.start_s()), workers_.since_origin(run.done_s())});
}

void PlainReplay::beat() {
  check_interrupt();
  constexpr std::chrono::milliseconds kBetweenBeats{100};  // ProgressReporter takes no more
  const auto now = std::chrono::steady_clock::now();
  if (now - beaten_ < kBetweenBeats) return;
  beaten_ = now;
  double done = 0, bytes = 0;
  for (const Worker& worker : workers_) {
    done += worker.step - 1;
    bytes += static_cast<double>(worker.totals.bytes_sent);
  }
  const std::chrono::duration<double> wall = now - began_;
  const std::string simulated = fmt::format(
      "{} simulated in {}", human_duration(std::max(0., workers_.now())), human_duration(wall.count()));
  if (const std::optional<SegmentCount> count = network_.segments())
    return report_segments(*count, simulated);
  reporter_.progress(std::max(0., done), static_cast<double>(trace_.context.steps) * workers_.count(),
                     "replica-steps", simulated + fmt::format(", {} sent", human_bytes(bytes)));
}

// Own ones, of as many as the messages hold: those of others go on for as long as the exchanges take.
void PlainReplay::report_segments(const SegmentCount& count, const std::string& simulated) {
  if (!expected_segments_) expected_segments_ = estimate(case_, trace_).segments;
  const auto own = static_cast<double>(count.own);
  const std::chrono::duration<double> wall = beaten_ - began_;
  const std::string beside =
      count.of_others > 0 ? fmt::format("{} of others, ", human_count(static_cast<double>(count.of_others)))
                          : "";
  reporter_.progress(
      own, std::max(static_cast<double>(*expected_segments_), own + 1), "segments",
      fmt::format("{}{}/s, {}", beside,
                  human_count(static_cast<double>(count.together()) / std::max(1e-3, wall.count())),
                  simulated));
}

std::string PlainReplay::deadlock() const {
  constexpr std::size_t kMostLines = 12;
  const int replicas = trace_.context.replicas, gone = gone_replicas(), stages = trace_.plan.pipeline.stages;
  const bool waits = on_failure_of(case_.recovery, trace_.plan) == RecoverySpec::OnFailure::kWait;
  if (gone == replicas || (gone > 0 && waits))
    return fmt::format(
        "{} {} replicas are gone for good, so that training never ends; a fault of kind crash with a shorter "
        "for, or of fewer replicas, lets it end",
        gone == replicas ? "all" : fmt::format("{} of", gone), replicas);
  std::vector<std::string> lines;
  const auto add = [&lines](const std::vector<std::string>& more) {
    lines.insert(lines.end(), more.begin(), more.end());
  };
  for (const auto& [step, plan] : open_plans_) add(plan->waiting());
  if (pipelines_) add(pipelines_->waiting());
  add(meetings_->waiting());
  std::string text = fmt::format(
      "the simulation ran out of events while exchanges are open ({} of {} {} wait):",
      workers_.count() - finished_ - gone * stages, workers_.count(), stages == 1 ? "replicas" : "workers");
  for (std::size_t i = 0; i < std::min(lines.size(), kMostLines); ++i) text += "\n  " + lines[i];
  if (lines.size() > kMostLines) text += fmt::format("\n  and {} more", lines.size() - kMostLines);
  return text;
}

void PlainReplay::end_totals() {
  outputs_.close(std::numeric_limits<int>::max());
  if (!throws_late_work_away(trace_.plan)) return;
  for (Worker& worker : workers_) worker.totals.useful_steps += worker.unshared_steps;
}

Json PlainReplay::write_results() {
  meetings_->finish();
  end_totals();
  std::vector<ReplicaTotals> totals;
  for (int worker = 0; worker < workers_.count(); ++worker) {
    totals.push_back(workers_.at(worker).totals);
    totals.back().stage = assignment_.stage_of(worker, trace_.context.steps);
  }
  network_.finish();
  if (case_.resolved.contains("faults"))
    outputs_.write_faults(faults_until(case_, topology_, workers_.now()));
  const std::int64_t transfers =
      transfers_ + meetings_->transfers() + (pipelines_ ? pipelines_->transfers() : 0);
  const std::optional<SegmentCount> segments = network_.segments();
  Json report = outputs_.finish(totals, topology_, network_.loads(), transfers, clock_.events(), segments);
  const double all = segments ? static_cast<double>(segments->own)
                              : static_cast<double>(trace_.context.steps) * workers_.count();
  reporter_.progress(all, all, segments ? "segments" : "replica-steps",
                     human_duration(report["simulated_s"].get<double>()) + " simulated");
  return report;
}

}  // namespace longhaul
