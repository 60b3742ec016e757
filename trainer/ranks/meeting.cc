#include "trainer/ranks/meeting.h"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>

#include "core/base/child_main.h"
#include "core/base/index.h"
#include "trainer/ranks/greeting.h"

namespace longhaul {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kLook = std::chrono::milliseconds(50);        // between two looks at who has come
constexpr auto kAsk = std::chrono::seconds(1);               // between two questions whether a rank failed
constexpr auto kLastWords = std::chrono::milliseconds(500);  // for a rank that fails to say why
constexpr auto kLongestGreeting = std::chrono::seconds(10);  // of one who connects and says nothing

constexpr char kToken[] = "token";

std::string store_key(const char* what, int rank) {
  return std::string(what) + "/" + std::to_string(rank);
}

// A port, a space and a host; no host: MASTER_ADDR.
std::string place_text(int port, const std::string& host) {
  return std::to_string(port) + " " + host;
}

std::vector<SocketAddress> addresses_of(const std::string& place, const std::string& master) {
  const std::size_t space = place.find(' ');
  const std::string host = place.substr(space + 1);
  return resolve(host.empty() ? master : host, std::stoi(place));
}

void fail_as_the_first(RankStore& store) {
  const std::string words = first_words(store);
  if (!words.empty()) throw RunError(words);
}

class Meeting {
 public:
  Meeting(RankStore& store, const RankEnvironment& environment, int patience_s)
      : store_(store), environment_(environment), patience_s_(patience_s) {}

  Sockets run() {
    join();
    const ListeningPlace place = choose_listening_place(environment_.address, environment_.interface);
    const Socket listening = listen_at(place.address);
    if (environment_.rank == 0) store_.set(kToken, text_of(draw_run_token()));
    store_.set(store_key("place", environment_.rank), place_text(port_of(listening), place.host));
    const std::vector<std::string> places = places_of_all();
    token_ = run_token_of(store_.find(kToken).value_or(""));
    Sockets sockets(as_index(environment_.size));
    for (int other = 0; other < environment_.rank; ++other)
      for (int channel = 0; channel < kChannels; ++channel)
        sockets[as_index(other)][as_index(channel)] = reach(other, channel, places[as_index(other)]);
    accept_the_later_ones(listening, sockets);
    return sockets;
  }

 private:
  // What a newly connected one has said so far.
  struct Newcomer {
    Socket socket;
    IncomingGreeting greeting;
    Clock::time_point since = Clock::now();
  };

  void join() {
    if (store_.count(store_key("joined", environment_.rank)) > 1)
      throw RankTaken("a rank " + std::to_string(environment_.rank) + " has joined at " +
                      text_of(environment_.address, environment_.port) +
                      " already: two processes have the same RANK, or two trainings the same MASTER_PORT");
  }

  std::vector<std::string> places_of_all() {
    std::vector<std::string> places(as_index(environment_.size));
    for (;;) {
      std::vector<std::string> missing;
      for (int rank = 0; rank < environment_.size; ++rank) {
        std::string& place = places[as_index(rank)];
        if (place.empty()) place = store_.find(store_key("place", rank)).value_or("");
        if (place.empty()) missing.push_back(std::to_string(rank));
      }
      if (missing.empty()) return places;
      check_deadline("come", missing);
      look();
      std::this_thread::sleep_for(kLook);
    }
  }

  void check_deadline(const std::string& what, const std::vector<std::string>& missing) const {
    if (Clock::now() <= deadline_) return;
    throw RunError("of " + std::to_string(environment_.size) + " ranks these did not " + what + " within " +
                   std::to_string(patience_s_) + " s: " + join_some(missing, 16));
  }

  // While waiting for whatever.
  void look() {
    check_interrupt();
    if (Clock::now() < next_question_) return;
    next_question_ = Clock::now() + kAsk;
    fail_as_the_first(store_);
  }

  Greeting greeting_to(int other, int channel) const {
    Greeting greeting;
    greeting.token = token_;
    greeting.from = environment_.rank;
    greeting.to = other;
    greeting.channel = channel;
    return greeting;
  }

  Socket reach(int other, int channel, const std::string& place) {
    std::string where = place;
    try {
      const std::vector<SocketAddress> addresses = addresses_of(place, environment_.address);
      where = text_of(addresses.front().host(), addresses.front().port());
      Socket socket = connect_to(addresses, deadline_, [this] { look(); });
      send_greeting(socket, greeting_to(other, channel));
      const std::string reason = difference(answer(socket), greeting_back(other, channel));
      if (!reason.empty()) throw RunError(reason);
      return socket;
    } catch (const RunError& error) {
      std::this_thread::sleep_for(kLastWords);
      fail_as_the_first(store_);
      throw RunError("rank " + std::to_string(environment_.rank) + " cannot connect to rank " +
                     std::to_string(other) + " at " + where + ": " + error.what() +
                     "; GLOO_SOCKET_IFNAME names the network interface that a rank is reached by");
    }
  }

