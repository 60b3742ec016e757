#include "replay/output/tables.h"

#include <algorithm>
#include <cmath>
#include <utility>

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

template <typename... Cells>
CsvWriter& add(CsvWriter& table, const Cells&... cells) {
  (table.cell(cells), ...);
  return table;
}

}  // namespace

int next_recorded(const Trace& trace, int step) {
  const PlanContext& context = trace.context;
  const std::int64_t rows =
      static_cast<std::int64_t>(context.steps) * context.replicas * trace.plan.pipeline.stages;
  if (rows <= kMostStepRows) return step;
  const std::int64_t every = trace.evaluate_every > 0 ? trace.evaluate_every : context.steps;
  return static_cast<int>(std::min<std::int64_t>(context.steps, (step + every - 1) / every * every));
}

ReplayTables::ReplayTables(const std::string& folder, const Trace& trace, std::vector<NamedPart> parts)
    : folder_(folder),
      trace_(trace),
      plan_(trace.plan),
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
        add(steps_, step, row.replica, row.computed_s, row.done_s).end_row();
      }),
      pipeline_rows_([this](int step, const PipelineRow& row) {
        add(*pipeline_, step, row.replica, row.stage, row.times.compute_s, to_picoseconds(row.times.bubble_s),
            to_picoseconds(row.times.network_s), row.times.bytes_sent)
            .end_row();
      }) {
  for (const OperationRule& rule : plan_.rules)
    longest_overlap_ = std::max(longest_overlap_, rule.overlap_steps);
  if (plan_.pipeline.has_stages()) {
    pipeline_ = CsvWriter(folder + "/pipeline.csv",
                          {"step", "replica", "stage", "compute_s", "bubble_s", "network_s", "bytes"});
    tasks_ = CsvWriter(folder + "/tasks.csv",
                       {"step", "replica", "part", "microbatch", "pass", "begin_s", "end_s"});
  }
  if (!plan_.step_graph.is_empty())
    collectives_ = CsvWriter(folder + "/collectives.csv",
                             {"step", "collective", "count", "bytes", "mean_s", "longest_s"});
  schedule_ << Json{{"longhaul_schedule", 1}, {"replicas", trace.context.replicas}}.dump() << '\n';
}

void ReplayTables::write_exchange(int step, int rule, const ExchangeRow& row) {
  const std::string& name = plan_.rules[as_index(rule)].name;
  add(exchanges_, step, row.replica, name, row.ready_s, row.start_s, row.done_s, row.bytes, row.awaited_s)
      .end_row();
  add(breakdown_, step, row.replica, name);
  for (const NamedPart& part : parts_) breakdown_.cell(to_picoseconds(row.parts.*part.seconds));
  breakdown_.end_row();
}

void ReplayTables::add_schedule(const ScheduleRow& row) {
  if (journal_ && row.group) journal_->add_group(row.rule, row.step, *row.group);
  Json line = {{"rule", row.rule}, {"step", row.step}};
  if (row.group) line["group"] = *row.group;
  write_schedule(std::move(line), row.start_s, row.done_s);
}

void ReplayTables::add_schedule(const MergeRow& row) {
  if (journal_) journal_->add_merge(row.merge);
  Json line = {{"rule", row.merge.rule}, {"merge", row.merge.number}};
  for (const Merge::Contribution& contribution : row.merge.contributions)
    line["contributions"].push_back({contribution.replica, contribution.post_step, contribution.taken_step});
  write_schedule(std::move(line), row.start_s, row.done_s);
}

void ReplayTables::write_schedule(Json line, double start_s, double done_s) {
  line["start_s"] = start_s;
  line["done_s"] = done_s;
  schedule_ << line.dump() << '\n';
  if (!schedule_) throw unwritable(folder_ + "/schedule.jsonl");
}

void ReplayTables::add_task(int step, const TaskTimes& task) {
  if (tasks_written_++ >= kMostTaskRows) return;
  const PipelineTask& pass = task.task;
  add(*tasks_, step, task.worker, pass.part, pass.microbatch, pass.is_forward ? "forward" : "backward",
      task.begin_s, task.end_s)
      .end_row();
}

void ReplayTables::add_collective(int step, const CollectiveRow& row) {
  std::vector<CollectiveSums>& sums = collective_sums_[step];
  sums.resize(plan_.step_graph.collectives.size());
  CollectiveSums& of = sums[as_index(row.collective)];
  const double seconds = row.done_s - row.start_s;
  ++of.count;
  of.bytes += row.bytes;
  of.seconds += seconds;
  of.longest_s = std::max(of.longest_s, seconds);
}

