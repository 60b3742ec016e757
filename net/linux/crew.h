// Threads that share the items of a loop, many short loops one after the other.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace longhaul::linux_tcp {

class Crew {
 public:
  // The caller of run() is one of `threads` (≥ 1).
  explicit Crew(int threads);
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  bool is_alone() const { return helpers_.empty(); }
  // Calls `work` for each of 0 … count − 1, and returns when all are done. Each thread begins with a part of
  // its own, the same one for the same count, whose data its cache may hold, and then takes from the others'.
  // Throws what the lowest item has thrown.
  void run(std::size_t count, const std::function<void(std::size_t item)>& work);

 private:
  struct alignas(64) Part {
    std::atomic<std::size_t> next{0};
    std::size_t end = 0;
  };

  void help(std::size_t own);
  void take_part(std::size_t own);
  void note_failure(std::size_t item);

  std::unique_ptr<Part[]> parts_;
  std::size_t part_count_;
  const std::function<void(std::size_t)>* work_ = nullptr;
  // The number of the loop, whether helpers may join it, and how many have: the caller does not wait for one
  // that has not woken up.
  struct Gate {
    static constexpr std::uint64_t kOpen = 0x10000, kLoop = 2 * kOpen;
  };
  alignas(64) std::atomic<std::uint64_t> gate_{0};
  alignas(64) std::atomic<std::uint64_t> left_{0};  // helpers that have joined it and are done with it
  std::atomic<int> sleepers_{0};
  std::mutex mutex_;
  std::condition_variable begun_;
  bool is_over_ = false;
  std::exception_ptr failure_;
  std::size_t failed_ = 0;
  std::vector<std::thread> helpers_;
};

}  // namespace longhaul::linux_tcp
