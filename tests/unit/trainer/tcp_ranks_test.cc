// Ranks over TCP between threads of the test, which meet in a store in memory; and what other programs may do
// to them on the way. ranks_test.cc has whole processes.
#include "trainer/ranks/tcp_ranks.h"

#include <gtest/gtest.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <unistd.h>

#include <cstring>
#include <future>
#include <map>
#include <mutex>
#include <numeric>
#include <thread>

#include "core/base/index.h"
#include "tests/unit/trainer/rank_threads.h"
#include "trainer/ranks/greeting.h"
#include "trainer/ranks/meeting.h"

namespace longhaul {
namespace {

using Clock = std::chrono::steady_clock;

struct SharedTexts {
  std::mutex mutex;
  std::map<std::string, std::string> texts;
  std::map<std::string, std::int64_t> counts;
};

class MemoryStore : public RankStore {
 public:
  explicit MemoryStore(std::shared_ptr<SharedTexts> all) : all_(std::move(all)) {}
  void set(const std::string& key, const std::string& text) override {
    const std::lock_guard<std::mutex> lock(all_->mutex);
    all_->texts[key] = text;
  }
  std::optional<std::string> find(const std::string& key) override {
    const std::lock_guard<std::mutex> lock(all_->mutex);
    const auto found = all_->texts.find(key);
    return found == all_->texts.end() ? std::nullopt : std::optional(found->second);
  }
  std::int64_t count(const std::string& key) override {
    const std::lock_guard<std::mutex> lock(all_->mutex);
    return ++all_->counts[key];
  }

 private:
  std::shared_ptr<SharedTexts> all_;
};

// Of one training.
class Meeting {
 public:
  explicit Meeting(int size, std::string master = "127.0.0.1", int patience_s = 60)
      : size_(size), master_(std::move(master)), patience_s_(patience_s) {}

  std::unique_ptr<RankStore> store() const { return std::make_unique<MemoryStore>(all_); }

  std::unique_ptr<Ranks> join(int rank, const std::string& interface = "") const {
    RankEnvironment environment;
    environment.rank = rank;
    environment.size = size_;
    environment.address = master_;
    environment.port = 29500;
    environment.interface = interface;
    return make_tcp_ranks(environment, patience_s_, store());
  }

  void run(const std::function<void(Ranks&)>& body) const {
    run_rank_threads(size_, [&](int rank) { body(*join(rank)); });
  }

  // Where `rank` listens, as soon as it does.
  SocketAddress place_of(int rank) const {
    std::optional<std::string> place;
    while (!(place = store()->find("place/" + std::to_string(rank))))
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return resolve(place->substr(place->find(' ') + 1), std::stoi(*place)).front();
  }

 private:
  int size_;
  std::string master_;
  int patience_s_;
  std::shared_ptr<SharedTexts> all_ = std::make_shared<SharedTexts>();
};

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const RunError& error) {
    return error.what();
  }
  return "";
}

void expect_said(const std::string& said, const std::vector<std::string>& parts) {
  for (const std::string& part : parts)
    EXPECT_NE(said.find(part), std::string::npos) << part << "\nnot in: " << said;
}

// What others tell of a rank's death differs; each names one.
void expect_gone(const std::function<void()>& action, int rank) {
  expect_said(error_of(action), {"rank " + std::to_string(rank) + " is gone (", "--resume"});
}

void exchange_with_all(Ranks& ranks) {
  std::vector<double> all(as_index(ranks.size()));
  std::iota(all.begin(), all.end(), 0.);
  EXPECT_EQ(gather(ranks, std::vector<double>{static_cast<double>(ranks.rank())}), all);
  for (int from = 0; from < ranks.size(); ++from)
    EXPECT_EQ(broadcast(ranks, from, std::to_string(ranks.rank())), std::to_string(from));
}

void exchange_byte(Ranks& ranks, int other) {
  char mine = 1, found = 0;
  const auto going = ranks.send(other, kLockstep, &mine, 1);
  ranks.receive(other, kLockstep, &found, 1)->wait();
  going->wait();
  EXPECT_EQ(found, 1);
}

