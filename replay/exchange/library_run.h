// An exchange as a communication library carries it (net/library.h): each member goes through the steps of
// its program, so many at a time; announcements, requests and answers are messages of the network like the
// data, on the same connections.
#pragma once

#include <deque>
#include <map>
#include <vector>

#include "replay/exchange/exchange_run.h"

namespace longhaul {

class LibraryRun : public ExchangeRun {
 public:
  LibraryRun(const ExchangeContext& context, ExchangeOrder order, MemberDone on_member_done);

 private:
  // A step that is posted; over when all of it has come and left.
  struct Step {
    int missing = 0, unsent = 0;
  };
  // One direction of a pair, by the number of the message, counted from 0.
  struct Incoming {
    int step = -1;  // that waits for it; -1: not posted yet
    bool has_arrived = false, is_requested = false;
  };
  struct Outgoing {
    int step = 0, number = 0;
    std::int64_t bytes = 0;
  };
  struct Peer {
    std::deque<Incoming> incoming;
    int first_incoming = 0, posted_incoming = 0, sent = 0, answered = 0;
    int announced = 0;              // by it, and not used yet
    std::deque<Outgoing> outgoing;  // that wait for its announcement or answer
    std::deque<int> unreceipted;    // steps of what waits for its receipt
  };
  struct Member {
    int next = 0, first_open = 0;  // steps: the next one to post, the first one that is not over
    std::deque<Step> open;         // first_open … next − 1
    int unsent = 0, sent = 0;      // messages
    SyncParts chain;               // that led to where it is,
    double led_s = 0;              // and when
    bool has_started = false, is_waking = false, is_done = false;
    double free_s = 0;          // when its host has taken in all that came before
    std::int64_t unopened = 0;  // bytes of payload that wait for their connection
    std::map<int, Peer> peers;
  };
  // kPut: data that was asked for, where that awaits a receipt.
  enum class Kind { kData, kPut, kAnnouncement, kRequest, kAnswer, kReceipt };
  struct UnderWay {
    SyncParts chain;  // that led to it, and what the network adds
    Kind kind = Kind::kData;
    std::size_t from = 0, to = 0;
    int number = 0;
    bool is_counted = false;
    std::int64_t payload = 0;  // bytes, of kData and kPut
  };

  void start(std::size_t member, const SyncParts& chain) override;
  Waiting waiting(std::size_t member) const override;
  void take_back_unsent() override;
  Round round_at(std::size_t member, int step) const;
  int phase_of(int step) const;
  bool may_post(const Member& member) const;
  void follow(Member& member, const SyncParts& chain);
  SyncParts chain_of(const Member& member) const;
  SyncParts until_now(SyncParts chain, double led_s) const;
  void post_step(std::size_t index);
  void post_receive(std::size_t index, int peer, int step);
  void post_send(std::size_t index, const Message& message, int step);
  void send_data(Kind kind, std::size_t index, int peer, const Outgoing& outgoing, std::int64_t bytes);
  void send(Kind kind, std::size_t from, std::size_t to, int number, std::int64_t bytes,
            std::int64_t payload = 0);
  void hand_over(UnderWay* message, std::int64_t bytes);
  void open(UnderWay* first, int side);
  void opened(int lower, int higher, int side);
  void arrive(UnderWay* message);
  void take_in(UnderWay* message, const SyncParts& chain);
  void take(std::size_t index, int peer, int number);
  void answer(std::size_t index, int peer, int number);
  void left(std::size_t index, int step);
  void wake(std::size_t index);
  void advance(std::size_t index);
  Incoming& incoming_of(Peer& peer, int number);

  const Lowering lowering_;
  const int rounds_, steps_;
  std::vector<Member> members_;
  std::deque<UnderWay> messages_;
  std::vector<UnderWay*> free_;
};

}  // namespace longhaul
