// Trainings that are killed with SIGKILL and resumed, held against the ones that were not.
#pragma once

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/integration/command.h"

namespace longhaul {

// A training of the small scenario that ran to its end undisturbed.
struct WholeTraining {
  std::string folder;        // train/KEY of a run: case.json and its tables
  double seconds = 0;        // that it takes
  std::string journal = {};  // file; empty where times decide nothing
};

// Made once for all tests of this process; they only read it.
const WholeTraining& whole_training(const Json& method, int steps, int checkpoint_every);

// Kills a training at a random moment of its life and resumes it, until it was killed `kills` times; where it
// ends before that, it is compared and begun anew. Expects the tables of `whole` at each end. Returns how
// often it ended.
int expect_whole_after_kills(const WholeTraining& whole, int kills, std::mt19937& random);

// `longhaul run` with these arguments: killed three times, each a drawn time of so many milliseconds after
// its start, and resumed until it ends well. Returns its last end.
CommandResult run_through_kills(std::vector<std::string> arguments, std::pair<int, int> milliseconds,
                                std::mt19937& random);

// Starts longhaul-train on the case of `whole` without waiting.
pid_t start_training(const WholeTraining& whole, const std::string& out, bool resume);
// Tables and result are those of `whole`.
void expect_same_training(const std::string& out, const WholeTraining& whole);
// Of two folders of `longhaul run`.
void expect_same_run(const std::string& found, const std::string& expected);

}  // namespace longhaul
