#include "replay/engine/replay_engine.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "core/base/errors.h"
#include "core/base/units.h"
#include "core/plan/absences.h"
#include "net/distributions/distribution.h"
#include "net/variation/trace_units.h"
#include "replay/absence/churn.h"
#include "replay/engine/group_synchronization.h"
#include "replay/engine/synchronizer.h"
#include "replay/engine/used_connections.h"
#include "replay/output/logged_network.h"
#include "replay/placement/optimized_order.h"
#include "replay/predict/estimate.h"
#include "replay/work/trace_steps.h"

namespace longhaul {
namespace {

// Workers that change their stages, and those who come back, may talk to all others.
std::vector<std::pair<int, int>> connections(const Case& config, const Trace& trace,
                                             const std::vector<int>& site_of) {
  std::vector<std::pair<int, int>> all;
  if (config.pipeline.rebalance_every == 0 && !config.has_absences())
    all = used_connections(trace, site_of, config.network);
  else
    for (int from = 0; from < worker_count(trace); ++from)
      for (int to = 0; to < worker_count(trace); ++to)
        if (from != to) all.emplace_back(from, to);
  if (!config.rollouts) return all;
  // None of these is between two workers.
  for (const auto& of_weights : weight_connections(config, site_of)) all.push_back(of_weights);
  return all;
}

}  // namespace

ReplayEngine::ReplayEngine(const Case& config, const Trace& trace, ReplayOutputs& outputs,
                           ProgressReporter& reporter, Clock& clock, const NetworkMaker& network_of)
    : clock_(clock),
      trace_(trace),
      case_(config),
      reporter_(reporter),
      workers_(clock, trace.context.replicas, trace.plan.pipeline.stages),
      topology_(placed_topology(config, trace.plan)),
      outputs_(outputs),
      network_(make_network(network_of)),
      context_{clock, *network_, topology_.site_of(), config.network},
      ledger_(trace, outputs_),
      times_(config, trace),
      slow_(config.faults, config.seed, worker_count(trace)),
      assignment_(trace.context.replicas, trace.plan.pipeline.stages),
      presence_(make_presence()),
      plans_(context_, trace_, assignment_, *presence_, ledger_,
             [this](GroupOperation& run, int worker) { member_done(run, worker); }),
      synchronization_(make_synchronization()) {
  network_->set_heartbeat([this] { beat(); });
  if (throws_late_work_away(trace.plan)) outputs_.expect_lost_work();
  if (config.train && do_times_decide(config, trace.plan)) outputs_.expect_training(config);
  if (!trace.plan.step_graph.is_empty())
    graphs_.emplace(context_, trace_, times_, slow_, workers_, ledger_, outputs_, [this](int worker) {
      begin_waits(worker);
      follow_program(worker);
    });
  if (config.rollouts)
    rollouts_.emplace(config, topology_, clock, *network_, row_of_weights(trace.plan),
                      [this] { stop_if_all_ended(); });
  if (trace.plan.pipeline.has_stages())
    pipelines_.emplace(config.pipeline, context_, trace_, assignment_, times_, slow_, workers_, ledger_,
                       outputs_,
                       PipelineSteps::Watcher{[this](int worker) {
                                                begin_waits(worker);
                                                follow_program(worker);
                                              },
                                              [this](int worker, double pass_s, double microbatch_s) {
                                                release_backward(worker, pass_s, microbatch_s);
                                              }});
}

std::unique_ptr<Network> ReplayEngine::make_network(const NetworkMaker& network_of) {
  std::unique_ptr<Network> network =
      outputs_.observed(network_of(
                            case_.network, topology_,
                            [&] { return connections(case_, trace_, topology_.site_of()); }, case_.seed),
                        clock_);
  if (!case_.rollouts) return network;
  auto counted = std::make_unique<CountedNetwork>(std::move(network), topology_.site_of());
  counted_ = counted.get();
  return counted;
}

std::unique_ptr<Presence> ReplayEngine::make_presence() {
  if (!case_.has_absences()) return std::make_unique<Presence>();
  return std::make_unique<Churn>(case_, trace_,
                                 Churn::Replay{context_, workers_, ledger_, at_work_, outputs_});
}

std::unique_ptr<Synchronization> ReplayEngine::make_synchronization() {
  if (has_merges(trace_.plan))
    return std::make_unique<Synchronizer>(context_, trace_, workers_, ledger_, outputs_,
                                          [this](int replica) { go_on(replica); });
  return std::make_unique<GroupSynchronization>(workers_, ledger_, outputs_, presence_->changes());
}

Json ReplayEngine::run() {
  const ClockScope scope{clock_};
  workers_.set_origin(network_->ready_s());
  clock_.after(network_->ready_s(), [this] { begin_training(); });
  clock_.run();
  if (!is_over()) throw RunError(deadlock());
  return write_results();
}

void ReplayEngine::begin_training() {
  if (rollouts_) rollouts_->start(clock_.now_s());
  for (int worker = 0; worker < workers_.count(); ++worker) begin_step(worker);
  presence_->start({&plans_, synchronization_.get(), this});
}

// Rollouts generate what a step trains on.
void ReplayEngine::begin_step(int worker) {
  if (!rollouts_) return compute(worker);
  rollouts_->await_batch(workers_.at(worker).step + 1, [this, worker](double waited_s) {
    ledger_.wait_for_batch(worker, waited_s);
    compute(worker);
  });
}

// Steps at which nothing but compute happens are one event together.
void ReplayEngine::compute(int worker) {
  if (pipelines_ || graphs_) return enter_step(worker);
  Worker& state = workers_.at(worker);
  double seconds = 0, last_step = 0;
  std::int64_t taken = 0;
  const int first = state.step + 1,
            last = presence_->changes() || rollouts_
                       ? first
                       : std::min(outputs_.next_recorded(first), next_exchange(trace_, first));
  if (times_.are_constant() && !trace_.plan.dynamic_steps.is_on()) {
    taken = last - state.step;
    last_step = times_.seconds(worker, first);
    for (; state.step < last; ++state.step) seconds += last_step;
  }
  while (state.step < last) {
    const bool is_taken =
        trace_.plan.dynamic_steps.takes(worker, ++state.step);  // else the step takes it no time
    taken += is_taken;
    seconds += last_step = is_taken ? times_.seconds(worker, state.step) : 0;
  }
  state.next = 0;
  if (releases_during_compute(trace_, state.step)) release_backward(worker, seconds, last_step);
  seconds = slow_.stretched_s(worker, workers_.now(), seconds);
  ledger_.begin_compute(worker, workers_.now(), seconds, taken);
  at_work_.enter(state.step);
  workers_.after(seconds, worker, [this, worker] {
    begin_waits(worker);
    follow_program(worker);
  });
}

// One step by itself: its passes, or the tasks of a step graph.
void ReplayEngine::enter_step(int worker) {
  Worker& state = workers_.at(worker);
  ++state.step;
  state.next = 0;
  ledger_.begin_passes(worker, workers_.now());
  at_work_.enter(state.step);
  if (pipelines_)
    pipelines_->enter(worker);
  else
    graphs_->enter(worker);
}

// The buckets that a step of `step_s`, whose end is `end_s` from now, releases before that.
void ReplayEngine::release_backward(int worker, double end_s, double step_s) {
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
                       if (GroupOperation* run = plans_.at(workers_.at(worker).step)->run_of(worker, rule))
                         run->release(worker);
                     });
  }
}