TEST(TcpRanks, AnyNumberOfThemMeetAndTalk) {
  for (const int size : {2, 3, 5, 8}) Meeting(size).run(exchange_with_all);
}

TEST(TcpRanks, TheyMeetByNameAndOverIPv6) {
  Meeting(3, "localhost").run(exchange_with_all);
  try {
    Socket probe = listen_at(resolve("::1", 0).front());
  } catch (const RunError&) {
    GTEST_SKIP() << "no IPv6 here";
  }
  Meeting(3, "::1").run(exchange_with_all);
}

// Each sends to all before it receives from anyone.
TEST(TcpRanks, LargeMessagesBetweenAllPairsAtOnce) {
  constexpr std::size_t kCount = 1 << 20;
  Meeting(4).run([](Ranks& ranks) {
    const std::vector<int> mine(kCount, ranks.rank());
    std::vector<std::vector<int>> found(as_index(ranks.size()), std::vector<int>(kCount, -1));
    std::vector<std::unique_ptr<Transfer>> under_way;
    for (int other = 0; other < ranks.size(); ++other)
      if (other != ranks.rank())
        under_way.push_back(ranks.send(other, kLockstep, mine.data(), kCount * sizeof(int)));
    for (int other = 0; other < ranks.size(); ++other)
      if (other != ranks.rank())
        under_way.push_back(
            ranks.receive(other, kLockstep, found[as_index(other)].data(), kCount * sizeof(int)));
    for (const auto& transfer : under_way) transfer->wait();
    found[as_index(ranks.rank())] = mine;
    for (int other = 0; other < ranks.size(); ++other)
      EXPECT_TRUE(found[as_index(other)] == std::vector<int>(kCount, other)) << other;
  });
}

TEST(TcpRanks, WhatIsSentAheadHoldsNothingUp) {
  constexpr std::size_t kBytes = 16 << 20;
  Meeting(2).run([](Ranks& ranks) {
    std::vector<char> ahead(kBytes, static_cast<char>(ranks.rank())), found(kBytes, 9);
    const int other = 1 - ranks.rank();
    const auto going = ranks.send(other, kAhead, ahead.data(), kBytes);
    exchange_with_all(ranks);
    ranks.receive(other, kAhead, found.data(), kBytes)->wait();
    going->wait();
    EXPECT_EQ(found, std::vector<char>(kBytes, static_cast<char>(other)));
  });
}

TEST(TcpRanks, ARankThatEndsIsNamedByThoseWhoWaitForIt) {
  Meeting(3).run([](Ranks& ranks) {
    exchange_with_all(ranks);
    char byte = 0;
    if (ranks.rank() == 1) return;
    expect_gone([&] { ranks.receive(1, kLockstep, &byte, 1)->wait(); }, 1);
    const std::vector<char> much(32 << 20);
    expect_gone([&] { ranks.send(1, kAhead, much.data(), much.size())->wait(); }, 1);
  });
}

// For what travels by other ways, as over NCCL.
TEST(TcpRanks, WhetherTheOthersLiveCanBeAsked) {
  Meeting(3).run([](Ranks& ranks) {
    const auto begin = Clock::now();
    ranks.check_others(begin);
    exchange_with_all(ranks);
    char byte = 1;
    if (ranks.rank() == 2) {
      ranks.send(0, kLockstep, &byte, 1)->wait();
      return;
    }
    const auto look = [&] {
      for (;;) ranks.check_others(begin);
    };
    if (ranks.rank() == 0) {
      ranks.check_others(begin);  // what is not read yet is no end
      ranks.receive(2, kLockstep, &byte, 1)->wait();
    }
    expect_gone(look, 2);
    exchange_byte(ranks, 1 - ranks.rank());  // neither ends before the other has seen it
  });
}

