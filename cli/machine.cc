#include "cli/machine.h"

#include <fmt/core.h>
#include <sys/resource.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "checks/work_estimate.h"
#include "core/base/errors.h"
#include "core/base/files.h"
#include "core/base/units.h"
#include "core/scenario/training_text.h"

namespace longhaul {
namespace {

namespace fs = std::filesystem;

// "MemTotal:       24000000 kB"
std::optional<double> total_memory() {
  const std::string text = read_file("/proc/meminfo").value_or("");
  const std::string key = "MemTotal:";
  const std::size_t at = text.find(key);
  if (at == std::string::npos) return std::nullopt;
  return 1024 * std::strtod(text.c_str() + at + key.size(), nullptr);
}

// Of the control group (v2): a number, or "max".
std::optional<double> group_memory() {
  const std::string text = read_file("/sys/fs/cgroup/memory.max").value_or("");
  if (text.empty() || !std::isdigit(static_cast<unsigned char>(text[0]))) return std::nullopt;
  return std::strtod(text.c_str(), nullptr);
}

// What to lower, the larger part first.
std::string what_to_lower(const Case& config, const TrainingMemory& memory) {
  const std::string tables =
      fmt::format("{} are tables of {} replicas of {} parameters: fewer replicas or a smaller train.model",
                  human_bytes(memory.tables), config.replicas, config.train->model.parameters());
  const std::string passes = fmt::format("{} are activations: a smaller train.batch or train.model.context",
                                         human_bytes(memory.passes));
  return memory.tables >= memory.passes ? tables + ", or ranks on several machines" : passes;
}

}  // namespace

std::optional<double> memory_here() {
  const std::optional<double> total = total_memory(), group = group_memory();
  if (total && group) return std::min(*total, *group);
  return total ? total : group;
}

std::optional<double> free_disk(const std::string& folder) {
  std::error_code error;
  fs::path place = fs::absolute(folder, error);
  while (!error && !place.empty() && !fs::exists(place, error) && place != place.root_path())
    place = place.parent_path();
  const fs::space_info space = fs::space(place, error);
  if (error) return std::nullopt;
  return static_cast<double>(space.available);
}

void check_memory(const WorkEstimate& work, const std::string& device, double memory, bool gpu_here) {
  if (!work.largest || work.memory_bytes <= memory) return;
  const Case& config = *work.largest->example;
  const std::string where = device.empty() ? config.train->device : device;
  if (where == "cuda" || (where == "auto" && gpu_here)) return;
  const TrainingMemory parts = training_memory(config, cores_here());
  const bool one_is_enough = parts.together() <= memory;
  throw InputError("train",
                   one_is_enough ? fmt::format("trainings that run at the same time need about {} of memory",
                                               human_bytes(work.memory_bytes))
                                 : fmt::format("method \"{}\" needs about {} of memory", config.method.label,
                                               human_bytes(parts.together())),
                   fmt::format("the {} of this machine", human_bytes(memory)),
                   one_is_enough ? "fewer --jobs" : what_to_lower(config, parts));
}

void check_address_space(const WorkEstimate& work, double limit) {
  if (!work.largest) return;
  const Case& config = *work.largest->example;
  // Those of Debian with two threads; in bf16 LibTorch (trainer/model/libtorch.h).
  const double libraries = config.train->precision == Precision::kFloat32 ? 0.25e9 : 1.05e9;
  const double needed = libraries + training_memory(config, cores_here()).together();
  if (limit >= needed) return;
  throw InputError(
      "train",
      fmt::format("the address space of a process is limited to {} here (ulimit -v), and the training "
                  "of method \"{}\" needs about {}",
                  human_bytes(limit), config.method.label, human_bytes(needed)),
      "a limit above that, or none", "ulimit -v unlimited, or the memory that a batch system is asked for");
}

namespace {

// Packets take as long as they are many.
std::vector<std::string> long_replays(const WorkEstimate& work) {
  constexpr double kLong_s = 3600;
  double packets_s = 0;
  for (const CaseEstimate& estimate : work.cases)
    if (estimate.config->network.fidelity == "packet") packets_s += estimate.replay.seconds;
  if (packets_s < kLong_s) return {};
  return {
      fmt::format("fidelity \"packet\" takes about {} of one core: take fewer steps or a smaller payload, or "
                  "fidelity \"flow\", "
                  "which takes seconds (docs/model.md)",
                  human_duration(packets_s))};
}

}  // namespace

std::vector<std::string> machine_warnings(const WorkEstimate& work, const std::string& file,
                                          const std::string& folder, const std::string& device) {
  std::error_code ignored;
  rlimit limit{};  // of the address space (ulimit -v)
  try {
    // Where there is a GPU it is likely to take the replicas of a case with `device` "auto".
    if (const std::optional<double> memory = memory_here())
      check_memory(work, device, *memory, fs::exists("/dev/nvidiactl", ignored));
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
      check_address_space(work, static_cast<double>(limit.rlim_cur));
  } catch (const InputError& error) {
    throw error.in_file(file);
  }
  std::vector<std::string> warnings = long_replays(work);
  const std::optional<double> free = free_disk(folder);
  if (free && work.disk_bytes > *free)
    warnings.push_back(fmt::format(
        "the run takes about {} of disk, and where {} is {} are free: name another folder with --out, "
        "or leave something out (fewer cases, a smaller model)",
        human_bytes(work.disk_bytes), folder, human_bytes(*free)));
  return warnings;
}

void check_corpora(const WorkPlan& plan, const std::string& file) {
  try {
    for (const Training& training : plan.trainings)
      if (training.example->train) check_corpus_is_here(training.example->train->data.corpus);
  } catch (const InputError& error) {
    throw error.in_file(file);
  }
}

int cores_here() {
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace longhaul
