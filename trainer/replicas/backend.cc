#include "trainer/replicas/backend.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace longhaul {
namespace {

constexpr std::int64_t kPiece = 1 << 16;  // columns: 256 KiB of each row, a fraction of a cache

// Remembers the exception of the lowest task, so that what a user sees does not depend on who was faster.
class FirstError {
 public:
  void keep(int task) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (error_ && task_ < task) return;
    error_ = std::current_exception();
    task_ = task;
  }
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  std::mutex mutex_;
  std::exception_ptr error_;
  int task_ = 0;
};

class LoopBackend : public Backend {
 public:
  void for_each(int count, const std::function<void(int)>& task) override {
    FirstError error;
    for (int i = 0; i < count; ++i) try {
        task(i);
      } catch (...) {
        error.keep(i);
      }
    error.rethrow();
  }
  int threads() const override { return 1; }
  std::string name() const override { return "loop"; }
};

class ThreadBackend : public Backend {
 public:
  ThreadBackend(int threads, std::function<void()> prepare) {
    for (int i = 0; i < threads; ++i)
      threads_.emplace_back([this, prepare] {
        prepare();
        work();
      });
  }

  ~ThreadBackend() override {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      is_closing_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  void for_each(int count, const std::function<void(int)>& task) override {
    FirstError error;
    {
      std::unique_lock<std::mutex> lock(mutex_);
      task_ = &task;
      error_ = &error;
      count_ = count;
      next_ = 0;
      busy_ = threads();
      ++round_;
      wake_.notify_all();
      idle_.wait(lock, [this] { return busy_ == 0; });
    }
    error.rethrow();
  }

  int threads() const override { return static_cast<int>(threads_.size()); }
  std::string name() const override { return "threads"; }

 private:
  void work() {
    for (int seen = 0;;) {
      {
        std::unique_lock<std::mutex> lock(mutex_);
        wake_.wait(lock, [&] { return is_closing_ || round_ != seen; });
        if (is_closing_) return;
        seen = round_;
      }
      take_tasks();
      const std::lock_guard<std::mutex> lock(mutex_);
      if (--busy_ == 0) idle_.notify_one();
    }
  }

  void take_tasks() {
    for (int i; (i = next_.fetch_add(1)) < count_;) try {
        (*task_)(i);
      } catch (...) {
        error_->keep(i);
      }
  }

  std::mutex mutex_;
  std::condition_variable wake_, idle_;
  const std::function<void(int)>* task_ = nullptr;
  FirstError* error_ = nullptr;
  int count_ = 0, busy_ = 0, round_ = 0;
  std::atomic<int> next_{0};
  bool is_closing_ = false;
  std::vector<std::thread> threads_;
};

class StackedBackend : public Backend {
 public:
  explicit StackedBackend(std::unique_ptr<Backend> host) : host_(std::move(host)) {}

  void for_each(int count, const std::function<void(int)>& task) override { host_->for_each(count, task); }
  int threads() const override { return host_->threads(); }
  std::string name() const override { return "stacked"; }
  bool stacks() const override { return true; }

 private:
  std::unique_ptr<Backend> host_;
};

}  // namespace

std::unique_ptr<Backend> make_stacked_backend(std::unique_ptr<Backend> host) {
  return std::make_unique<StackedBackend>(std::move(host));
}

std::unique_ptr<Backend> make_loop_backend() {
  return std::make_unique<LoopBackend>();
}

std::unique_ptr<Backend> make_thread_backend(int threads, std::function<void()> prepare) {
  return std::make_unique<ThreadBackend>(threads, std::move(prepare));
}

int piece_count(std::int64_t columns) {
  return static_cast<int>((columns + kPiece - 1) / kPiece);
}

void for_each_piece(Backend& backend, std::int64_t columns,
                    const std::function<void(std::int64_t, std::int64_t)>& work) {
  backend.for_each(piece_count(columns),
                   [&](int piece) { work(piece * kPiece, std::min(columns, (piece + 1) * kPiece)); });
}

int available_threads() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) return std::max(1, CPU_COUNT(&allowed));
  return std::max(1u, std::thread::hardware_concurrency());
}

}  // namespace longhaul
