// Rows of the tables that a replay leaves (docs/formats.md). Times are seconds since training began.
#pragma once

#include <cstdint>
#include <vector>

#include "core/plan/absences.h"
#include "core/plan/schedule.h"
#include "replay/network/sync_parts.h"
#include "replay/pipeline/pipeline_run.h"

namespace longhaul {

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
  double inside_wait_s = 0;               // of idle_s: for collectives inside its steps
  // Where replicas may be gone: steps that went into the model, compute that did not, and time without taking
  // part.
  std::int64_t useful_steps = 0;
  double lost_s = 0, gone_s = 0;
  double batch_wait_s = 0;  // of idle_s: for the samples of rollouts
  double cut_wait_s = 0;    // of idle_s: at the end of a step's compute, until it crashed
};

// A collective of one group inside a step: from when the last member was ready until all were done.
struct CollectiveRow {
  int collective = 0;      // of the plan's step graph
  std::int64_t bytes = 0;  // that all members sent
  double start_s = 0, done_s = 0;
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

}  // namespace longhaul
