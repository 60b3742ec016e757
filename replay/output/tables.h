// The files that a replay leaves in its folder, as docs/formats.md describes them: the same for every
// fidelity.
#pragma once

#include <cstdint>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/csv.h"
#include "core/base/json.h"
#include "core/plan/operations.h"
#include "core/plan/trace.h"
#include "net/topology.h"
#include "replay/network/network.h"
#include "replay/output/logged_network.h"
#include "replay/output/ordered_rows.h"
#include "replay/output/outputs.h"
#include "replay/output/rows.h"
#include "replay/output/training_journal.h"
#include "replay/pipeline/pipeline_run.h"
#include "replay/pipeline/rebalance.h"

namespace longhaul {

// Above this many rows steps.csv holds the steps with an evaluation and the last one only.
constexpr std::int64_t kMostStepRows = 1000000;

// The first of `step`, step + 1, … whose clocks go into steps.csv.
int next_recorded(const Trace& trace, int step);

class ReplayTables : public ReplayOutputs {
 public:
  // Truncates the files of an earlier replay. Throws RunError if the folder cannot be written. The trace must
  // outlive it; its plan names the rows. `parts`: the columns of breakdown.csv.
  ReplayTables(const std::string& folder, const Trace& trace, std::vector<NamedPart> parts);

  std::unique_ptr<Network> observed(std::unique_ptr<Network> network, const Clock& clock) override;
  int next_recorded(int step) const override { return longhaul::next_recorded(trace_, step); }
  void add_exchange(int step, int rule, const ExchangeRow& row) override {
    exchange_rows_.add({step, rule}, row);
  }
  void add_bytes(int step, int rule, int replica, std::int64_t more) override {
    if (ExchangeRow* row = exchange_rows_.find({step, rule}, replica)) row->bytes += more;
  }
  void add_step(int step, const StepRow& row) override { step_rows_.add(step, row); }
  void add_schedule(const ScheduleRow& row) override;
  void add_schedule(const MergeRow& row) override;
  void add_pipeline(int step, const PipelineRow& row) override { pipeline_rows_.add(step, row); }
  void add_task(int step, const TaskTimes& task) override;
  // collectives.csv has what the collectives of a step come to, by name.
  void add_collective(int step, const CollectiveRow& row) override;
  void close_collectives(int step) override;
  void open_moves() override;
  void add_move(const MoveTimes& times) override;
  void close(int step) override;
  void expect_absences() override;
  void expect_lost_work() override { has_lost_work_ = true; }
  // journal.jsonl is written too.
  void expect_training(const Case& config) override { journal_.emplace(config, trace_); }
  void add_absence(const AbsenceRow& row) override;
  void note_discarded(double step_share) override { ++discarded_, thrown_away_ += step_share; }
  void write_faults(const std::vector<FaultRow>& rows) override;
  void write_rollouts(const RolloutRows& rows) override;
  Json finish(const ReplayEnd& end) override;

 private:
  void write_exchange(int step, int rule, const ExchangeRow& row);
  void write_schedule(Json line, double start_s, double done_s);
  void write_replicas(const std::vector<ReplicaTotals>& totals);
  void write_links(const Topology& topology, const std::vector<LinkLoad>& loads);
  void write_network(const Topology& topology, const std::vector<LinkLoad>& loads);
  void write_report(const Json& report);

  std::string folder_;
  const Trace& trace_;
  const OperationPlan& plan_;
  LoggedNetwork* log_ = nullptr;  // the replay has it
  int longest_overlap_ = 0;       // steps
  std::vector<NamedPart> parts_;
  CsvWriter exchanges_, breakdown_, steps_;
  // What the collectives of one name come to in a step.
  struct CollectiveSums {
    std::int64_t count = 0, bytes = 0;
    double seconds = 0, longest_s = 0;
  };

  std::optional<CsvWriter> pipeline_, tasks_, moves_, absences_, collectives_;
  std::map<int, std::vector<CollectiveSums>> collective_sums_;  // by step and collective
  bool has_lost_work_ = false, has_rollouts_ = false;
  std::int64_t tasks_written_ = 0;
  std::int64_t discarded_ = 0;  // operations
  double thrown_away_ = 0;      // steps
  std::ofstream schedule_;
  std::optional<TrainingJournal> journal_;
  OrderedRows<std::pair<int, int>, ExchangeRow> exchange_rows_;
  OrderedRows<int, StepRow> step_rows_;
  OrderedRows<int, PipelineRow> pipeline_rows_;
};

}  // namespace longhaul