void ReplayTables::close_collectives(int step) {
  const std::vector<CollectiveSums> sums = std::move(collective_sums_[step]);
  collective_sums_.erase(step);
  for (std::size_t i = 0; i < sums.size(); ++i)
    if (sums[i].count > 0)
      add(*collectives_, step, plan_.step_graph.collectives[i].name, sums[i].count, sums[i].bytes,
          to_picoseconds(sums[i].seconds / static_cast<double>(sums[i].count)),
          to_picoseconds(sums[i].longest_s))
          .end_row();
}

void ReplayTables::open_moves() {
  moves_ = CsvWriter(folder_ + "/moves.csv",
                     {"step", "replica", "from_stage", "to_stage", "source", "bytes", "begin_s", "done_s"});
}

void ReplayTables::add_move(const MoveTimes& times) {
  const StageMove& move = times.move;
  add(*moves_, times.step, move.worker, move.from, move.to, move.source, times.bytes, times.begin_s,
      times.done_s)
      .end_row();
}

void ReplayTables::expect_absences() {
  expect_lost_work();
  absences_ = CsvWriter(folder_ + "/absences.csv",
                        {"replica", "left_step", "left_s", "back_s", "source", "copied_step", "bytes",
                         "state_s", "joined_s", "first_step", "ended_step"});
}

void ReplayTables::close(int step) {
  const auto is_below = [step](int of) { return of < step; };
  step_rows_.close(is_below);
  pipeline_rows_.close(is_below);
  exchange_rows_.close(
      [&](const std::pair<int, int>& of) { return of.first < std::int64_t{step} - longest_overlap_; });
}

void ReplayTables::add_absence(const AbsenceRow& row) {
  const Absence& absence = row.absence;
  if (journal_) journal_->add_absence(absence);
  const auto time = [&](double seconds) {
    seconds < 0 ? absences_->cell(std::string()) : absences_->cell(seconds);
  };
  add(*absences_, absence.replica, absence.left_step, row.left_s);
  time(row.back_s);
  add(*absences_, absence.source, absence.copied_step, row.bytes);
  time(row.state_s);
  time(row.joined_s);
  add(*absences_, absence.first_step, absence.ended_step).end_row();
}

void ReplayTables::write_replicas(const std::vector<ReplicaTotals>& totals) {
  const bool has_stages = plan_.pipeline.has_stages();
  std::vector<std::string> columns = {"replica", "compute_s", "idle_s", "clock_s", "bytes_sent"};
  if (has_stages) columns.insert(columns.end(), {"stage", "bubble_s", "stage_wait_s"});
  const bool talks = !plan_.step_graph.is_empty();
  if (talks) columns.push_back("inside_wait_s");
  if (has_rollouts_) columns.push_back("batch_wait_s");
  if (has_lost_work_) columns.insert(columns.end(), {"useful_steps", "lost_s", "gone_s", "cut_wait_s"});
  CsvWriter out(folder_ + "/replicas.csv", columns);
  for (std::size_t i = 0; i < totals.size(); ++i) {
    const ReplicaTotals& of = totals[i];
    add(out, static_cast<int>(i), of.compute_s, of.idle_s, of.clock_s, of.bytes_sent);
    if (has_stages) add(out, of.stage, to_picoseconds(of.bubble_s), to_picoseconds(of.stage_wait_s));
    if (talks) add(out, to_picoseconds(of.inside_wait_s));
    if (has_rollouts_) add(out, to_picoseconds(of.batch_wait_s));
    if (has_lost_work_)
      add(out, of.useful_steps, to_picoseconds(of.lost_s), to_picoseconds(of.gone_s),
          to_picoseconds(of.cut_wait_s));
    out.end_row();
  }
  out.flush();
}

void ReplayTables::write_links(const Topology& topology, const std::vector<LinkLoad>& loads) {
  CsvWriter out(folder_ + "/links.csv", {"link", "direction", "bytes", "busy_s"});
  for (std::size_t i = 0; i < loads.size(); ++i) {
    if (!is_listed(topology, loads, i)) continue;
    add(out, topology.link(static_cast<int>(i / 2)).name, i % 2 == 0 ? "forward" : "backward", loads[i].bytes,
        std::round(loads[i].busy_s * 1e9) / 1e9)
        .end_row();
  }
  out.flush();
}

void ReplayTables::write_network(const Topology& topology, const std::vector<LinkLoad>& loads) {
  CsvWriter out(folder_ + "/network.csv",
                {"link", "from", "to", "rate_forward_bps", "rate_backward_bps", "delay_s"});
  const auto rate = [&](double bps) { std::isfinite(bps) ? out.cell(bps) : out.cell(std::string()); };
  for (std::size_t i = 0; i < loads.size(); i += 2) {
    if (!is_listed(topology, loads, i)) continue;
    const Link link = topology.link(static_cast<int>(i / 2));
    add(out, link.name, topology.node_name(link.first), topology.node_name(link.second));
    rate(link.rate_forward);
    rate(link.rate_backward);
    out.cell(link.delay_s).end_row();
  }
  out.flush();
}

