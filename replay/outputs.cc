#include "replay/outputs.h"

#include <algorithm>
#include <cmath>

#include "core/errors.h"
#include "core/index.h"

namespace longhaul {
namespace {

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
  if (static_cast<std::int64_t>(context.steps) * context.replicas <= kMostStepRows) return true;
  return step == context.steps || (trace.evaluate_every > 0 && step % trace.evaluate_every == 0);
}

ReplayOutputs::ReplayOutputs(const std::string& folder, const std::vector<OperationRule>& rules,
                             std::vector<NamedPart> parts, int replicas)
    : folder_(folder),
      rules_(rules),
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
      }) {
  schedule_ << Json{{"longhaul_schedule", 1}, {"replicas", replicas}}.dump() << '\n';
}

void ReplayOutputs::write_exchange(int step, int rule, const ExchangeRow& row) {
  const std::string& name = rules_[as_index(rule)].name;
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
  Json line = {{"rule", row.rule}, {"step", row.step}};
  if (row.group) line["group"] = *row.group;
  line["start_s"] = row.start_s;
  line["done_s"] = row.done_s;
  schedule_ << line.dump() << '\n';
  if (!schedule_) throw RunError(folder_ + "/schedule.jsonl: cannot be written (is the disk full?)");
}

void ReplayOutputs::write_replicas(const std::vector<ReplicaTotals>& totals) {
  CsvWriter out(folder_ + "/replicas.csv", {"replica", "compute_s", "idle_s", "clock_s", "bytes_sent"});
  for (std::size_t i = 0; i < totals.size(); ++i) {
    out.cell(static_cast<std::int64_t>(i))
        .cell(totals[i].compute_s)
        .cell(totals[i].idle_s)
        .cell(totals[i].clock_s);
    out.cell(totals[i].bytes_sent).end_row();
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

void ReplayOutputs::write_report(const Json& report) {
  exchanges_.flush();
  breakdown_.flush();
  steps_.flush();
  schedule_.flush();
  std::ofstream out(folder_ + "/replay.json");
  out << report.dump(2) << '\n';
  if (!out) throw RunError(folder_ + "/replay.json: cannot be written (is the disk full?)");
}

Json ReplayOutputs::finish(const std::vector<ReplicaTotals>& totals, const Topology& topology,
                           const std::vector<LinkLoad>& loads, std::int64_t transfers, std::uint64_t events) {
  double latest_s = 0;
  for (const ReplicaTotals& replica : totals) latest_s = std::max(latest_s, replica.clock_s);
  write_replicas(totals);
  write_links(topology, loads);
  write_network(topology, loads);
  const Json report = {{"transfers", transfers}, {"events", events}, {"simulated_s", latest_s}};
  write_report(report);
  return report;
}

}  // namespace longhaul
