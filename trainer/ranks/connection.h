// One TCP connection to another rank, for one channel: messages both ways, each in the order in which it was
// begun. A message is read when somebody wants it: until then it waits in the sender's buffer, which nothing
// copies, and two ranks may send each other any amount at the same time.
//
// Who begins a message moves what can be moved at once; the rest is moved by the thread that calls progress()
// (transfer_thread.h).
#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <string>

#include "trainer/ranks/socket.h"

namespace longhaul {

// Why a message did not get through.
class ConnectionLost : public std::runtime_error {
 public:
  ConnectionLost(const std::string& reason, bool is_silent)
      : std::runtime_error(reason), is_silent_(is_silent) {}
  bool is_silent() const { return is_silent_; }  // it stands, but nothing moves

 private:
  bool is_silent_;
};

class Connection {
 public:
  // A message under way; it and its memory stay where they are until it is complete or given up.
  class Message {
   public:
    Message(void* data, std::size_t bytes) : data_(static_cast<char*>(data)), bytes_(bytes) {}

   private:
    friend class Connection;
    char* data_;
    std::size_t bytes_;
    std::size_t moved_ = 0;  // with the header
    bool is_complete_ = false;
  };

  explicit Connection(Socket socket) : socket_(std::move(socket)) {}

  int descriptor() const { return socket_.descriptor(); }

  void begin_send(Message& message) { begin(message, out_); }
  void begin_receive(Message& message) { begin(message, in_); }
  void wait_sent(Message& message, std::chrono::milliseconds patience) { wait(message, out_, patience); }
  // Throws ConnectionLost, also where nothing has moved for `patience`, and std::logic_error where the other
  // rank sent another number of bytes.
  void wait_received(Message& message, std::chrono::milliseconds patience) { wait(message, in_, patience); }
  // Nothing touches the message's memory any more. What was under way is not whole: nothing follows it.
  void give_up_sending(Message& message) { give_up(message, out_); }
  void give_up_receiving(Message& message) { give_up(message, in_); }

  // Whether the other rank has closed it, and all that it sent is read.
  bool has_ended();

  // Nothing is moved any more, and the other rank finds it closed. No other thread may be in progress().
  void close();

  // Moves what the socket takes and has, up to a MB each way. Returns whether there may be more at once.
  bool progress();
  // Called where there may be more at once, but the caller has something else to do.
  void when_unfinished(std::function<void()> hand_over) { hand_over_ = std::move(hand_over); }

 private:
  using Clock = std::chrono::steady_clock;
  using Header = std::array<std::uint64_t, 2>;  // number of the message, its bytes

  struct Direction {
    explicit Direction(bool out) : is_out(out) {}
    const bool is_out;
    std::deque<Message*> messages;
    std::uint64_t number = 0;  // of the first of them
    Header header{};           // of the first of them
    Clock::time_point last_progress = Clock::now();
    std::string broken;  // why nothing moves any more
    std::string misfit;  // the other rank sent something else than was waited for
    std::condition_variable changed;
  };

  void begin(Message& message, Direction& direction);
  void wait(Message& message, Direction& direction, std::chrono::milliseconds patience);
  void give_up(Message& message, Direction& direction);
  bool move_some(Direction& direction);
  std::ptrdiff_t move_once(Direction& direction);
  void account(Direction& direction, std::size_t bytes);
  void check_header(Direction& direction);

  Socket socket_;
  std::mutex mutex_;
  Direction out_{true}, in_{false};
  std::function<void()> hand_over_ = [] {};
};

}  // namespace longhaul
