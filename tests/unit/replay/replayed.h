// A replay run in a test, of whatever fidelity: a case and a trace in, the rows of the tables out.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "core/base/child_main.h"
#include "core/plan/trace.h"
#include "replay/replay.h"
#include "tests/support/csv_table.h"
#include "tests/support/faults.h"
#include "tests/support/files.h"
#include "tests/unit/net/cases.h"

namespace longhaul {

struct ExchangeRecord {
  int step, replica;
  std::string exchange;
  double ready_s, start_s, done_s;
  std::int64_t bytes;
  double awaited_s;
};

struct Replayed {
  Json report;
  std::vector<ExchangeRecord> exchanges;
  std::map<std::string, std::string> files;  // by name, whole texts

  // The longest done − start of all exchanges of a step.
  double sync_time_s(int step = 1) const {
    double longest = 0;
    for (const ExchangeRecord& row : exchanges)
      if (row.step == step) longest = std::max(longest, row.done_s - row.start_s);
    return longest;
  }
  const ExchangeRecord& row(int step, int replica, const std::string& exchange = "outer") const {
    for (const ExchangeRecord& row : exchanges)
      if (row.step == step && row.replica == replica && row.exchange == exchange) return row;
    throw std::out_of_range("no such row");
  }
};

// The cells of a table without quotes, below so many lines: its header.
using Cells = std::vector<std::string>;
using Rows = std::vector<Cells>;
inline Rows rows_of(const Replayed& replayed, const std::string& file, int passed = 1) {
  Rows rows;
  std::istringstream in(replayed.files.at(file));
  for (std::string line, cell; std::getline(in, line);) {
    if (passed-- > 0) continue;
    rows.emplace_back();
    for (std::istringstream cells(line); std::getline(cells, cell, ',');) rows.back().push_back(cell);
  }
  return rows;
}

inline void expect_row(const Replayed& replayed, int step, int replica, double ready_s, double start_s,
                       double done_s) {
  const ExchangeRecord& row = replayed.row(step, replica);
  EXPECT_NEAR(row.ready_s, ready_s, 1e-9) << step << " " << replica;
  EXPECT_NEAR(row.start_s, start_s, 1e-9) << step << " " << replica;
  EXPECT_NEAR(row.done_s, done_s, 1e-9) << step << " " << replica;
}

struct BreakdownRow {
  int step, replica;
  std::string exchange;
  std::map<std::string, double> parts;  // seconds, by name

