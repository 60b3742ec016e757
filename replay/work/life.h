// The life of an actor of a replay: what it has started, timers and messages, ends with it.
#pragma once

#include <memory>
#include <utility>

#include "replay/network/clock.h"
#include "replay/network/network.h"

namespace longhaul {

// A worker, a download, a grace time: whatever may end before what it has started is over. Once a life has
// ended, or its owner is gone, no timer and no arrival of it does anything. Messages travel on nonetheless:
// what a dead worker sent loads the links until it has arrived.
//
// Lives end by end(), and begin again at once; so one object stands for all lives of its owner.
class Life {
  struct Token {};

 public:
  // Tells whether a life has ended, also after its owner is gone.
  class Watch {
   public:
    bool has_ended() const { return token_.expired(); }

   private:
    friend class Life;
    explicit Watch(std::weak_ptr<const Token> token) : token_(std::move(token)) {}

    std::weak_ptr<const Token> token_;
  };

  Life() = default;
  Life(Life&&) = default;
  Life& operator=(Life&&) = default;
  Life(const Life&) = delete;  // two owners of one life
  Life& operator=(const Life&) = delete;

  // What it has started so far is void, and another life begins.
  void end() { token_.reset(); }

  // Of the life that it is in now.
  Watch watch() {
    if (!token_) token_ = std::make_shared<const Token>();
    return Watch(token_);
  }

  // `action`, or nothing once this life has ended.
  template <typename Action>
  auto during(Action action) {
    return [watch = watch(), action = std::move(action)] {
      if (!watch.has_ended()) action();
    };
  }

  // As Clock::after and Network::send. What `parts` points to must stay until the message has arrived.
  template <typename Action>
  void after(Clock& clock, double delay_s, Action action) {
    clock.after(delay_s, during(std::move(action)));
  }
  template <typename Arrival>
  void send(Network& network, const Transmission& transfer, Arrival on_arrival, SyncParts* parts = nullptr) {
    network.send(transfer, during(std::move(on_arrival)), parts);
  }

 private:
  std::shared_ptr<const Token> token_;  // null until something is started
};

}  // namespace longhaul
