#include "replay/outputs.h"

#include <algorithm>
#include <cmath>

#include "core/base/errors.h"
#include "core/base/files.h"
#include "core/base/index.h"

namespace longhaul {
namespace {

// A step of 64 workers with 64 micro-batches has 8192.
constexpr std::int64_t kMostTaskRows = 20000;

std::vector<std::string> breakdown_columns(const std::vector<NamedPart>& parts) {
  std::vector<std::string> columns = {"step", "replica", "exchange"};
  for (const NamedPart& part : parts) columns.push_back(part.name + "_s");
  return columns;
}

// Sums over thousands of messages end in digits that mean nothing. No −0 either.
double to_picoseconds(double seconds) {
  return std::round(seconds * 1e12) / 1e12 + 0.;
}

// Of a mesh only the links that carried something: it has half a million among 1024.
bool is_listed(const Topology& topology, const std::vector<LinkLoad>& loads, std::size_t direction) {
  return !topology.is_mesh() || loads[direction].bytes > 0 || loads[direction ^ 1].bytes > 0;
}

}  // namespace

bool is_recorded(const Trace& trace, int step) {
  const PlanContext& context = trace.context;
  const std::int64_t rows =
      static_cast<std::int64_t>(context.steps) * context.replicas * trace.plan.pipeline.stages;
  if (rows <= kMostStepRows) return true;
  return step == context.steps || (trace.evaluate_every > 0 && step % trace.evaluate_every == 0);
}

ReplayOutputs::ReplayOutputs(const std::string& folder, const OperationPlan& plan,
                             std::vector<NamedPart> parts, int replicas)
    : folder_(folder),
      plan_(plan),
      parts_(std::move(parts)),
      exchanges_(folder + "/exchanges.csv",
                 {"step", "replica", "exchange", "ready_s", "start_s", "done_s", "bytes", "awaited_s"}),
      breakdown_(folder + "/breakdown.csv", breakdown_columns(parts_)),
      steps_(folder + "/steps.csv", {"step", "replica", "computed_s", "done_s"}),
      schedule_(folder + "/schedule.jsonl"),
      exchange_rows_([this](const std::pair<int, int>& key, const ExchangeRow& row) {
        write_exchange(key.first, key.second, row);
      }),
      step_rows_([this](int step, const StepRow& row) {
        steps_.cell(step).cell(row.replica).cell(row.computed_s).cell(row.done_s).end_row();
      }),
      pipeline_rows_([this](int step, const PipelineRow& row) {
        pipeline_->cell(step).cell(row.replica).cell(row.stage);
        pipeline_->cell(row.times.compute_s).cell(to_picoseconds(row.times.bubble_s));
        pipeline_->cell(to_picoseconds(row.times.network_s)).cell(row.times.bytes_sent).end_row();
      }) {
  for (const OperationRule& rule : plan.rules)
    longest_overlap_ = std::max(longest_overlap_, rule.overlap_steps);
  if (plan.pipeline.has_stages()) {
    pipeline_.emplace(
        folder + "/pipeline.csv",
        std::vector<std::string>{"step", "replica", "stage", "compute_s", "bubble_s", "network_s", "bytes"});
    tasks_.emplace(folder + "/tasks.csv", std::vector<std::string>{"step", "replica", "part", "microbatch",
                                                                   "pass", "begin_s", "end_s"});
  }
  schedule_ << Json{{"longhaul_schedule", 1}, {"replicas", replicas}}.dump() << '\n';
}

void ReplayOutputs::write_exchange(int step, int rule, const ExchangeRow& row) {
  const std::string& name = plan_.rules[as_index(rule)].name;
  exchanges_.cell(step).cell(row.replica).cell(name);
  exchanges_.cell(row.ready_s)
      .cell(row.start_s)
      .cell(row.done_s)
      .cell(row.bytes)
      .cell(row.awaited_s)
      .end_row();
  breakdown_.cell(step).cell(row.replica).cell(name);
  for (const NamedPart& part : parts_) breakdown_.cell(to_picoseconds(row.parts.*part.seconds));
  breakdown_.end_row();
}

void ReplayOutputs::add_schedule(const ScheduleRow& row) {
  if (journal_ && row.group) journal_->add_group(row.rule, row.step, *row.group);
  Json line = {{"rule", row.rule}, {"step", row.step}};
  if (row.group) line["group"] = *row.group;
  write_schedule(std::move(line), row.start_s, row.done_s);
}

void ReplayOutputs::add_schedule(const MergeRow& row) {
  if (journal_) journal_->add_merge(row.merge);
  Json line = {{"rule", row.merge.rule}, {"merge", row.merge.number}};
  for (const Merge::Contribution& contribution : row.merge.contributions)
    line["contributions"].push_back({contribution.replica, contribution.post_step, contribution.taken_step});
  write_schedule(std::move(line), row.start_s, row.done_s);
}

void ReplayOutputs::write_schedule(Json line, double start_s, double done_s) {
  line["start_s"] = start_s;
  line["done_s"] = done_s;
  schedule_ << line.dump() << '\n';
  if (!schedule_) throw unwritable(folder_ + "/schedule.jsonl");
}

void ReplayOutputs::add_task(int step, const TaskTimes& task) {
  if (tasks_written_++ >= kMostTaskRows) return;
  tasks_->cell(step).cell(task.worker).cell(task.task.part).cell(task.task.microbatch);
  tasks_->cell(task.task.is_forward ? "forward" : "backward").cell(task.begin_s).cell(task.end_s).end_row();
}

void ReplayOutputs::open_moves() {
  moves_.emplace(folder_ + "/moves.csv", std::vector<std::string>{"step", "replica", "from_stage", "to_stage",
                                                                  "source", "bytes", "begin_s", "done_s"});
}

void ReplayOutputs::add_move(const MoveTimes& times) {
  const StageMove& move = times.move;
  moves_->cell(times.step).cell(move.worker).cell(move.from).cell(move.to).cell(move.source);
  moves_->cell(times.bytes).cell(times.begin_s).cell(times.done_s).end_row();
}

void ReplayOutputs::expect_absences() {
  expect_lost_work();
  absences_.emplace(
      folder_ + "/absences.csv",
      std::vector<std::string>{"replica", "left_step", "left_s", "back_s", "source", "copied_step", "bytes",
                               "state_s", "joined_s", "first_step", "ended_step"});
}

void ReplayOutputs::close(int step) {
  const auto is_below = [step](int of) { return of < step; };
  step_rows_.close(is_below);
  pipeline_rows_.close(is_below);
  exchange_rows_.close(
      [&](const std::pair<int, int>& of) { return of.first < std::int64_t{step} - longest_overlap_; });
}

void ReplayOutputs::add_absence(const AbsenceRow& row) {
  const Absence& absence = row.absence;
  if (journal_) journal_->add_absence(absence);
  const auto time = [&](double seconds) {
    seconds < 0 ? absences_->cell(std::string()) : absences_->cell(seconds);
  };
  absences_->cell(absence.replica).cell(absence.left_step).cell(row.left_s);
  time(row.back_s);
  absences_->cell(absence.source).cell(absence.copied_step).cell(row.bytes);
  time(row.state_s);
  time(row.joined_s);
  absences_->cell(absence.first_step).cell(absence.ended_step).end_row();
}

void ReplayOutputs::write_replicas(const std::vector<ReplicaTotals>& totals) {
  const bool has_stages = plan_.pipeline.has_stages();
  std::vector<std::string> columns = {"replica", "compute_s", "idle_s", "clock_s", "bytes_sent"};
  if (has_stages) columns.insert(columns.end(), {"stage", "bubble_s", "stage_wait_s"});
  if (has_lost_work_) columns.insert(columns.end(), {"useful_steps", "lost_s", "gone_s"});
  CsvWriter out(folder_ + "/replicas.csv", columns);
  for (std::size_t i = 0; i < totals.size(); ++i) {
    out.cell(static_cast<std::int64_t>(i))
        .cell(totals[i].compute_s)
        .cell(totals[i].idle_s)
        .cell(totals[i].clock_s);
    out.cell(totals[i].bytes_sent);
    if (has_stages)
      out.cell(totals[i].stage)
          .cell(to_picoseconds(totals[i].bubble_s))
          .cell(to_picoseconds(totals[i].stage_wait_s));
    if (has_lost_work_)
      out.cell(totals[i].useful_steps)
          .cell(to_picoseconds(totals[i].lost_s))
          .cell(to_picoseconds(totals[i].gone_s));
    out.end_row();
  }
  out.flush();
}

void ReplayOutputs::write_links(const Topology& topology, const std::vector<LinkLoad>& loads) {
  CsvWriter out(folder_ + "/links.csv", {"link", "direction", "bytes", "busy_s"});
  for (std::size_t i = 0; i < loads.size(); ++i) {
    if (!is_listed(topology, loads, i)) continue;
    out.cell(topology.link(static_cast<int>(i / 2)).name)
        .cell(std::string(i % 2 == 0 ? "forward" : "backward"))
        .cell(loads[i].bytes)
        .cell(std::round(loads[i].busy_s * 1e9) / 1e9)
        .end_row();
  }
  out.flush();
}

void ReplayOutputs::write_network(const Topology& topology, const std::vector<LinkLoad>& loads) {
  CsvWriter out(folder_ + "/network.csv",
                {"link", "from", "to", "rate_forward_bps", "rate_backward_bps", "delay_s"});
  const auto rate = [&](double bps) { std::isfinite(bps) ? out.cell(bps) : out.cell(std::string()); };
  for (std::size_t i = 0; i < loads.size(); i += 2) {
    if (!is_listed(topology, loads, i)) continue;
    const Link link = topology.link(static_cast<int>(i / 2));
    out.cell(link.name).cell(topology.node_name(link.first)).cell(topology.node_name(link.second));
    rate(link.rate_forward);
    rate(link.rate_backward);
    out.cell(link.delay_s).end_row();
  }
  out.flush();
}

void ReplayOutputs::write_faults(const std::vector<FaultRow>& rows) {
  CsvWriter out(folder_ + "/faults.csv", {"fault", "kind", "subject", "begin_s", "end_s"});
  for (const FaultRow& row : rows)
    out.cell(row.fault).cell(row.kind).cell(row.subject).cell(row.begin_s).cell(row.end_s).end_row();
  out.flush();
}

void ReplayOutputs::write_report(const Json& report) {
  exchanges_.flush();
  breakdown_.flush();
  steps_.flush();
  if (pipeline_) pipeline_->flush();
  if (tasks_) tasks_->flush();
  if (moves_) moves_->flush();
  if (absences_) absences_->flush();
  schedule_.flush();
  std::ofstream out(folder_ + "/replay.json");
  out << report.dump(2) << '\n';
  if (!out) throw unwritable(folder_ + "/replay.json");
}

Json ReplayOutputs::finish(const std::vector<ReplicaTotals>& totals, const Topology& topology,
                           const std::vector<LinkLoad>& loads, std::int64_t transfers, std::uint64_t events) {
  double latest_s = 0;
  for (const ReplicaTotals& replica : totals) latest_s = std::max(latest_s, replica.clock_s);
  write_replicas(totals);
  write_links(topology, loads);
  write_network(topology, loads);
  Json report = {{"transfers", transfers}, {"events", events}, {"simulated_s", latest_s}};
  if (journal_) journal_->write(folder_ + "/journal.jsonl");
  if (absences_) report["discarded"] = discarded_, report["thrown_away_steps"] = thrown_away_;
  write_report(report);
  return report;
}

}  // namespace longhaul
