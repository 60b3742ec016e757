// What this machine has, and whether the work of a run fits: memory, disk, address space, corpora.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "checks/work_estimate.h"

namespace longhaul {

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