// The step's compute is over.
void ReplayEngine::begin_waits(int worker) {
  Worker& state = workers_.at(worker);
  ledger_.end_compute(worker, workers_.now());
  state.plan = plans_.at(state.step);
  if (!state.plan) return;
  const std::vector<Instruction>& program = state.plan->program().instructions;
  while (program[state.next].kind != Instruction::Kind::kOptimize &&
         !(program[state.next].kind == Instruction::Kind::kCompute && program[state.next].left == 0))
    ++state.next;
}

// On from the instruction that is next, to the end of the step or to an operation that is not done.
void ReplayEngine::follow_program(int worker) {
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
      synchronization_->post(worker, plan, instruction);
    } else if (instruction.kind == Instruction::Kind::kAwait &&
               !synchronization_->is_done(worker, instruction)) {
      state.is_waiting = true;
      return;
    }
  }
  if (state.next == program.waits_end) end_waits(worker);
  end_step(worker);
}

// Nothing of this step is waited for any more.
void ReplayEngine::end_waits(int worker) {
  synchronization_->end_waits(worker);
  ledger_.end_waits(worker, workers_.at(worker).step, workers_.now());
}

void ReplayEngine::end_step(int worker) {
  Worker& state = workers_.at(worker);
  state.plan.reset();
  if (++steps_left_ % 256 == 0) beat();
  state.ended_step = state.step;
  at_work_.leave(state.step);
  if (rollouts_) rollouts_->ended_step(worker, state.step);
  if (state.step < trace_.context.steps) {
    begin_step(worker);
  } else {
    ledger_.end_training(worker, workers_.now());
    synchronization_->end(worker);
    state.has_ended = true;
    ++finished_;
  }
  presence_->ended_step(worker);
  close_steps();
  stop_if_all_ended();
}

