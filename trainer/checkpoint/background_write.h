// A write that goes on in a thread of its own while a training continues: one at a time.
#pragma once

#include <functional>
#include <future>

namespace longhaul {

class BackgroundWrite {
 public:
  BackgroundWrite() = default;
  // Waits: what was begun is finished, as long as the process lives.
  ~BackgroundWrite() {
    if (writing_.valid()) writing_.wait();
  }
  BackgroundWrite(const BackgroundWrite&) = delete;
  BackgroundWrite& operator=(const BackgroundWrite&) = delete;

  // After the one before. What `write` reads must stay as it is until wait() returned.
  void start(std::function<void()> write) {
    wait();
    writing_ = std::async(std::launch::async, std::move(write));
  }
  // Throws what the write threw.
  void wait() {
    if (writing_.valid()) writing_.get();
  }

 private:
  std::future<void> writing_;
};

}  // namespace longhaul
