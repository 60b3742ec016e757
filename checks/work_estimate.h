// What a run has to do, the trainings, each once, and the cases; and what that will take, before anything
// runs: time, memory and disk. Orders of magnitude, from counts that were held against runs.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "core/scenario/scenario.h"
#include "replay/predict/estimate.h"

namespace longhaul {

struct Training {
  std::string key;
  const Case* example = nullptr;  // the scenario's first case with this key; all others train the same
  std::vector<const Case*> cases;
};

struct WorkPlan {
  std::vector<Training> trainings;
  std::vector<const Case*> cases;  // in the order of the scenario
};

WorkPlan plan_work(const Scenario& scenario);

// What `names` of its cases need.
WorkPlan part_of(const WorkPlan& whole, const std::set<std::string>& names);

// Steps that are walked to count what a replay carries. With more of them the counts are those of the first
// ones, scaled up: a plan repeats itself.
constexpr int kMostWalkedSteps = 200'000;

// Of a replay that is a program of its own, which takes a moment to start.
constexpr double kStartOfReplay_s = 0.02;

// The estimate of a case's replay, walking at most about kMostWalkedSteps of its steps, and at least a few
// periods of every operation. Throws InputError as estimate() does.
ReplayEstimate replay_estimate(const Case& config);

// Of one training, in bytes: tables of all replicas (weights, gradients, states of the optimizers), and what
// the passes of the replicas that compute at the same time keep.
struct TrainingMemory {
  double tables = 0, passes = 0;
  double text = 0;  // its tokens, where it is no small one

  double together() const;
};
TrainingMemory training_memory(const Case& config, int threads);

struct CaseEstimate {
  const Case* config = nullptr;
  ReplayEstimate replay;
};

struct WorkEstimate {
  std::vector<CaseEstimate> cases;
  double training_s = 0, replay_s = 0;  // of two cores as those it was measured on, and of one
  double segments = 0;                  // of all cases in fidelity linux, those of others too
  double memory_bytes = 0;              // of the `jobs` largest trainings together
  double disk_bytes = 0;                // at the fullest moment
  const Training* largest = nullptr;    // the training with the largest memory; points into the plan
};

// `jobs` trainings or replays at a time, `threads` for each; `keeps_tables`: as below.
WorkEstimate estimate_work(const WorkPlan& plan, int jobs, int threads, bool keeps_tables);

// The names of the cases of shard i of n, given as "2/5" (throws InputError). Cases that share a training
// stay together, so that no training is made twice. Groups are dealt by their estimated seconds: the longest
// first, each to the shard with the least so far, the first of several alike. The same on every machine.
std::set<std::string> cases_of_shard(const WorkPlan& whole, const std::string& shard);
// The shard (from 0) of each group.
std::vector<int> shards_by_cost(const std::vector<double>& costs, int shards);

// Whether a finished case leaves its tables behind, or its record and its totals alone.
bool keeps_tables(const Scenario& scenario);

}  // namespace longhaul