// Rows and plans of steps that nobody is at any more.
void ReplayEngine::close_steps() {
  const int before = at_work_.closed(), lowest = at_work_.close();
  if (lowest == before && !plans_.has_below(lowest)) return;
  outputs_.close(synchronization_->lowest_open_step(lowest));
  if (pipelines_) pipelines_->close(lowest);
  plans_.close(lowest);
}

void ReplayEngine::stop_if_all_ended() {
  if (!is_over()) return;
  if (rollouts_) rollouts_->end_training();
  if (!rollouts_ || rollouts_->is_settled()) clock_.stop();
}

// `worker`: -1 where the operation ends because somebody is lost.
void ReplayEngine::member_done(GroupOperation& run, int worker) {
  if (run.is_finished()) {
    transfers_ += run.transfers();
    note_finished(run);
    synchronization_->note_finished(run);
  }
  if (worker < 0) return;
  if (presence_->changes() || run.rule().completion.fetches) note_contribution(run, worker);
  if (!run.is_discarded()) presence_->has_result(worker, run.rule_index(), run.step());
  go_on(worker);  // which may be the end of the run
}

void ReplayEngine::go_on(int worker) {
  if (workers_.at(worker).is_waiting) follow_program(worker);
}

// What it had computed when it posted is in the model now; or, where gradients were thrown away, its step is
// not. Who is left alone of a pair or a group takes no outer step, and what is sent ahead has no work in it.
void ReplayEngine::note_contribution(const GroupOperation& run, int worker) {
  const std::vector<int>& contributors = run.participants();
  const bool throws_gradients_away = run.rule().before_optimizer && ledger_.unshared(worker).steps > 0 &&
                                     workers_.at(worker).step == run.step();
  const std::size_t fewest = run.rule().is_of_everyone() ? 1 : 2;
  if (run.rule().is_sent_ahead) return;
  const Worker::Waited* posted = workers_.at(worker).posted(run);
  const auto take = [&] {
    return ledger_.take_unshared(worker, posted ? posted->computed : ledger_.computed(worker));
  };
  if (contributors.size() >= fewest &&
      std::find(contributors.begin(), contributors.end(), worker) != contributors.end())
    ledger_.count_useful(worker, take());
  else if (run.rule().completion.fetches || throws_gradients_away)
    ledger_.count_lost(worker, take());
}

void ReplayEngine::note_finished(const GroupOperation& run) {
  if (presence_->changes()) return note_elastic(static_cast<const ElasticExchange&>(run));
  const bool is_everyone = run.rule().is_of_everyone() && run.rule().completion.is_all() &&
                           assignment_.is_original(run.rule().stage, run.step());
  add_schedule(run, is_everyone);
}