TEST(TcpRanks, TheFirstWordsOfAFailureReachTheOthers) {
  Meeting(3).run([](Ranks& ranks) {
    exchange_with_all(ranks);
    char byte = 0;
    if (ranks.rank() == 2) return ranks.say_last("the disk is full");
    expect_said(error_of([&] { ranks.receive(2, kLockstep, &byte, 1)->wait(); }),
                {"rank 2 ended: the disk is full", "--resume"});
  });
}

TEST(TcpRanks, ASilentRankIsGivenUp) {
  Meeting(2, "127.0.0.1", 1).run([](Ranks& ranks) {
    exchange_with_all(ranks);
    char byte = 0;
    if (ranks.rank() == 0)
      expect_said(error_of([&] { ranks.receive(1, kLockstep, &byte, 1)->wait(); }),
                  {"rank 1 has not answered for 1 s"});
    else
      std::this_thread::sleep_for(std::chrono::seconds(3));
  });
}

Socket connected_to(const SocketAddress& address) {
  return connect_to({address}, Clock::now() + std::chrono::seconds(60), [] {});
}

Greeting answer_of(const Socket& socket) {
  IncomingGreeting coming;
  for (;;) {
    wait_until_ready(socket, false, Clock::now() + std::chrono::seconds(60), [] {});
    if (const std::optional<Greeting> greeting = coming.read(socket)) return *greeting;
  }
}

bool is_closed_by_peer(const Socket& socket) {
  char byte;
  wait_until_ready(socket, false, Clock::now() + std::chrono::seconds(60), [] {});
  return ::recv(socket.descriptor(), &byte, 1, 0) <= 0;
}

// They connect to rank 0 before rank 1 does: one says nothing, one speaks another language, one is of another
// training, one has a number that no rank has.
TEST(TcpRanks, StrangersAreTurnedAway) {
  const Meeting meeting(2);
  auto first = std::async(std::launch::async, [&] { exchange_with_all(*meeting.join(0)); });
  const SocketAddress place = meeting.place_of(0);
  const Socket silent = connected_to(place), web = connected_to(place), other = connected_to(place),
               unknown = connected_to(place);
  const std::string request(64, 'G');
  EXPECT_EQ(::send(web.descriptor(), request.data(), request.size(), MSG_NOSIGNAL), 64);
  Greeting greeting;
  greeting.from = 1;
  send_greeting(other, greeting);
  greeting.token = run_token_of(*meeting.store()->find("token"));
  greeting.from = 7;
  send_greeting(unknown, greeting);
  auto second = std::async(std::launch::async, [&] { exchange_with_all(*meeting.join(1)); });
  EXPECT_TRUE(is_closed_by_peer(web));
  EXPECT_EQ(answer_of(other).token, RunToken{});
  EXPECT_TRUE(is_closed_by_peer(other));
  answer_of(unknown);
  EXPECT_TRUE(is_closed_by_peer(unknown));
  first.get();
  second.get();
  EXPECT_TRUE(is_closed_by_peer(silent));
}

TEST(TcpRanks, ARankThatCameTwiceIsRefusedAndTheOthersTrainOn) {
  const Meeting meeting(2);
  auto first = std::async(std::launch::async, [&] { exchange_with_all(*meeting.join(0)); });
  meeting.place_of(0);
  expect_said(error_of([&] { meeting.join(0); }),
              {"a rank 0 has joined at 127.0.0.1:29500 already", "RANK", "MASTER_PORT"});
  exchange_with_all(*meeting.join(1));
  first.get();
}

TEST(TcpRanks, WhoCannotMeetTellsTheOthersWhy) {
  const Meeting meeting(2);
  auto first = std::async(std::launch::async, [&] {
    expect_said(error_of([&] { meeting.join(0); }), {"rank 1 ended: ", "no network interface \"nowhere\""});
  });
  meeting.place_of(0);
  expect_said(error_of([&] { meeting.join(1, "nowhere"); }),
              {"GLOO_SOCKET_IFNAME: no network interface \"nowhere\" with an address; there are: ", "lo"});
  first.get();
}

