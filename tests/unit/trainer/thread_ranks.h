// Ranks that are threads of the test and hand each other copies: trainer/ranks without a network.
#pragma once

#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <tuple>
#include <vector>

#include "core/base/errors.h"
#include "trainer/ranks/ranks.h"

namespace longhaul {

class ThreadRanks {
 public:
  // Runs body(ranks) once as each of `size` ranks. What the first to fail threw is thrown again here; the
  // others, as those of a rank that died, get a RunError from what they wait for.
  static void run(int size, const std::function<void(Ranks&)>& body) {
    ThreadRanks all(size);
    std::vector<std::thread> threads;
    for (int rank = 0; rank < size; ++rank)
      threads.emplace_back([&, rank] {
        try {
          One one_here(all, rank);
          body(one_here);
        } catch (...) {
          const std::lock_guard<std::mutex> lock(all.mutex_);
          if (!all.failed_) all.failed_ = std::current_exception();
          all.came_.notify_all();
        }
      });
    for (std::thread& thread : threads) thread.join();
    if (all.failed_) std::rethrow_exception(all.failed_);
  }

 private:
  explicit ThreadRanks(int size) : size_(size) {}

  struct Later : Transfer {
    explicit Later(std::function<void()> on_wait) : work(std::move(on_wait)) {}
    void wait() override { work(); }
    const std::function<void()> work;
  };

  class One : public Ranks {
   public:
    One(ThreadRanks& all, int rank) : all_(all), rank_(rank) {}
    int rank() const override { return rank_; }
    int size() const override { return all_.size_; }
    std::unique_ptr<Transfer> send(int to, int channel, const void* data, std::size_t bytes) override {
      const std::lock_guard<std::mutex> lock(all_.mutex_);
      const char* begin = static_cast<const char*>(data);
      all_.sent_[{rank_, to, channel}].emplace_back(begin, begin + bytes);
      all_.came_.notify_all();
      return std::make_unique<Later>([] {});
    }
    // Takes its place in the line when it is made, as a receive that was posted does.
    std::unique_ptr<Transfer> receive(int from, int channel, void* data, std::size_t bytes) override {
      const std::lock_guard<std::mutex> lock(all_.mutex_);
      const std::tuple<int, int, int> way(from, rank_, channel);
      return std::make_unique<Later>([way, data, bytes, &all = all_, place = all_.next_receive_[way]++] {
        std::unique_lock<std::mutex> waiting(all.mutex_);
        all.came_.wait(waiting, [&] { return all.failed_ || all.sent_[way].size() > place; });
        if (all.sent_[way].size() <= place) throw RunError("another rank of the test has failed");
        const std::vector<char>& found = all.sent_[way][place];
        if (found.size() != bytes) throw std::logic_error("a message of another size than was waited for");
        std::memcpy(data, found.data(), bytes);
      });
    }
    void check_others(std::chrono::steady_clock::time_point) override {
      const std::lock_guard<std::mutex> lock(all_.mutex_);
      if (all_.failed_) throw RunError("another rank of the test has failed");
    }

   private:
    ThreadRanks& all_;
    int rank_;
  };

  int size_;
  std::exception_ptr failed_;  // what the first to fail threw
  std::mutex mutex_;
  std::condition_variable came_;
  std::map<std::tuple<int, int, int>, std::deque<std::vector<char>>> sent_;  // by (from, to, channel)
  std::map<std::tuple<int, int, int>, std::size_t> next_receive_;
};

}  // namespace longhaul
