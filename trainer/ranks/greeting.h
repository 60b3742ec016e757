// What both ends of a new connection between ranks tell each other first.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "trainer/ranks/socket.h"

namespace longhaul {

// Drawn for each training, so that a rank of another one is told apart.
using RunToken = std::array<std::uint8_t, 16>;
RunToken draw_run_token();
std::string text_of(const RunToken& token);
RunToken run_token_of(const std::string& text);

// 48 bytes on the wire, in the order of the sender's processor.
struct Greeting {
  std::array<char, 8> name{'l', 'o', 'n', 'g', 'h', 'a', 'u', 'l'};
  std::uint32_t byte_order = 0x01020304;
  std::uint32_t version = 1;  // of the messages that follow
  RunToken token{};
  std::int32_t from = 0, to = 0, channel = 0, unused = 0;
};
static_assert(sizeof(Greeting) == 48);

// Empty where `found` is as good as `expected`; who it is from and which channel it is for are not compared.
std::string difference(const Greeting& found, const Greeting& expected);

// The greeting as far as it has come: whole, or nothing yet. Throws RunError where the connection ended.
class IncomingGreeting {
 public:
  std::optional<Greeting> read(const Socket& socket);

 private:
  std::array<char, sizeof(Greeting)> bytes_{};
  std::size_t count_ = 0;
};

// A new connection's buffer always has the room. Throws RunError.
void send_greeting(const Socket& socket, const Greeting& greeting);

}  // namespace longhaul
