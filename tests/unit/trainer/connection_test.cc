// Messages over one connection: whole, in order, whatever the system's calls take at once.
#include "trainer/ranks/connection.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <numeric>
#include <thread>

#include "core/base/index.h"
#include "trainer/ranks/transfer_thread.h"

namespace longhaul {
namespace {

using Bytes = std::vector<unsigned char>;

constexpr auto kPatience = std::chrono::seconds(60);

Bytes pattern(std::size_t bytes, unsigned seed) {
  Bytes all(bytes);
  for (std::size_t i = 0; i < bytes; ++i)
    all[i] = static_cast<unsigned char>((i * 2654435761u >> 13) + seed * 31 + i);
  return all;
}

// Both ends in this process, with a buffer that is smaller than most messages.
class ConnectionTest : public testing::Test {
 protected:
  ConnectionTest() {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    for (const int end : ends) {
      const int bytes = 4096;
      ::setsockopt(end, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
    }
    here_ = std::make_unique<Connection>(Socket(ends[0]));
    there_ = std::make_unique<Connection>(Socket(ends[1]));
    thread_here_.emplace(std::vector<Connection*>{here_.get()});
    thread_there_.emplace(std::vector<Connection*>{there_.get()});
  }

  void close_here() {
    thread_here_.reset();
    here_->close();
  }

  std::unique_ptr<Connection> here_, there_;
  std::optional<TransferThread> thread_here_, thread_there_;
};

TEST_F(ConnectionTest, MessagesOfAnySizeArriveInTheirOrder) {
  std::vector<Bytes> sent, received;
  for (const std::size_t bytes : {0, 1, 15, 16, 17, 4095, 4096, 100003, 0, 3 << 20, 5})
    sent.push_back(pattern(bytes, static_cast<unsigned>(sent.size())));
  std::deque<Connection::Message> going, coming;
  for (Bytes& bytes_here : sent) here_->begin_send(going.emplace_back(bytes_here.data(), bytes_here.size()));
  for (const Bytes& bytes_here : sent) received.emplace_back(bytes_here.size());
  for (Bytes& bytes_here : received)
    there_->begin_receive(coming.emplace_back(bytes_here.data(), bytes_here.size()));
  for (std::size_t i = sent.size(); i-- > 0;) there_->wait_received(coming[i], kPatience);
  for (Connection::Message& message : going) here_->wait_sent(message, kPatience);
  EXPECT_EQ(received, sent);
}

// Each end sends all before it receives anything.
TEST_F(ConnectionTest, MuchBothWaysAtOnceDoesNotBlock) {
  Bytes one_way = pattern(20 << 20, 1), other_way = pattern((20 << 20) + 3, 2);
  Bytes at_there(one_way.size()), at_here(other_way.size());
  Connection::Message a(one_way.data(), one_way.size()), b(other_way.data(), other_way.size());
  Connection::Message c(at_there.data(), at_there.size()), d(at_here.data(), at_here.size());
  here_->begin_send(a);
  there_->begin_send(b);
  there_->begin_receive(c);
  here_->begin_receive(d);
  for (Connection* end : {here_.get(), there_.get()}) end->wait_sent(end == here_.get() ? a : b, kPatience);
  there_->wait_received(c, kPatience);
  here_->wait_received(d, kPatience);
  EXPECT_TRUE(at_there == one_way);
  EXPECT_TRUE(at_here == other_way);
}

TEST_F(ConnectionTest, WhatWasSentBeforeTheEndIsReceivedAndNothingAfterIt) {
  Bytes sent = pattern(2000, 3), received(2000), none(1);
  Connection::Message going(sent.data(), sent.size()), coming(received.data(), received.size());
  here_->begin_send(going);
  here_->wait_sent(going, kPatience);
  close_here();
  there_->begin_receive(coming);
  there_->wait_received(coming, kPatience);
  EXPECT_EQ(received, sent);
  Connection::Message missing(none.data(), 1), unwanted(none.data(), 1);
  there_->begin_receive(missing);
  there_->begin_send(unwanted);  // and no SIGPIPE
  for (Connection::Message* message : {&missing, &unwanted}) try {
      message == &missing ? there_->wait_received(missing, kPatience)
                          : there_->wait_sent(unwanted, kPatience);
      ADD_FAILURE() << "nothing is there";
    } catch (const ConnectionLost& lost) {
      EXPECT_FALSE(lost.is_silent());
    }
  there_->give_up_receiving(missing);
  there_->give_up_sending(unwanted);
}

TEST_F(ConnectionTest, AMessageOfAnotherSizeIsAnInternalError) {
  Bytes sent = pattern(12, 4), received(11);
  Connection::Message going(sent.data(), sent.size()), coming(received.data(), received.size());
  here_->begin_send(going);
  there_->begin_receive(coming);
  try {
    there_->wait_received(coming, kPatience);
    ADD_FAILURE() << "12 bytes are not 11";
  } catch (const std::logic_error& error) {
    EXPECT_STREQ(error.what(), "message 0 of 11 bytes was waited for, but message 0 of 12 bytes came");
  }
  there_->give_up_receiving(coming);
}

TEST_F(ConnectionTest, APeerThatSaysNothingIsSilent) {
  char byte = 0;
  Connection::Message coming(&byte, 1);
  there_->begin_receive(coming);
  try {
    there_->wait_received(coming, std::chrono::milliseconds(50));
    ADD_FAILURE() << "nothing was sent";
  } catch (const ConnectionLost& lost) {
    EXPECT_TRUE(lost.is_silent());
  }
  there_->give_up_receiving(coming);
}

// A byte of the header each 0.2 s, longer in all than the patience.
TEST_F(ConnectionTest, PatienceCountsFromTheLastByte) {
  char byte = 0;
  Connection::Message coming(&byte, 1);
  there_->begin_receive(coming);
  thread_here_.reset();
  std::thread sender([&] {
    const unsigned char wire[17] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 77};
    for (const unsigned char& character : wire) {
      EXPECT_EQ(::send(here_->descriptor(), &character, 1, MSG_NOSIGNAL), 1);
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
    }
  });
  EXPECT_NO_THROW(there_->wait_received(coming, std::chrono::milliseconds(2500)));
  EXPECT_EQ(byte, 77);
  there_->give_up_receiving(coming);
  sender.join();
}

TEST_F(ConnectionTest, AGivenUpMessageLeavesItsMemoryAlone) {
  Bytes sent = pattern(1000, 5), received(1000, 0);
  Connection::Message coming(received.data(), received.size()), next(received.data(), received.size());
  there_->begin_receive(coming);
  there_->give_up_receiving(coming);
  Connection::Message going(sent.data(), sent.size());
  here_->begin_send(going);
  here_->wait_sent(going, kPatience);
  there_->begin_receive(next);
  EXPECT_THROW(there_->wait_received(next, kPatience), ConnectionLost);
  there_->give_up_receiving(next);
  EXPECT_EQ(received, Bytes(1000, 0));
}

// Signals interrupt the system's calls of the thread that sends and waits.
TEST_F(ConnectionTest, SignalsDoNotDisturb) {
  struct sigaction action {
  }, before{};
  action.sa_handler = [](int) {};  // without SA_RESTART
  ::sigaction(SIGUSR1, &action, &before);
  std::atomic<bool> is_done{false};
  const pthread_t disturbed = ::pthread_self();
  std::thread disturber([&] {
    while (!is_done) {
      ::pthread_kill(disturbed, SIGUSR1);
      ::usleep(50);
    }
  });
  Bytes sent = pattern(8 << 20, 6), received(sent.size());
  for (int i = 0; i < 4; ++i) {
    Connection::Message going(sent.data(), sent.size()), coming(received.data(), received.size());
    there_->begin_receive(coming);
    here_->begin_send(going);
    here_->wait_sent(going, kPatience);
    there_->wait_received(coming, kPatience);
  }
  is_done = true;
  disturber.join();
  ::sigaction(SIGUSR1, &before, nullptr);
  EXPECT_TRUE(received == sent);
}

}  // namespace
}  // namespace longhaul