// A stage's gradients are its part of a step, a group's its members' part.
double ReplayEngine::discarded_share(const ElasticExchange& run) const {
  if (!run.rule().before_optimizer) return 0;
  const double of_replicas =
      run.rule().is_of_everyone() ? 1 : static_cast<double>(run.group().size()) / trace_.context.replicas;
  return of_replicas / workers_.stages();
}

void ReplayEngine::note_elastic(const ElasticExchange& run) {
  if (run.is_discarded()) outputs_.note_discarded(discarded_share(run));
  if (!run.participants().empty() || run.is_discarded()) add_schedule(run, false);
}

void ReplayEngine::add_schedule(const GroupOperation& run, bool is_everyone) {
  outputs_.add_schedule({run.rule_index(), run.step(), is_everyone ? nullptr : &run.participants(),
                         workers_.since_origin(run.start_s()), workers_.since_origin(run.done_s())});
}

void ReplayEngine::on_crash(int replica) {
  for (int stage = 0; stage < workers_.stages(); ++stage) stop(worker_of(replica, stage, workers_.stages()));
  stop_if_all_ended();
}

void ReplayEngine::stop(int worker) {
  Worker& state = workers_.at(worker);
  if (state.has_ended) return;
  state.life.end();
  const bool repeats = presence_->repeats_steps();
  const bool is_in_passes = !ledger_.is_computed(worker) && pipelines_;
  if (is_in_passes) pipelines_->on_crash(worker);
  // Where it repeats its step the rows of what is done by now have the wait until then.
  double waits_from_s = ledger_.computed_s(worker);
  if (repeats)
    for (const Worker::Waited& waited : state.blocking)
      if (waited.run->is_done(worker))
        waits_from_s = std::max(waits_from_s, workers_.since_origin(waited.run->times(worker).done_s));
  ledger_.crash(worker, {workers_.now(), waits_from_s},
                repeats ? Ledger::AfterCrash::kRepeatsStep : Ledger::AfterCrash::kGoesOn, is_in_passes,
                trace_.plan.dynamic_steps.takes(worker, state.step));
  // What it posted before its step is awaited still where it repeats that.
  const auto is_lost = [&](const Worker::Waited& waited) {
    return !repeats || waited.run->step() == state.step;
  };
  state.overlapped.erase(std::remove_if(state.overlapped.begin(), state.overlapped.end(), is_lost),
                         state.overlapped.end());
  state.blocking.clear();
  state.plan.reset();
  state.is_waiting = false;
  if (!repeats) at_work_.leave(state.step);
}

void ReplayEngine::on_return(int replica, int step, Return, bool has_own_state) {
  const int stages = workers_.stages();
  for (int stage = 0; stage < stages; ++stage) {
    const int worker = worker_of(replica, stage, stages);
    Worker& state = workers_.at(worker);
    finished_ -= std::exchange(state.has_ended, false);  // before others of its stages had
    const bool repeats = ledger_.is_computed(worker) && step <= state.step;
    state.step = state.ended_step = step - 1;
    ledger_.come_back(worker, workers_.now(), has_own_state, repeats);
    state.clocks = {clock_.now_s(), 0};
  }
  for (int stage = 0; stage < stages; ++stage) compute(worker_of(replica, stage, stages));
}

void ReplayEngine::on_resume(int replica, int step) {
  workers_.at(replica).step = step - 1;
  compute(replica);
  at_work_.leave(step);
}

void ReplayEngine::beat() {
  check_interrupt();
  constexpr std::chrono::milliseconds kBetweenBeats{100};  // ProgressReporter takes no more
  const auto now = std::chrono::steady_clock::now();
  if (now - beaten_ < kBetweenBeats) return;
  beaten_ = now;
  double done = 0, bytes = rollouts_ ? static_cast<double>(rollouts_->bytes()) : 0;
  for (int worker = 0; worker < workers_.count(); ++worker) {
    done += workers_.at(worker).step - 1;
    bytes += static_cast<double>(ledger_.totals(worker).bytes_sent);
  }
  const std::chrono::duration<double> wall = now - began_;
  const std::string simulated = fmt::format(
      "{} simulated in {}", human_duration(std::max(0., workers_.now())), human_duration(wall.count()));
  if (const std::optional<SegmentCount> count = network_->segments())
    return report_segments(*count, simulated);
  reporter_.progress(std::max(0., done), static_cast<double>(trace_.context.steps) * workers_.count(),
                     "replica-steps", simulated + fmt::format(", {} sent", human_bytes(bytes)));
}

