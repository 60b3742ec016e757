#include "cli/replay_threads.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>

#include "core/base/child_main.h"
#include "core/base/index.h"
#include "replay/predict/estimate.h"

namespace longhaul {
namespace {

// Where one replay is, for the thread that shows it.
class SharedProgress : public ProgressReporter {
 public:
  SharedProgress() : ProgressReporter("plan", -1, /*quiet=*/true) {}

  void progress(double done, double total, const std::string& /*unit*/,
                const std::string& /*text*/) override {
    if (total > 0) fraction_ = std::min(1., done / total);
  }
  double fraction() const { return fraction_; }

 private:
  std::atomic<double> fraction_{0};
};

class ReplayThreads {
 public:
  ReplayThreads(std::vector<ReplayTask>& tasks, const std::function<void(const ReplayTask&)>& done)
      : tasks_(tasks), done_(done), progress_(tasks.size()) {
    for (const ReplayTask& task : tasks)
      weights_.push_back(std::max(1e-3, estimate(task.config, task.trace).seconds));
  }

  void run(int threads, const std::string& phase, LiveDisplay& display) {
    display.start_phase();
    std::vector<std::thread> workers;
    const std::size_t count = std::min(as_index(threads), tasks_.size());
    running_ = count;
    for (std::size_t i = 0; i < count; ++i) workers.emplace_back([this] { work(); });
    {
      std::unique_lock lock(mutex_);
      while (!ended_.wait_for(lock, std::chrono::milliseconds(200), [&] { return running_ == 0; }))
        display.update(phase, fraction(), names());
    }
    for (std::thread& worker : workers) worker.join();
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  void work() {
    try {
      for (std::size_t i = next_++; i < tasks_.size() && !failed_; i = next_++) {
        check_interrupt();
        replay_here(tasks_[i], progress_[i]);
        if (done_ && tasks_[i].times) done_(tasks_[i]);
        progress_[i].progress(1, 1, "", "");
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      failed_ = true;
      if (!failure_) failure_ = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    if (--running_ == 0) ended_.notify_one();
  }

  double fraction() const {
    double done = 0, all = 0;
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      done += weights_[i] * progress_[i].fraction();
      all += weights_[i];
    }
    return all > 0 ? done / all : 0;
  }

  // Of those that run.
  std::string names() const {
    std::string names;
    for (std::size_t i = 0; i < std::min<std::size_t>(next_, tasks_.size()); ++i)
      if (progress_[i].fraction() < 1) names += (names.empty() ? "" : "; ") + tasks_[i].name;
    return names;
  }

  std::vector<ReplayTask>& tasks_;
  const std::function<void(const ReplayTask&)>& done_;
  std::vector<SharedProgress> progress_;
  std::vector<double> weights_;
  std::atomic<std::size_t> next_{0};
  std::atomic<bool> failed_{false};
  std::mutex mutex_;
  std::condition_variable ended_;
  std::size_t running_ = 0;
  std::exception_ptr failure_;
};

}  // namespace

void replay_on_threads(std::vector<ReplayTask>& tasks, int threads, const std::string& phase,
                       LiveDisplay& display, const std::function<void(const ReplayTask&)>& done) {
  ReplayThreads(tasks, done).run(threads, phase, display);
}

}  // namespace longhaul