  double of(const std::string& part) const { return parts.at(part); }
  double total_s() const {
    double total = 0;
    for (const auto& [name, seconds] : parts) total += seconds;
    return total;
  }
};

inline std::vector<BreakdownRow> breakdown_of(const Replayed& replayed) {
  const Cells header = rows_of(replayed, "breakdown.csv", 0).at(0);
  std::vector<BreakdownRow> rows;
  for (const auto& cells : rows_of(replayed, "breakdown.csv")) {
    rows.push_back({std::stoi(cells.at(0)), std::stoi(cells.at(1)), cells.at(2), {}});
    for (std::size_t i = 3; i < header.size(); ++i)
      rows.back().parts[header[i].substr(0, header[i].size() - 2)] = std::stod(cells.at(i));
  }
  return rows;
}

// The breakdown of the replica that is done last.
inline BreakdownRow last_one(const Replayed& replayed) {
  const std::vector<ExchangeRecord>& rows = replayed.exchanges;
  const auto last = std::max_element(
      rows.begin(), rows.end(), [](const auto& one, const auto& other) { return one.done_s < other.done_s; });
  return breakdown_of(replayed).at(static_cast<std::size_t>(last - rows.begin()));
}

// The lines of the schedule below its header.
inline std::vector<Json> schedule_of(const Replayed& replayed) {
  std::istringstream in(replayed.files.at("schedule.jsonl"));
  std::vector<Json> lines;
  std::string line;
  for (std::getline(in, line); std::getline(in, line);) lines.push_back(Json::parse(line));
  return lines;
}

// By step, of the schedule: of all rules, or of one.
inline std::map<int, std::vector<int>> groups_of_steps(const Replayed& replayed, int rule = -1) {
  std::map<int, std::vector<int>> groups;
  for (const Json& line : schedule_of(replayed))
    if (rule < 0 || line.at("rule") == rule)
      groups[line.at("step")] = line.at("group").get<std::vector<int>>();
  return groups;
}

// Some cells of a row.
inline Cells at(const Cells& row, const std::vector<std::size_t>& columns) {
  Cells cells;
  for (const std::size_t column : columns) cells.push_back(row.at(column));
  return cells;
}
// Of a replica: steps in the model, seconds lost.
inline Cells totals_of(const Replayed& replayed, int replica) {
  return at(rows_of(replayed, "replicas.csv").at(static_cast<std::size_t>(replica)), {5, 6});
}

// Bytes that are in the totals of replicas and in no row of the log, which has what has arrived: what they
// have under way when training is over. Of each replica: also what it passed on for others, or before it
// went; the download of a state is none of it.
inline std::vector<std::int64_t> bytes_under_way_at_the_end(const Replayed& result) {
  std::map<std::string, std::int64_t> arrived;  // by replica
  for (const auto& row : rows_of(result, "transfers.csv"))
    if (row.at(1) != "state") arrived[row.at(2)] += std::stoll(row.at(6));
  std::vector<std::int64_t> under_way;
  for (const auto& row : rows_of(result, "replicas.csv"))
    under_way.push_back(std::stoll(row.at(4)) - arrived[row.at(0)]);
  return under_way;
}
inline void expect_totals_of_what_was_sent(const Replayed& result) {
  for (const std::int64_t bytes : bytes_under_way_at_the_end(result)) EXPECT_EQ(bytes, 0);
}

// `replay` as simulated_replay or analytic_replay.
template <typename Replay>
Replayed run_with(Replay replay, const Case& config, const Trace& trace) {
  const TemporaryFolder folder;
  ProgressReporter silent("test", -1, /*quiet=*/true);
  Replayed result;
  result.report = replay(config, trace, folder.path, silent);
  for (const auto& cells : read_csv(folder.file("exchanges.csv")).rows)
    result.exchanges.push_back({std::stoi(cells[0]), std::stoi(cells[1]), cells[2], std::stod(cells[3]),
                                std::stod(cells[4]), std::stod(cells[5]), std::stoll(cells[6]),
                                std::stod(cells[7])});
  for (const auto& entry : std::filesystem::directory_iterator(folder.path))
    result.files[entry.path().filename()] = read_text(entry.path());
  return result;
}

// Over the network of fidelity analytic.
inline Replayed walked(Case config, const Trace& trace) {
  config.network.fidelity = "analytic";
  if (!config.faults.empty()) config.resolved["faults"] = Json::array();  // has its tables
  return run_with(analytic_replay, config, trace);
}
// Of a plan for the steps of the case, of 1000 parameters.
inline Replayed walked(const Case& config, const OperationPlan& plan) {
  return walked(config, make_trace(plan, {1, config.replicas, config.workload.steps, 1000}));
}

inline double simulated_s(const Replayed& replayed) {
  return replayed.report.at("simulated_s");
}

using OnFailure = RecoverySpec::OnFailure;

inline Fault crash_of(int replica, double at_s, double for_s) {
  return absence_fault(0, {replica, replica}, {at_s, 0, for_s});
}

// A rule among everyone, or among random groups of `group_size`.
inline OperationRule rule_of(const std::string& collective, int every = 1, int group_size = 0) {
  OperationRule rule;
  rule.name = "outer";
  rule.collective = collective;
  rule.every = every;
  rule.grouping = group_size > 0 ? Grouping::kRandom : Grouping::kEveryone;
  rule.group_size = group_size;
  rule.payload = whole({"delta"}, Wire::kInt8);
  return rule;
}

// The rule for each stage of a pipeline, "NAME.stage0" and so on.
inline std::vector<OperationRule> staged_rules(const OperationRule& rule, int stages) {
  std::vector<OperationRule> rules(static_cast<std::size_t>(stages), rule);
  for (OperationRule& of_stage : rules) {
    of_stage.stage = static_cast<int>(&of_stage - rules.data());
    of_stage.name += ".stage" + std::to_string(of_stage.stage);
  }
  return rules;
}

// Equal parts of so many parameters, between which a micro-batch sends 10 bytes each way.
inline PipelinePlan equal_plan(PipelineSpec spec, std::int64_t parameters = 1000) {
  spec.boundary.bytes_per_token = 10;
  return pipeline_plan(spec, std::nullopt, parameters, spec.microbatches, Wire::kBf16);
}

// One exchange of `bytes` from every member at step 1.
inline Trace single_exchange(const std::string& collective, int replicas, std::int64_t bytes, int steps = 1) {
  OperationRule rule = rule_of(collective, 1, collective == "pair" || collective == "root" ? 2 : 0);
  if (collective == "root") rule.payload = whole({"delta", "phi"}, Wire::kInt8);
  const auto parameters = bytes / static_cast<std::int64_t>(rule.payload.size());
  return make_trace({{rule}}, {1, replicas, steps, parameters});
}

}  // namespace longhaul