// Own ones, of as many as the messages hold: those of others go on for as long as the exchanges take.
void ReplayEngine::report_segments(const SegmentCount& count, const std::string& simulated) {
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

std::string ReplayEngine::deadlock() const {
  constexpr std::size_t kMostLines = 12;
  const int replicas = trace_.context.replicas, gone = presence_->gone(),
            stages = trace_.plan.pipeline.stages;
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
  add(plans_.waiting());
  if (pipelines_) add(pipelines_->waiting());
  if (graphs_) add(graphs_->waiting());
  add(synchronization_->waiting());
  if (rollouts_) add(rollouts_->waiting());
  std::string text = fmt::format(
      "the simulation ran out of events while exchanges are open ({} of {} {} wait):",
      workers_.count() - finished_ - gone * stages, workers_.count(), stages == 1 ? "replicas" : "workers");
  for (std::size_t i = 0; i < std::min(lines.size(), kMostLines); ++i) text += "\n  " + lines[i];
  if (lines.size() > kMostLines) text += fmt::format("\n  and {} more", lines.size() - kMostLines);
  for (const std::string& outage : endless_outages(case_)) text += "\n  " + outage;
  return text;
}

// The clock of an absent replica stays at the time of its crash.
void ReplayEngine::end_totals() {
  outputs_.close(std::numeric_limits<int>::max());
  plans_.finish();
  presence_->finish();
  if (!presence_->changes() && !throws_late_work_away(trace_.plan)) return;
  for (int worker = 0; worker < workers_.count(); ++worker) {
    const Worker& state = workers_.at(worker);
    if (!state.has_ended) ledger_.stop_clock(worker);
    ledger_.count_gone(worker, presence_->gone_s(worker / workers_.stages()));
    if (state.has_ended || presence_->repeats_steps())
      ledger_.count_useful(worker, ledger_.take_unshared(worker));
    else
      ledger_.count_lost(worker, ledger_.take_unshared(worker));
    // Then a step that was done twice was the same.
    if (presence_->repeats_steps())
      ledger_.set_useful_steps(worker, trace_.plan.dynamic_steps.taken_until(
                                           worker, state.has_ended ? trace_.context.steps : state.step - 1));
  }
}

Json ReplayEngine::write_results() {
  synchronization_->finish();
  end_totals();
  std::vector<ReplicaTotals> totals;
  for (int worker = 0; worker < workers_.count(); ++worker) {
    totals.push_back(ledger_.totals(worker));
    totals.back().stage = assignment_.stage_of(worker, trace_.context.steps);
  }
  if (case_.resolved.contains("faults"))
    outputs_.write_faults(faults_until(case_, topology_, workers_.now()));
  const std::int64_t transfers =
      transfers_ + synchronization_->transfers() + (pipelines_ ? pipelines_->transfers() : 0) +
      (graphs_ ? graphs_->transfers() : 0) + (rollouts_ ? rollouts_->transfers() : 0);
  if (rollouts_) outputs_.write_rollouts(rollouts_->rows(bytes_of_sites(topology_, *counted_)));
  const std::optional<SegmentCount> segments = network_->segments();
  Json report = outputs_.finish({totals, topology_, network_->loads(), transfers, clock_.events(), segments});
  const double all = segments ? static_cast<double>(segments->own)
                              : static_cast<double>(trace_.context.steps) * workers_.count();
  reporter_.progress(all, all, segments ? "segments" : "replica-steps",
                     human_duration(report["simulated_s"].get<double>()) + " simulated");
  return report;
}

}  // namespace longhaul
