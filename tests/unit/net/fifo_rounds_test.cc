// By hand: a rate of 1 byte a second, a round trip of 100 s, so that the pipe is 100 bytes, and a FIFO of 30.
#include "net/tcp/fifo_rounds.h"

#include <gtest/gtest.h>

namespace longhaul {
namespace {

using Kind = FifoRounds::Reaction::Kind;

constexpr double kRate = 1, kTimeout_s = 120, kRoom = 30;

FifoRounds rounds() {
  return FifoRounds(100, kTimeout_s);
}

// What is lost of a burst of `bytes` that is released by acknowledgements of `acknowledged`, `compressed` of
// them at once.
double lost_of(double bytes, double acknowledged, double compressed) {
  FifoRounds fifo_rounds = rounds();
  FifoRounds::Reaction before;
  before.bytes = acknowledged;
  before.compressed = compressed;
  fifo_rounds.released(before, bytes, kRate, 0);
  return fifo_rounds.sent(bytes, 0, kRate, 0, kRoom);
}

// Every acknowledgement releases two segments in the time in which one is sent.
TEST(FifoRounds, SlowStartQueuesHalfOfItsBurst) {
  EXPECT_DOUBLE_EQ(lost_of(40, 20, 0), 0);
  EXPECT_DOUBLE_EQ(lost_of(60, 30, 0), 0);
  EXPECT_DOUBLE_EQ(lost_of(80, 40, 0), 10);
}

TEST(FifoRounds, OneDirectionQueuesTheWindowLessThePipe) {
  EXPECT_DOUBLE_EQ(lost_of(100, 100, 0), 0);
  EXPECT_DOUBLE_EQ(lost_of(130, 130, 0), 0);
  EXPECT_DOUBLE_EQ(lost_of(135, 135, 0), 5);
}

// Both directions: the receiver's own window W is in front of the first acknowledgement, which waits for W
// less half a round trip; a round takes W + 50 s, and the queue holds W − 50.
TEST(FifoRounds, BothDirectionsQueueTheWindowLessHalfThePipe) {
  for (const double window : {80., 90.}) {
    FifoRounds fifo_rounds = rounds();
    FifoRounds::Reaction steady;
    steady.bytes = window;
    steady.compressed = window - 50;
    fifo_rounds.released(steady, window, kRate, 0);
    EXPECT_DOUBLE_EQ(fifo_rounds.sent(window, 0, kRate, window - 50, kRoom), window - 80);
    EXPECT_DOUBLE_EQ(fifo_rounds.next_s(), window + 50);
  }
}

// The queue is full after 30 / (1 − 1/2) = 60 bytes of the burst of 80.
TEST(FifoRounds, ALossIsNoticedARoundLater) {
  FifoRounds fifo_rounds = rounds();
  FifoRounds::Reaction before;
  before.bytes = 40;
  fifo_rounds.released(before, 80, kRate, 0);
  EXPECT_DOUBLE_EQ(fifo_rounds.sent(80, 5, kRate, 0, kRoom), 10);
  EXPECT_TRUE(fifo_rounds.is_missing_some());
  EXPECT_DOUBLE_EQ(fifo_rounds.next_s(), 105);
  const FifoRounds::Reaction noticed = fifo_rounds.take(kRate, true);
  EXPECT_EQ(noticed.kind, Kind::kCongested);
  EXPECT_DOUBLE_EQ(noticed.acknowledged, 60);
  EXPECT_DOUBLE_EQ(noticed.bytes, 70);
  EXPECT_DOUBLE_EQ(noticed.resend, 10);
  EXPECT_FALSE(fifo_rounds.is_missing_some());
}

// A whole window at once: all behind the first 30 bytes is gone, and only what is sent after their
// acknowledgements tells of it.
TEST(FifoRounds, AWindowAtOnceLosesItsTail) {
  FifoRounds fifo_rounds = rounds();
  fifo_rounds.start(100, kRate, 0);
  EXPECT_DOUBLE_EQ(fifo_rounds.sent(100, 0, kRate, 0, kRoom), 70);
  FifoRounds::Reaction reaction = fifo_rounds.take(kRate, true);
  EXPECT_EQ(reaction.kind, Kind::kNone);
  EXPECT_DOUBLE_EQ(reaction.acknowledged, 30);
  fifo_rounds.released(reaction, 60, kRate, 100);
  EXPECT_DOUBLE_EQ(fifo_rounds.sent(60, 100, kRate, 0, kRoom), 0);
  reaction = fifo_rounds.take(kRate, true);
  EXPECT_EQ(reaction.kind, Kind::kCongested);
  EXPECT_DOUBLE_EQ(reaction.acknowledged, 0) << "nothing new is acknowledged behind the hole";
  EXPECT_DOUBLE_EQ(reaction.resend, 70);
}

// The last acknowledgement comes at 100 + 30 s.
TEST(FifoRounds, ATailWithNothingBehindItWaitsForTheTimeOut) {
  FifoRounds fifo_rounds = rounds();
  fifo_rounds.start(100, kRate, 0);
  fifo_rounds.sent(100, 0, kRate, 0, kRoom);
  EXPECT_EQ(fifo_rounds.take(kRate, false).kind, Kind::kStalled);
  EXPECT_DOUBLE_EQ(fifo_rounds.next_s(), 130 + kTimeout_s);
  const FifoRounds::Reaction reaction = fifo_rounds.take(kRate, false);
  EXPECT_EQ(reaction.kind, Kind::kTimedOut);
  EXPECT_DOUBLE_EQ(reaction.resend, 70);
}

// The window after a loss is still too large: 40 bytes too much of it are lost again, and nobody notices. Of
// the 135 bytes sent behind the first of them no more than the sender's buffer may be on the way; each
// repetition later covers 130 / 40 bytes that had come through besides itself.
TEST(FifoRounds, ARepetitionThatIsLostWaitsForTheTimeOut) {
  FifoRounds fifo_rounds = rounds();
  FifoRounds::Reaction before;
  before.bytes = 40;
  fifo_rounds.released(before, 80, kRate, 0);
  fifo_rounds.sent(80, 0, kRate, 0, kRoom);
  fifo_rounds.released(fifo_rounds.take(kRate, true), 170, kRate, 100);
  EXPECT_DOUBLE_EQ(fifo_rounds.sent(170, 100, kRate, 0, kRoom), 40);
  const FifoRounds::Reaction stalled = fifo_rounds.take(kRate, true);
  EXPECT_EQ(stalled.kind, Kind::kStalled);
  EXPECT_DOUBLE_EQ(stalled.bytes, 130);
  EXPECT_DOUBLE_EQ(fifo_rounds.next_s(), 200 + 130 + kTimeout_s);
  FifoRounds::Reaction reaction = fifo_rounds.take(kRate, true);
  EXPECT_EQ(reaction.kind, Kind::kTimedOut);
  EXPECT_DOUBLE_EQ(reaction.resend, 40);
  fifo_rounds.released(reaction, 10, kRate, 450);
  EXPECT_DOUBLE_EQ(fifo_rounds.sent(10, 450, kRate, 0, kRoom), 0);
  EXPECT_DOUBLE_EQ(fifo_rounds.take(kRate, true).acknowledged, 10 + 10 * 130. / 40);
}

}  // namespace
}  // namespace longhaul
