// Back-ends: how the work of R replicas is spread over the processor. The loop is the reference: one replica
// after the other; the threads give a task per replica to a pool. Tasks share nothing that they write and
// every sum has a fixed order, so both make the same bits whatever the number of threads is. Stacked asks for
// batched products over replicas (model/stacked_decoder.h); the rest of the host's work goes to another
// back-end. Its sums have another order: it agrees with the loop to 1e-5 after a step in float32.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace longhaul {

class Backend {
 public:
  virtual ~Backend() = default;
  // Runs task(0) … task(count - 1) and returns when all are done. Where tasks throw, the exception of the
  // lowest number is thrown on, after all others ended.
  void for_each(int count, const std::function<void(int)>& task);

  using RoundTask = std::function<void(int round, int i)>;
  using AfterRound = std::function<bool(int round)>;
  // The same `rounds` times, without a meeting between them: task(round, i) follows task(round - 1, i) and
  // waits for nothing else, but that none is more than a few rounds ahead of another. `after` is called on
  // the calling thread as soon as a round is done, in order, while later ones may be at work; where it
  // returns false, the rounds that were begun are finished, and no other is begun. So every i has taken the
  // same number of rounds in the end: those that `after` has seen. Where tasks throw, the exception of the
  // lowest round's lowest i is thrown on, after the rounds before it and when nothing is at work any more;
  // what `after` throws likewise.
  virtual void for_each_round(int count, int rounds, const RoundTask& task, const AfterRound& after) = 0;
  virtual int threads() const = 0;
  virtual std::string name() const = 0;  // loop, threads or stacked
  virtual bool stacks() const { return false; }
};

std::unique_ptr<Backend> make_loop_backend();
// `prepare` runs once on each thread of the pool before its first task.
std::unique_ptr<Backend> make_thread_backend(
    int threads, std::function<void()> prepare = [] {});

std::unique_ptr<Backend> make_stacked_backend(std::unique_ptr<Backend> host);

constexpr std::int64_t kPieceColumns = 1 << 16;  // 256 KiB of each row, a fraction of a cache

// Runs work(begin, end) over [0, columns) in pieces of kPieceColumns, whatever the number of threads.
void for_each_piece(Backend& backend, std::int64_t columns,
                    const std::function<void(std::int64_t, std::int64_t)>& work);

// How many threads this process may use.
int available_threads();

}  // namespace longhaul
