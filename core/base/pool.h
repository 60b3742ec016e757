// Things that calls from several threads need each for their own time: as many as calls at once, and no more.
#pragma once

#include <mutex>
#include <utility>
#include <vector>

namespace longhaul {

template <typename Thing>
class Pool {
 public:
  // For the time of this object the thing that came back last, as it came, or a new one where none lies idle.
  class Lent {
   public:
    explicit Lent(Pool& pool) : pool_(pool) {
      const std::lock_guard<std::mutex> lock(pool.mutex_);
      if (pool.idle_.empty()) return;
      thing_ = std::move(pool.idle_.back());
      pool.idle_.pop_back();
    }
    ~Lent() { pool_.put(std::move(thing_)); }
    Lent(const Lent&) = delete;
    Lent& operator=(const Lent&) = delete;

    Thing& operator*() { return thing_; }
    Thing* operator->() { return &thing_; }

   private:
    Pool& pool_;
    Thing thing_{};
  };

  void put(Thing thing) {
    const std::lock_guard<std::mutex> lock(mutex_);
    idle_.push_back(std::move(thing));
  }

 private:
  std::mutex mutex_;
  std::vector<Thing> idle_;
};

}  // namespace longhaul