// Rank 0 said where it listens and ended.
TEST(TcpRanks, AnAddressThatNobodyAnswersAtIsNamed) {
  const Meeting meeting(2);
  int port = 0;
  {
    const Socket former = listen_at(resolve("127.0.0.1", 0).front());
    port = port_of(former);
  }
  meeting.store()->set("token", text_of(draw_run_token()));
  meeting.store()->set("place/0", std::to_string(port) + " 127.0.0.1");
  expect_said(error_of([&] { meeting.join(1); }),
              {"rank 1 cannot connect to rank 0 at 127.0.0.1:" + std::to_string(port), "refused",
               "GLOO_SOCKET_IFNAME"});
}

TEST(TcpRanks, RanksThatDoNotComeAreNamed) {
  expect_said(error_of([&] { Meeting(4, "127.0.0.1", 1).join(2); }),
              {"of 4 ranks these did not come within 1 s: 0, 1, 3"});
}

TEST(TcpRanks, AGreetingSaysWhatIsDifferent) {
  Greeting expected;
  expected.token = draw_run_token();
  EXPECT_EQ(difference(expected, expected), "");
  const auto changed = [&](const std::function<void(Greeting&)>& change) {
    Greeting found = expected;
    change(found);
    return difference(found, expected);
  };
  EXPECT_EQ(changed([](Greeting& greeting) { greeting.name[0] = 'x'; }), "it is not a rank of a training");
  EXPECT_EQ(changed([](Greeting& greeting) { greeting.byte_order = 0x04030201; }),
            "its processor orders bytes in another way");
  EXPECT_EQ(changed([](Greeting& greeting) { ++greeting.version; }),
            "its longhaul-train is of another version");
  EXPECT_EQ(changed([](Greeting& greeting) { greeting.token = draw_run_token(); }),
            "it belongs to another training");
  EXPECT_EQ(changed([](Greeting& greeting) { greeting.to = 3; }), "it means rank 3");
}

TEST(ListeningPlace, IsWhereTheMasterIsReachedFrom) {
  EXPECT_EQ(choose_listening_place("127.0.0.1", "").host, "127.0.0.1");
  EXPECT_EQ(choose_listening_place("127.0.0.1", "lo").host, "127.0.0.1");
  EXPECT_EQ(text_of("::1", 5), "[::1]:5");
  EXPECT_THROW(choose_listening_place("no-such-host.invalid", ""), RunError);
}

// An own address that others can use is told; a name that means the loopback here is left to them.
TEST(ListeningPlace, OfThisMachineIsTheOneThatOthersKnow) {
  ifaddrs* list = nullptr;
  ASSERT_EQ(::getifaddrs(&list), 0);
  for (const ifaddrs* interface = list; interface; interface = interface->ifa_next) {
    if (!interface->ifa_addr || interface->ifa_addr->sa_family != AF_INET) continue;
    SocketAddress address;
    address.size = sizeof(sockaddr_in);
    std::memcpy(&address.storage, interface->ifa_addr, address.size);
    EXPECT_EQ(choose_listening_place(address.host(), "").host, address.host());
    EXPECT_EQ(choose_listening_place("127.0.0.1", interface->ifa_name).host, address.host());
  }
  ::freeifaddrs(list);
  char name[256] = "";
  ASSERT_EQ(::gethostname(name, sizeof name), 0);
  std::vector<SocketAddress> addresses;
  try {
    addresses = resolve(name, 1);
  } catch (const RunError&) {
    GTEST_SKIP() << "this machine's name has no address";
  }
  const ListeningPlace place = choose_listening_place(name, "");
  EXPECT_EQ(place.host.empty(), addresses.front().is_loopback());
  const Socket listening = listen_at(place.address);
  EXPECT_NO_THROW(connected_to(resolve(place.host.empty() ? name : place.host, port_of(listening)).front()));
}

}  // namespace
}  // namespace longhaul
