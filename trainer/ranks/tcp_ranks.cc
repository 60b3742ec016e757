#include "trainer/ranks/tcp_ranks.h"

#include <optional>
#include <thread>

#include "core/base/errors.h"
#include "core/base/index.h"
#include "trainer/ranks/connection.h"
#include "trainer/ranks/meeting.h"
#include "trainer/ranks/transfer_thread.h"

namespace longhaul {
namespace {

constexpr auto kTimeToRead = std::chrono::milliseconds(500);  // for the rank that failed first to say why

constexpr char kResume[] = "; start all ranks again with --resume to continue after the newest checkpoint";

class TcpRanks : public Ranks {
 public:
  TcpRanks(const RankEnvironment& environment, int patience_s, std::unique_ptr<RankStore> store,
           Sockets sockets)
      : rank_(environment.rank),
        size_(environment.size),
        patience_s_(patience_s),
        store_(std::move(store)),
        connections_(as_index(size_)) {
    std::vector<Connection*> all;
    for (int other = 0; other < size_; ++other)
      for (int channel = 0; channel < kChannels && other != rank_; ++channel) {
        Socket& socket = sockets[as_index(other)][as_index(channel)];
        prepare_for_transfers(socket, patience_s);
        auto& connection = connections_[as_index(other)][as_index(channel)];
        connection = std::make_unique<Connection>(std::move(socket));
        all.push_back(connection.get());
      }
    thread_.emplace(all);
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  std::unique_ptr<Transfer> send(int to, int channel, const void* data, std::size_t bytes) override {
    return std::make_unique<Sending>(*this, to, channel, const_cast<void*>(data), bytes);
  }

  std::unique_ptr<Transfer> receive(int from, int channel, void* data, std::size_t bytes) override {
    return std::make_unique<Receiving>(*this, from, channel, data, bytes);
  }

  void check_others(std::chrono::steady_clock::time_point begin) override {
    for (int other = 0; other < size_; ++other)
      if (other != rank_ && connection(other, kLockstep).has_ended())
        lost(other, ConnectionLost("it has closed the connection", false));
    if (std::chrono::steady_clock::now() > begin + std::chrono::seconds(patience_s_))
      throw RunError("another rank has kept this one waiting for " + std::to_string(patience_s_) + " s" +
                     kResume);
  }

  void say_last(const std::string& words) override {
    say_first_words(*store_, rank_, words);
    thread_.reset();
    for (const auto& channels : connections_)  // the others find this rank gone
      for (const auto& connection : channels)
        if (connection) connection->close();
    if (rank_ == 0) std::this_thread::sleep_for(3 * kTimeToRead);  // which keeps the store: they read why
  }

 private:
  class Under : public Transfer {
   public:
    Under(TcpRanks& ranks, int other, int channel, void* data, std::size_t bytes)
        : ranks_(ranks),
          other_(other),
          connection_(ranks.connection(other, channel)),
          message_(data, bytes) {}

   protected:
    using Wait = void (Connection::*)(Connection::Message&, std::chrono::milliseconds);
    void wait_for(Wait way) {
      try {
        (connection_.*way)(message_, std::chrono::seconds(ranks_.patience_s_));
      } catch (const ConnectionLost& lost) {
        ranks_.lost(other_, lost);
      }
    }

    TcpRanks& ranks_;
    int other_;
    Connection& connection_;
    Connection::Message message_;
  };

  class Sending : public Under {
   public:
    Sending(TcpRanks& ranks, int to, int channel, void* data, std::size_t bytes)
        : Under(ranks, to, channel, data, bytes) {
      connection_.begin_send(message_);
    }
    ~Sending() override { connection_.give_up_sending(message_); }
    void wait() override { wait_for(&Connection::wait_sent); }
  };

  class Receiving : public Under {
   public:
    Receiving(TcpRanks& ranks, int from, int channel, void* data, std::size_t bytes)
        : Under(ranks, from, channel, data, bytes) {
      connection_.begin_receive(message_);
    }
    ~Receiving() override { connection_.give_up_receiving(message_); }
    void wait() override { wait_for(&Connection::wait_received); }
  };

  Connection& connection(int other, int channel) {
    const auto& found = connections_.at(as_index(other)).at(as_index(channel));
    if (!found) throw std::logic_error("a rank has no connection to itself");
    return *found;
  }

  // The rank that failed first is named: the one that this one waits for may have ended because of it.
  [[noreturn]] void lost(int other, const ConnectionLost& lost) {
    std::this_thread::sleep_for(kTimeToRead);
    const std::string words = first_words(*store_);
    if (!words.empty()) throw RunError(words + (words.find(kResume) == std::string::npos ? kResume : ""));
    const std::string how =
        lost.is_silent() ? " has not answered for " + std::to_string(patience_s_) + " s (" : " is gone (";
    throw RunError("rank " + std::to_string(other) + how + lost.what() + ")" + kResume);
  }

  int rank_, size_, patience_s_;
  std::unique_ptr<RankStore> store_;
  std::vector<std::array<std::unique_ptr<Connection>, kChannels>> connections_;
  std::optional<TransferThread> thread_;  // ends before the connections do
};

}  // namespace

std::unique_ptr<Ranks> make_tcp_ranks(const RankEnvironment& environment, int patience_s,
                                      std::unique_ptr<RankStore> store) {
  Sockets sockets;
  try {
    sockets = meet(*store, environment, patience_s);
  } catch (const RankTaken&) {
    throw;  // those who meet there are not told of it
  } catch (const std::exception& error) {
    say_first_words(*store, environment.rank, error.what());
    if (environment.rank == 0) std::this_thread::sleep_for(3 * kTimeToRead);  // which keeps the store
    throw;
  }
  return std::make_unique<TcpRanks>(environment, patience_s, std::move(store), std::move(sockets));
}

}  // namespace longhaul
