#include "trainer/replicas/backend.h"

#include <sched.h>

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <queue>
#include <thread>
#include <vector>

#include "core/base/index.h"

namespace longhaul {
namespace {

class LoopBackend : public Backend {
 public:
  void for_each_round(int count, int rounds, const RoundTask& task, const AfterRound& after) override {
    for (int round = 0; round < rounds; ++round) {
      std::exception_ptr error;
      for (int i = 0; i < count; ++i) try {
          task(round, i);
        } catch (...) {
          if (!error) error = std::current_exception();
        }
      if (error) std::rethrow_exception(error);
      if (!after(round)) return;
    }
  }
  int threads() const override { return 1; }
  std::string name() const override { return "loop"; }
};

class StackedBackend : public Backend {
 public:
  explicit StackedBackend(std::unique_ptr<Backend> host) : host_(std::move(host)) {}

  void for_each_round(int count, int rounds, const RoundTask& task, const AfterRound& after) override {
    host_->for_each_round(count, rounds, task, after);
  }
  int threads() const override { return host_->threads(); }
  std::string name() const override { return "stacked"; }
  bool stacks() const override { return true; }

 private:
  std::unique_ptr<Backend> host_;
};

// Rounds that one may be ahead of the slowest: enough for no core to wait, and few to finish after a stop.
constexpr int kMostAhead = 4;

// The rounds that are at work, and how far they are; under the mutex of the pool.
struct Rounds {
  struct Task {
    int round, i;
    bool operator>(const Task& other) const {
      return round != other.round ? round > other.round : i > other.i;
    }
  };

  Rounds(int count, int rounds, const Backend::RoundTask& work)
      : work(&work), limit(rounds), left(as_index(rounds), count) {
    for (int i = 0; i < count; ++i) ready.push({0, i});
  }

  bool has_next() const { return !ready.empty() && ready.top().round < std::min(limit, done + kMostAhead); }
  Task next() {
    const Task task = ready.top();
    ready.pop();
    begun = std::max(begun, task.round);
    ++busy;
    return task;
  }
  void ended(const Task& task) {
    --busy;
    --left[as_index(task.round)];
    while (done < static_cast<int>(left.size()) && is_done(done)) ++done;
    ready.push({task.round + 1, task.i});
  }
  bool is_done(int round) const { return left[as_index(round)] == 0; }

  void begin_no_more() { limit = std::min(limit, begun + 1); }
  // The error of the lowest task: what a user sees must not depend on who was faster.
  void failed(const Task& task, std::exception_ptr what) {
    if (!error || first_failed > task) {
      error = std::move(what);
      first_failed = task;
    }
    limit = std::min(limit, task.round + 1);
  }

  const Backend::RoundTask* work;
  int limit;              // rounds to go through
  std::vector<int> left;  // tasks of a round that are not done
  std::priority_queue<Task, std::vector<Task>, std::greater<Task>> ready;
  int done = 0;   // rounds that are done
  int begun = 0;  // the highest round that has a task at work or done
  int busy = 0;   // tasks at work
  std::exception_ptr error;
  Task first_failed{};
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

  void for_each_round(int count, int rounds, const RoundTask& task, const AfterRound& after) override {
    if (count == 0) {
      for (int round = 0; round < rounds && after(round); ++round) {
      }
      return;
    }
    std::unique_lock<std::mutex> lock(mutex_);
    Rounds at_work(count, rounds, task);
    rounds_ = &at_work;
    wake_.notify_all();
    for (int round = 0; round < at_work.limit; ++round) {
      done_.wait(lock, [&] { return at_work.is_done(round); });
      if (at_work.error && at_work.first_failed.round == round) break;
      lock.unlock();
      bool goes_on = true;
      std::exception_ptr error;
      try {
        goes_on = after(round);
      } catch (...) {
        error = std::current_exception();
      }
      lock.lock();
      if (error) at_work.failed({round, 0}, error);
      if (!goes_on) at_work.begin_no_more();
    }
    done_.wait(lock, [&] { return at_work.busy == 0; });
    rounds_ = nullptr;
    if (at_work.error) std::rethrow_exception(at_work.error);
  }

  int threads() const override { return static_cast<int>(threads_.size()); }
  std::string name() const override { return "threads"; }

 private:
  void work() {
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      wake_.wait(lock, [this] { return is_closing_ || (rounds_ && rounds_->has_next()); });
      if (is_closing_) return;
      Rounds& rounds = *rounds_;
      const Rounds::Task task = rounds.next();
      lock.unlock();
      std::exception_ptr error;
      try {
        (*rounds.work)(task.round, task.i);
      } catch (...) {
        error = std::current_exception();
      }
      lock.lock();
      if (error) rounds.failed(task, error);
      rounds.ended(task);
      if (rounds.has_next()) wake_.notify_all();  // a thread may have had nothing to do
      if (rounds.is_done(task.round) || rounds.busy == 0) done_.notify_one();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_, done_;  // for the threads of the pool; for the caller
  Rounds* rounds_ = nullptr;
  bool is_closing_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace

void Backend::for_each(int count, const std::function<void(int)>& task) {
  for_each_round(
      count, 1, [&](int, int i) { task(i); }, [](int) { return true; });
}

std::unique_ptr<Backend> make_stacked_backend(std::unique_ptr<Backend> host) {
  return std::make_unique<StackedBackend>(std::move(host));
}

std::unique_ptr<Backend> make_loop_backend() {
  return std::make_unique<LoopBackend>();
}

std::unique_ptr<Backend> make_thread_backend(int threads, std::function<void()> prepare) {
  return std::make_unique<ThreadBackend>(threads, std::move(prepare));
}

void for_each_piece(Backend& backend, std::int64_t columns,
                    const std::function<void(std::int64_t, std::int64_t)>& work) {
  backend.for_each(static_cast<int>((columns + kPieceColumns - 1) / kPieceColumns), [&](int piece) {
    work(piece * kPieceColumns, std::min(columns, (piece + 1) * kPieceColumns));
  });
}

int available_threads() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) return std::max(1, CPU_COUNT(&allowed));
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace longhaul