void ReplayTables::write_faults(const std::vector<FaultRow>& rows) {
  CsvWriter out(folder_ + "/faults.csv", {"fault", "kind", "subject", "begin_s", "end_s"});
  for (const FaultRow& row : rows)
    add(out, row.fault, row.kind, row.subject, row.begin_s, row.end_s).end_row();
  out.flush();
}

void ReplayTables::write_rollouts(const RolloutRows& rows) {
  has_rollouts_ = true;
  const auto time = [](CsvWriter& out, double seconds) {
    seconds < 0 ? out.cell(std::string()) : out.cell(to_picoseconds(seconds));
  };
  CsvWriter versions(folder_ + "/versions.csv",
                     {"version", "step", "published_s", "sent_s", "first_s", "last_s", "bytes"});
  for (const VersionRow& row : rows.versions) {
    add(versions, row.version, row.step);
    for (const double seconds : {row.published_s, row.sent_s, row.first_s, row.last_s})
      time(versions, seconds);
    versions.cell(row.bytes).end_row();
  }
  versions.flush();
  CsvWriter refits(folder_ + "/refits.csv", {"version", "group", "arrived_s", "swapped_s"});
  if (static_cast<std::int64_t>(rows.refits.size()) <= kMostStepRows)
    for (const RefitRow& row : rows.refits) {
      add(refits, row.version, row.group);
      for (const double seconds : {row.arrived_s, row.swapped_s}) time(refits, seconds);
      refits.end_row();
    }
  refits.flush();
  CsvWriter batches(folder_ + "/batches.csv",
                    {"step", "begun_s", "whole_s", "used_s", "waited_s", "longest_s", "samples", "tokens",
                     "staleness_mean", "stalest"});
  for (const BatchRow& row : rows.batches) {
    if (row.samples == 0) continue;
    batches.cell(row.step);
    for (const double seconds : {row.begun_s, row.whole_s, row.used_s, row.waited_s, row.longest_s})
      time(batches, seconds);
    add(batches, row.samples, row.tokens,
        static_cast<double>(row.staleness) / static_cast<double>(row.samples), row.stalest)
        .end_row();
  }
  batches.flush();
  CsvWriter staleness(folder_ + "/staleness.csv", {"versions", "samples"});
  for (std::size_t by = 0; by < rows.samples_by_staleness.size(); ++by)
    add(staleness, static_cast<int>(by), rows.samples_by_staleness[by]).end_row();
  staleness.flush();
  CsvWriter groups(folder_ + "/rollouts.csv", {"group", "host", "site", "busy_s", "sample_s", "clock_s",
                                               "samples", "tokens", "bytes_received"});
  for (std::size_t group = 0; group < rows.groups.size(); ++group) {
    const RolloutGroupRow& row = rows.groups[group];
    add(groups, static_cast<int>(group), row.host, row.site, to_picoseconds(row.busy_s),
        to_picoseconds(row.sample_s), to_picoseconds(rows.end_s), row.samples, row.tokens, row.bytes_received)
        .end_row();
  }
  groups.flush();
  CsvWriter sites(folder_ + "/sites.csv", {"site", "bytes_out", "bytes_in"});
  for (const SiteBytes& site : rows.sites) add(sites, site.site, site.out, site.in).end_row();
  sites.flush();
}

void ReplayTables::write_report(const Json& report) {
  for (CsvWriter* table : {&exchanges_, &breakdown_, &steps_}) table->flush();
  for (std::optional<CsvWriter>* table : {&pipeline_, &tasks_, &moves_, &absences_, &collectives_})
    if (*table) (*table)->flush();
  schedule_.flush();
  std::ofstream out(folder_ + "/replay.json");
  out << report.dump(2) << '\n';
  if (!out) throw unwritable(folder_ + "/replay.json");
}

// The file of messages goes with the replay.
std::unique_ptr<Network> ReplayTables::observed(std::unique_ptr<Network> network, const Clock& clock) {
  auto logged = std::make_unique<LoggedNetwork>(std::move(network), clock, folder_, row_names(plan_));
  log_ = logged.get();
  return logged;
}

Json ReplayTables::finish(const ReplayEnd& end) {
  if (log_) log_->finish();
  write_replicas(end.totals);
  write_links(end.topology, end.loads);
  write_network(end.topology, end.loads);
  Json report = {{"transfers", end.transfers}, {"events", end.events}, {"simulated_s", end.simulated_s()}};
  if (end.segments) {
    report["segments"] = end.segments->own;
    report["segments_again"] = end.segments->own_again;
    report["segments_of_others"] = end.segments->of_others;
  }
  if (journal_) journal_->write(folder_ + "/journal.jsonl");
  if (absences_) report["discarded"] = discarded_, report["thrown_away_steps"] = thrown_away_;
  write_report(report);
  return report;
}

}  // namespace longhaul
