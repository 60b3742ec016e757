// Ranks as threads of the test.
#pragma once

#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace longhaul {

// Runs body(rank) once as each of `size` ranks. What the first of them threw is thrown again here when all
// have ended; `release` ends the waiting of the others for it.
inline void run_rank_threads(
    int size, const std::function<void(int rank)>& body, const std::function<void()>& release = [] {}) {
  std::exception_ptr first;
  std::mutex mutex;
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] {
      try {
        body(rank);
      } catch (...) {
        {
          const std::lock_guard<std::mutex> lock(mutex);
          if (!first) first = std::current_exception();
        }
        release();
      }
    });
  for (std::thread& thread : threads) thread.join();
  if (first) std::rethrow_exception(first);
}

}  // namespace longhaul
