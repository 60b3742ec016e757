#include "cli/job_pool.h"

#include <fmt/core.h>
#include <poll.h>

#include <chrono>
#include <csignal>
#include <map>
#include <memory>

#include "cli/child_process.h"
#include "core/errors.h"
#include "core/index.h"

namespace longhaul {
namespace {

using SteadyClock = std::chrono::steady_clock;

class JobPool {
 public:
  JobPool(const std::vector<Job>& jobs, int parallel, std::string phase, LiveDisplay& display,
          const std::function<void(std::size_t, const JobResult&)>& finished)
      : jobs_(jobs),
        parallel_(as_index(parallel)),
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
    running_[next_] = {std::make_unique<ChildProcess>(job.arguments, job.folder + "/log.txt"),
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
  }

  void forward_interrupts() {
    const int interrupts = interrupts_so_far();
    if (interrupts == forwarded_) return;
    display_.line(interrupts == 1 ? "interrupted: waiting for the children to stop (Ctrl-C again kills them)"
                                  : "killing the children");
    for (auto& [index, running] : running_) running.child->send_signal(interrupts == 1 ? SIGINT : SIGKILL);
    forwarded_ = interrupts;
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
        result.error = fmt::format("ended with status {} without a word; see {}/log.txt", result.exit_status,
                                   jobs_[index].folder);
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
  const std::string phase_;
  LiveDisplay& display_;
  const std::function<void(std::size_t, const JobResult&)>& finished_;
  std::vector<JobResult> results_;
  std::map<std::size_t, Running> running_;
  std::size_t next_ = 0;
  int forwarded_ = 0;
  bool stopping_ = false;
  double total_weight_ = 0, done_weight_ = 0;
};

}  // namespace

std::vector<JobResult> run_jobs(const std::vector<Job>& jobs, int parallel, const std::string& phase,
                                LiveDisplay& display,
                                const std::function<void(std::size_t, const JobResult&)>& finished) {
  return JobPool(jobs, parallel, phase, display, finished).run();
}

}  // namespace longhaul
