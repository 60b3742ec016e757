#include "trainer/replicas/backend.h"

#include <sched.h>

#include <algorithm>
#include <exception>
#include <thread>

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
  return std::max(1u, std::thread::hardware_concurrency());
}

}  // namespace longhaul
