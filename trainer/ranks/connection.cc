#include "trainer/ranks/connection.h"

#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace longhaul {
namespace {

constexpr std::size_t kAtOnce = 1 << 20;  // bytes that are moved while others wait for the lock

void lose(std::string& broken, std::condition_variable& changed, const std::string& reason) {
  broken = reason;
  changed.notify_all();
}

}  // namespace

bool Connection::has_ended() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!in_.broken.empty()) return true;
  char byte;
  const std::ptrdiff_t bytes = ::recv(descriptor(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return bytes == 0 || (bytes < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

void Connection::close() {
  const std::lock_guard<std::mutex> lock(mutex_);
  socket_ = Socket();
  for (Direction* direction : {&in_, &out_})
    if (direction->broken.empty())
      lose(direction->broken, direction->changed, "this rank has closed the connection");
}

bool Connection::progress() {
  const std::lock_guard<std::mutex> lock(mutex_);
  const bool more_comes = move_some(in_);
  return move_some(out_) || more_comes;
}

void Connection::begin(Message& message, Direction& direction) {
  const std::lock_guard<std::mutex> lock(mutex_);
  direction.messages.push_back(&message);
  if (direction.messages.size() > 1) return;
  direction.header = {direction.number, message.bytes_};
  direction.last_progress = Clock::now();
  if (move_some(direction)) hand_over_();
}

void Connection::wait(Message& message, Direction& direction, std::chrono::milliseconds patience) {
  std::unique_lock<std::mutex> lock(mutex_);
  const Clock::time_point begin = Clock::now();
  while (!message.is_complete_) {
    if (!direction.misfit.empty()) throw std::logic_error(direction.misfit);
    if (!direction.broken.empty()) throw ConnectionLost(direction.broken, false);
    const Clock::time_point end = std::max(begin, direction.last_progress) + patience;
    if (Clock::now() >= end) throw ConnectionLost("the connection stands, but nothing moves", true);
    direction.changed.wait_until(lock, end);
  }
}

void Connection::give_up(Message& message, Direction& direction) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (message.is_complete_) return;
  auto& messages = direction.messages;
  messages.erase(std::remove(messages.begin(), messages.end(), &message), messages.end());
  if (direction.broken.empty()) lose(direction.broken, direction.changed, "a message before was given up");
}

// Whether there may be more to move at once.
bool Connection::move_some(Direction& direction) {
  std::size_t moved = 0;
  while (!direction.messages.empty() && direction.broken.empty()) {
    if (moved >= kAtOnce) return true;
    const std::ptrdiff_t bytes = move_once(direction);
    if (bytes > 0) {
      moved += static_cast<std::size_t>(bytes);
      account(direction, static_cast<std::size_t>(bytes));
    } else if (bytes == 0) {
      lose(direction.broken, direction.changed, "it has closed the connection");
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      return false;
    } else if (errno != EINTR) {
      lose(direction.broken, direction.changed, std::strerror(errno));
    }
  }
  return false;
}

// What recvmsg and sendmsg return.
std::ptrdiff_t Connection::move_once(Direction& direction) {
  constexpr std::size_t kHeader = sizeof(Header);
  const Message& message = *direction.messages.front();
  const std::size_t of_header = std::min(message.moved_, kHeader), of_data = message.moved_ - of_header;
  iovec parts[2] = {{reinterpret_cast<char*>(direction.header.data()) + of_header, kHeader - of_header},
                    {message.data_ + of_data, std::min(message.bytes_ - of_data, kAtOnce)}};
  msghdr request{};
  const std::size_t first = of_header == kHeader ? 1 : 0;
  request.msg_iov = parts + first;
  request.msg_iovlen = 2 - first;
  constexpr int kFlags = MSG_DONTWAIT | MSG_NOSIGNAL;
  return direction.is_out ? ::sendmsg(descriptor(), &request, kFlags)
                          : ::recvmsg(descriptor(), &request, kFlags);
}

void Connection::account(Direction& direction, std::size_t bytes) {
  Message& message = *direction.messages.front();
  const bool had_header = message.moved_ >= sizeof(Header);
  message.moved_ += bytes;
  direction.last_progress = Clock::now();
  if (!direction.is_out && !had_header && message.moved_ >= sizeof(Header)) check_header(direction);
  if (!direction.broken.empty() || message.moved_ < sizeof(Header) + message.bytes_) return;
  message.is_complete_ = true;
  direction.messages.pop_front();
  ++direction.number;
  if (!direction.messages.empty()) direction.header = {direction.number, direction.messages.front()->bytes_};
  direction.changed.notify_all();
}

void Connection::check_header(Direction& direction) {
  const std::uint64_t bytes = direction.messages.front()->bytes_;
  const auto [number, sent] = direction.header;
  if (number == direction.number && sent == bytes) return;
  direction.misfit = "message " + std::to_string(direction.number) + " of " + std::to_string(bytes) +
                     " bytes was waited for, but message " + std::to_string(number) + " of " +
                     std::to_string(sent) + " bytes came";
  lose(direction.broken, direction.changed, direction.misfit);
}

}  // namespace longhaul
