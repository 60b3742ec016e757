#include "cli/job_pool.h"

#include <fmt/core.h>
#include <poll.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>

#include "cli/child_process.h"
#include "cli/live_display.h"
#include "core/base/errors.h"
#include "core/base/index.h"

namespace longhaul {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr std::size_t kMostOfALine = 300;

// That has words: mpirun draws lines around what it says.
std::string last_line(const std::string& file) {
  std::ifstream in(file);
  std::string last;
  for (std::string line; std::getline(in, line);)
    if (line.find_first_not_of("- ") != std::string::npos) last = line;
  return last.substr(0, kMostOfALine);
}

// Of a child that has not said why it failed.
std::string end_in_words(int status, const std::string& log) {
  const std::string how =
      status > 128 ? fmt::format("was ended by signal {} ({})", status - 128, strsignal(status - 128))
                   : fmt::format("ended with status {} without a word", status);
  const std::string last = last_line(log);
  return fmt::format("{}; {}", how,
                     last.empty() ? log + " is empty" : fmt::format("the last line of {}: {}", log, last));
}

class JobPool {
 public:
  JobPool(const std::vector<Job>& jobs, int parallel, std::string phase, LiveDisplay& display,
          const std::function<void(std::size_t, const JobResult&)>& finished, std::chrono::seconds patience)
      : jobs_(jobs),
        parallel_(as_index(parallel)),
        patience_(patience),
        phase_(std::move(phase)),
        display_(display),
        finished_(finished),
        results_(jobs.size()) {
    for (const Job& job : jobs_) total_weight_ += job.weight;
  }

  std::vector<JobResult> run() {
    display_.start_phase();
    while (may_start() || !running_.empty()) {
      while (may_start() && running_.size() < parallel_) start_next();
      wait_for_messages();
      forward_interrupts();
      kill_the_stuck();
      reap();
      show();
    }
    return std::move(results_);
  }

 private:
  struct Running {
    std::unique_ptr<ChildProcess> child;
    SteadyClock::time_point start;
  };

  bool may_start() const { return next_ < jobs_.size() && !stopping_ && interrupts_so_far() == 0; }

  void start_next() {
    const Job& job = jobs_[next_];
    running_[next_] = {std::make_unique<ChildProcess>(job.arguments, job.folder + "/log.txt", job.is_mpirun),
                       SteadyClock::now()};
    ++next_;
  }

  void wait_for_messages() {
    std::vector<pollfd> descriptors;
    std::vector<ChildProcess*> children;
    for (auto& [index, running] : running_) {
      descriptors.push_back({running.child->descriptor(), POLLIN, 0});
      children.push_back(running.child.get());
    }
    if (poll(descriptors.data(), descriptors.size(), 200) <= 0) return;
    for (std::size_t i = 0; i < descriptors.size(); ++i)
      if (descriptors[i].revents) children[i]->read_messages();
    for (auto& [index, running] : running_)
      for (const std::string& note : running.child->take_notes())
        display_.line(jobs_[index].name + ": " + note);
  }

  void forward_interrupts() {
    const int interrupts = interrupts_so_far();
    if (interrupts <= forwarded_) return;
    display_.line(interrupts == 1 ? "interrupted: waiting for the children to stop (Ctrl-C again kills them)"
                                  : "killing the children");
    for (auto& [index, running] : running_) interrupts == 1 ? running.child->stop() : running.child->kill();
    if (forwarded_ == 0) interrupted_ = SteadyClock::now();
    forwarded_ = interrupts;
  }

  // Children end themselves when they are told to stop and are stuck (core/base/child_main.h); not one that
  // is stopped (Ctrl-Z), or that waits for a file system that is gone.
  void kill_the_stuck() {
    if (forwarded_ != 1 || running_.empty() || SteadyClock::now() - interrupted_ < patience_) return;
    display_.line(fmt::format("killing the children: not stopped after {} s", patience_.count()));
    for (auto& [index, running] : running_) running.child->kill();
    forwarded_ = 2;
  }

  void reap() {
    for (auto entry = running_.begin(); entry != running_.end();) {
      if (!entry->second.child->closed()) {
        ++entry;
        continue;
      }
      const std::size_t index = entry->first;
      ChildProcess& child = *entry->second.child;
      JobResult& result = results_[index];
      result.exit_status = child.wait();
      result.error = child.error();
      result.result = child.result();
      result.wall_s = std::chrono::duration<double>(SteadyClock::now() - entry->second.start).count();
      if (result.exit_status != kDone && result.error.empty())
        result.error = end_in_words(result.exit_status, jobs_[index].folder + "/log.txt");
      stopping_ = stopping_ || result.exit_status == kInputWrong;
      done_weight_ += jobs_[index].weight;
      entry = running_.erase(entry);
      finished_(index, result);
    }
  }

  void show() {
    if (running_.empty()) return;
    double done = done_weight_;
    std::vector<std::string> now;
    for (const auto& [index, running] : running_) {
      done += jobs_[index].weight * running.child->fraction();
      now.push_back(jobs_[index].name + ": " + running.child->text());
    }
    display_.update(phase_, done / total_weight_, join(now, "; "));
  }

  const std::vector<Job>& jobs_;
  const std::size_t parallel_;
  const std::chrono::seconds patience_;
  const std::string phase_;
  LiveDisplay& display_;
  const std::function<void(std::size_t, const JobResult&)>& finished_;
  std::vector<JobResult> results_;
  std::map<std::size_t, Running> running_;
  std::size_t next_ = 0;
  int forwarded_ = 0;
  SteadyClock::time_point interrupted_;
  bool stopping_ = false;
  double total_weight_ = 0, done_weight_ = 0;
};

}  // namespace

std::vector<JobResult> run_jobs(const std::vector<Job>& jobs, int parallel, const std::string& phase,
                                LiveDisplay& display,
                                const std::function<void(std::size_t, const JobResult&)>& finished,
                                std::chrono::seconds patience) {
  return JobPool(jobs, parallel, phase, display, finished, patience).run();
}

}  // namespace longhaul
