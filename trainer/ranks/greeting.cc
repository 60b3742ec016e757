#include "trainer/ranks/greeting.h"

#include <cerrno>
#include <cstring>
#include <random>

#include "core/base/errors.h"

namespace longhaul {

RunToken draw_run_token() {
  std::random_device random;
  RunToken token;
  for (std::uint8_t& byte : token) byte = static_cast<std::uint8_t>(random());
  return token;
}

std::string text_of(const RunToken& token) {
  return std::string(token.begin(), token.end());
}

RunToken run_token_of(const std::string& text) {
  RunToken token{};
  if (text.size() != token.size()) throw RunError("the store of the ranks has a token of another kind");
  std::memcpy(token.data(), text.data(), token.size());
  return token;
}

std::string difference(const Greeting& found, const Greeting& expected) {
  if (found.name != expected.name) return "it is not a rank of a training";
  if (found.byte_order != expected.byte_order) return "its processor orders bytes in another way";
  if (found.version != expected.version) return "its longhaul-train is of another version";
  if (found.token != expected.token) return "it belongs to another training";
  if (found.to != expected.to) return "it means rank " + std::to_string(found.to);
  return "";
}

std::optional<Greeting> IncomingGreeting::read(const Socket& socket) {
  const std::ptrdiff_t bytes =
      ::recv(socket.descriptor(), bytes_.data() + count_, bytes_.size() - count_, MSG_DONTWAIT);
  if (bytes == 0) throw RunError("it has closed the connection");
  if (bytes < 0) {
    if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) return std::nullopt;
    throw RunError(std::strerror(errno));
  }
  count_ += static_cast<std::size_t>(bytes);
  if (count_ < bytes_.size()) return std::nullopt;
  Greeting greeting;
  std::memcpy(&greeting, bytes_.data(), bytes_.size());
  return greeting;
}

void send_greeting(const Socket& socket, const Greeting& greeting) {
  std::ptrdiff_t sent;
  do sent = ::send(socket.descriptor(), &greeting, sizeof greeting, MSG_NOSIGNAL);
  while (sent < 0 && errno == EINTR);
  if (sent != static_cast<std::ptrdiff_t>(sizeof greeting))
    throw RunError(sent < 0 ? std::strerror(errno) : "the connection takes nothing");
}

}  // namespace longhaul
