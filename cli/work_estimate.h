// What a run has to do, the trainings, each once, and the cases; and what that will take, before anything
// runs, against what this machine has: time, memory and disk. Orders of magnitude, from counts that were held
// against runs.
#pragma once

#include <optional>
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
  double training_s = 0, replay_s = 0;  // processor time
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

// Bytes of memory that this process may have: of the machine, or of its control group where that allows less.
// None where the system does not say.
std::optional<double> memory_here();

// Bytes free on the file system of `folder`, or of the nearest folder above it that exists.
std::optional<double> free_disk(const std::string& folder);

// Throws InputError (path `train`) where the trainings of `work` need more than `memory` bytes, with what
// they need and what to lower. A training on a GPU is not held against them. `device`: of the command line,
// or "".
void check_memory(const WorkEstimate& work, const std::string& device, double memory, bool gpu_here);

// Throws InputError (path `train`) where the largest training of `work` does not fit into an address space of
// `limit` bytes: what the trainer's libraries take, and what it needs itself.
void check_address_space(const WorkEstimate& work, double limit);

// All of that for a run into `folder`: throws InputError (in `file`) as check_memory(), and returns what to
// warn of: more disk than is free, and packets for hours.
std::vector<std::string> machine_warnings(const WorkEstimate& work, const std::string& file,
                                          const std::string& folder, const std::string& device);

// Throws InputError (path train.data.corpus, in `file`) where a training of `plan` takes a corpus that this
// machine does not have, with the script that brings it.
void check_corpora(const WorkPlan& plan, const std::string& file);

int cores_here();

}  // namespace longhaul