  // What the other side of greeting_to() answers.
  Greeting greeting_back(int other, int channel) const {
    Greeting greeting = greeting_to(other, channel);
    std::swap(greeting.from, greeting.to);
    return greeting;
  }

  Greeting answer(const Socket& socket) {
    IncomingGreeting coming;
    while (wait_until_ready(socket, false, deadline_, [this] { look(); }))
      if (const std::optional<Greeting> greeting = coming.read(socket)) return *greeting;
    throw RunError("it does not answer");
  }

  void accept_the_later_ones(const Socket& listening, Sockets& sockets) {
    std::vector<Newcomer> newcomers;
    for (;;) {
      const std::vector<std::string> missing = unconnected(sockets);
      if (missing.empty()) return;
      check_deadline("connect", missing);
      wait_for_any(listening, newcomers);
      look();
      accept_newcomers(listening, newcomers);
      for (Newcomer& newcomer : newcomers) hear(newcomer, sockets);
      newcomers.erase(
          std::remove_if(newcomers.begin(), newcomers.end(),
                         [](const Newcomer& newcomer_here) { return !newcomer_here.socket.is_open(); }),
          newcomers.end());
    }
  }

  std::vector<std::string> unconnected(const Sockets& sockets) const {
    std::vector<std::string> ranks;
    for (int other = environment_.rank + 1; other < environment_.size; ++other)
      for (const Socket& socket : sockets[as_index(other)])
        if (!socket.is_open()) {
          ranks.push_back(std::to_string(other));
          break;
        }
    return ranks;
  }

  static void wait_for_any(const Socket& listening, const std::vector<Newcomer>& newcomers) {
    std::vector<pollfd> all = {{listening.descriptor(), POLLIN, 0}};
    for (const Newcomer& newcomer : newcomers) all.push_back({newcomer.socket.descriptor(), POLLIN, 0});
    ::poll(all.data(), all.size(), static_cast<int>(kLook.count()));
  }

  static void accept_newcomers(const Socket& listening, std::vector<Newcomer>& newcomers) {
    for (;;) {
      Socket socket(::accept4(listening.descriptor(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (socket.is_open()) {
        newcomers.emplace_back();
        newcomers.back().socket = std::move(socket);
      } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
        throw RunError(std::string("no further rank can be connected: ") + std::strerror(errno));
      } else if (errno != EINTR && errno != ECONNABORTED) {
        return;
      }
    }
  }

  // Closes its socket, or hands it to `sockets`, unless there is more to hear.
  void hear(Newcomer& newcomer, Sockets& sockets) const {
    try {
      if (const std::optional<Greeting> greeting = newcomer.greeting.read(newcomer.socket))
        admit(*greeting, std::move(newcomer.socket), sockets);
      else if (Clock::now() < newcomer.since + kLongestGreeting)
        return;
    } catch (const RunError&) {  // it is closed, whoever it was
    }
    newcomer.socket = Socket();
  }

  void admit(const Greeting& found, Socket socket, Sockets& sockets) const {
    Greeting mine = greeting_to(found.from, found.channel);
    if (found.name != mine.name) return;
    if (found.token != token_) mine.token = {};  // it is told so, and learns nothing else
    send_greeting(socket, mine);
    const bool is_expected = found.from > environment_.rank && found.from < environment_.size &&
                             found.channel >= 0 && found.channel < kChannels;
    if (!difference(found, greeting_back(found.from, found.channel)).empty() || !is_expected) return;
    Socket& place = sockets[as_index(found.from)][as_index(found.channel)];
    if (!place.is_open()) place = std::move(socket);
  }

  RankStore& store_;
  const RankEnvironment& environment_;
  int patience_s_;
  Clock::time_point deadline_ = Clock::now() + std::chrono::seconds(patience_s_);
  Clock::time_point next_question_ = Clock::now() + kAsk;
  RunToken token_{};
};

}  // namespace

Sockets meet(RankStore& store, const RankEnvironment& environment, int patience_s) {
  try {
    return Meeting(store, environment, patience_s).run();
  } catch (const StoreLost& error) {
    if (environment.is_agents_store)
      throw RunError("torchrun's store at " + text_of(environment.address, environment.port) +
                     " was lost before all ranks were connected (" + error.what() +
                     "): torchrun has to be of the PyTorch that longhaul-train was built with");
    throw RunError("rank 0 ended before all ranks were connected (" + std::string(error.what()) +
                   "): its own output says why");
  }
}

}  // namespace longhaul
