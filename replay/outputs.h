// The files that a replay leaves in its folder, as docs/formats.md describes them: the same for every
// fidelity.
#pragma once

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/csv.h"
#include "core/base/json.h"
#include "core/plan/operations.h"
#include "core/plan/schedule.h"
#include "core/plan/trace.h"
#include "net/topology.h"
#include "replay/faults.h"
#include "replay/network/network.h"
#include "replay/network/sync_parts.h"
#include "replay/pipeline_run.h"
#include "replay/rebalance.h"
#include "replay/training_journal.h"

namespace longhaul {

// Rows that become known in the order of the simulation and are written in the order of their table: by block
// (a step, or one rule's exchange of a step), then by replica. A block is written as soon as it is over, so
// that a run that is killed leaves what it had.
//
// Row has a member `replica`. Key is ordered as the table is.
template <typename Key, typename Row>
class OrderedRows {
 public:
  using Writer = std::function<void(const Key&, const Row&)>;

  explicit OrderedRows(Writer write) : write_(std::move(write)) {}

  void add(const Key& key, const Row& row) { blocks_[key].push_back(row); }

  // Null where it is not there, or written.
  Row* find(const Key& key, int replica) {
    const auto block = blocks_.find(key);
    if (block == blocks_.end()) return nullptr;
    const auto row = std::find_if(block->second.begin(), block->second.end(),
                                  [&](const Row& known) { return known.replica == replica; });
    return row == block->second.end() ? nullptr : &*row;
  }

  // No more rows come of blocks of which `is_over` says so; then it says so of all before them.
  template <typename IsOver>
  void close(const IsOver& is_over) {
    for (; !blocks_.empty() && is_over(blocks_.begin()->first); blocks_.erase(blocks_.begin())) {
      auto& [key, rows] = *blocks_.begin();
      std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.replica < b.replica; });
      for (const Row& row : rows) write_(key, row);
    }
  }

 private:
  Writer write_;
  std::map<Key, std::vector<Row>> blocks_;
};

struct ExchangeRow {
  int replica = 0;
  double ready_s = 0, start_s = 0, done_s = 0;
  std::int64_t bytes = 0;
  SyncParts parts;       // of done_s − start_s
  double awaited_s = 0;  // the replica came to the point that needs it: ready_s of one that blocks
};

struct StepRow {
  int replica = 0;
  double computed_s = 0, done_s = 0;
};

// Of a worker in a step of a pipeline.
struct PipelineRow {
  int replica = 0;  // the worker
  int stage = 0;    // that it serves at that step
  PipelineRun::WorkerTimes times;
};

struct ReplicaTotals {
  double compute_s = 0, idle_s = 0, clock_s = 0;
  std::int64_t bytes_sent = 0;
  double bubble_s = 0, stage_wait_s = 0;  // of idle_s, with stages
  int stage = 0;                          // that it served at the end
  // Where replicas may be gone: steps that went into the model, compute that did not, and time without taking
  // part.
  std::int64_t useful_steps = 0;
  double lost_s = 0, gone_s = 0;
};

// When a replica was gone, and what it downloaded. Seconds since training began, negative: not.
struct AbsenceRow {
  Absence absence;
  double left_s = 0, back_s = -1, state_s = -1, joined_s = -1;
  std::int64_t bytes = 0;
};

// When one exchange of one group was begun (the last member posted it) and over, since training began.
struct ScheduleRow {
  int rule = 0, step = 0;
  const std::vector<int>* group = nullptr;  // null: everyone
  double start_s = 0, done_s = 0;
};

// A merge of contributions, in the words of core/plan/schedule.h; since training began: when the last of them
// was posted, and when it was made.
struct MergeRow {
  Merge merge;
  double start_s = 0, done_s = 0;
};

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
  std::optional<CsvWriter> pipeline_, tasks_, moves_, absences_;
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
