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
#include "replay/output/fault_rows.h"
#include "replay/output/ordered_rows.h"
#include "replay/output/rows.h"
#include "replay/output/training_journal.h"
#include "replay/pipeline/pipeline_run.h"
#include "replay/pipeline/rebalance.h"

namespace longhaul {

// Above this many rows steps.csv holds the steps with an evaluation and the last one only.
constexpr std::int64_t kMostStepRows = 1000000;

// Whether the clocks of `step` go into steps.csv.
bool is_recorded(const Trace& trace, int step);

class ReplayOutputs {
 public:
  // Truncates the files of an earlier replay. Throws RunError if the folder cannot be written. `plan` names
  // the rows, `parts` the columns of breakdown.csv. With stages the column `replica` holds workers.
  ReplayOutputs(const std::string& folder, const OperationPlan& plan, std::vector<NamedPart> parts,
                int replicas);

  void add_exchange(int step, int rule, const ExchangeRow& row) { exchange_rows_.add({step, rule}, row); }
  // What a replica sent for an operation after its row was added.
  void add_bytes(int step, int rule, int replica, std::int64_t more) {
    if (ExchangeRow* row = exchange_rows_.find({step, rule}, replica)) row->bytes += more;
  }
  void add_step(int step, const StepRow& row) { step_rows_.add(step, row); }
  void add_schedule(const ScheduleRow& row);
  void add_schedule(const MergeRow& row);
  // Of a plan with stages.
  void add_pipeline(int step, const PipelineRow& row) { pipeline_rows_.add(step, row); }
  // Times since training began. The first ones are kept.
  void add_task(int step, const TaskTimes& task);
  // Of a plan with a step graph: collectives.csv has what those of a step come to, by name. They are complete
  // with close_collectives().
  void add_collective(int step, const CollectiveRow& row);
  void close_collectives(int step);
  // Where workers may change their stages: moves.csv, in the order of the moves; likewise.
  void open_moves();
  void add_move(const MoveTimes& times);

  // No more rows come of steps below `step`, and of operations that were awaited below it.
  void close(int step);
  // Where replicas may be gone: tables have rows of those who are there.
  void expect_absences();
  // replicas.csv says what was lost too.
  void expect_lost_work() { has_lost_work_ = true; }
  // Where times decide what the training of the case does: journal.jsonl is written too.
  void expect_training(const Case& config, const Trace& trace) { journal_.emplace(config, trace); }
  void add_absence(const AbsenceRow& row);
  // An operation that failed for all of its group.
  void note_discarded(bool is_of_gradients) { ++discarded_, thrown_away_ += is_of_gradients ? 1 : 0; }

  // faults.csv, of a case with faults.
  void write_faults(const std::vector<FaultRow>& rows);
  // The tables of the end, and report.json, which is returned: transfers, events of the simulator, and the
  // latest clock. `loads` by direction; of a mesh only the links that carried something: it has half a
  // million among 1024.
  // `segments`: where the network counts them.
  Json finish(const std::vector<ReplicaTotals>& totals, const Topology& topology,
              const std::vector<LinkLoad>& loads, std::int64_t transfers, std::uint64_t events,
              const std::optional<SegmentCount>& segments = {});

 private:
  void write_exchange(int step, int rule, const ExchangeRow& row);
  void write_schedule(Json line, double start_s, double done_s);
  void write_replicas(const std::vector<ReplicaTotals>& totals);
  void write_links(const Topology& topology, const std::vector<LinkLoad>& loads);
  void write_network(const Topology& topology, const std::vector<LinkLoad>& loads);
  void write_report(const Json& report);

  std::string folder_;
  const OperationPlan& plan_;
  int longest_overlap_ = 0;  // steps
  std::vector<NamedPart> parts_;
  CsvWriter exchanges_, breakdown_, steps_;
  // What the collectives of one name come to in a step.
  struct CollectiveSums {
    std::int64_t count = 0, bytes = 0;
    double seconds = 0, longest_s = 0;
  };

  std::optional<CsvWriter> pipeline_, tasks_, moves_, absences_, collectives_;
  std::map<int, std::vector<CollectiveSums>> collective_sums_;  // by step and collective
  bool has_lost_work_ = false;
  std::int64_t tasks_written_ = 0;
  std::int64_t discarded_ = 0, thrown_away_ = 0;  // operations, of them those of gradients
  std::ofstream schedule_;
  std::optional<TrainingJournal> journal_;
  OrderedRows<std::pair<int, int>, ExchangeRow> exchange_rows_;
  OrderedRows<int, StepRow> step_rows_;
  OrderedRows<int, PipelineRow> pipeline_rows_;
};

}  // namespace longhaul
