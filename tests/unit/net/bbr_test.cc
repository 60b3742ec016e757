// BBR's model of a path against closed forms of its algorithm: a sender with a fair share of a link.
#include "net/tcp/bbr.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace longhaul::bbr_test {

constexpr double kSegment = 1448, kRtt_s = 0.1;
constexpr double kShare = 12.5e6;  // bytes a second

struct Sender {
  Bbr bbr{kSegment, kRtt_s};
  double now_s = 0, share = kShare;

  // Until so much has been sent, or it is `end_s`, or start-up ends if it is to; how much was.
  double send(double bytes, double end_s, bool only_start = false) {
    bbr.begin(now_s);
    double sent = 0;
    while (sent < bytes - 1e-3 && now_s < end_s - 1e-9 && !(only_start && !bbr.is_starting())) {
      const double credit = bbr.credit(), rate = std::min(share, bbr.pacing());
      const bool may_send = credit > 1e-3 + 2e-9 * rate;  // as the channel
      double wait_s = std::min(bbr.wait_s(rate, now_s), end_s - now_s);
      if (may_send) wait_s = std::min(wait_s, (bytes - sent) / rate);
      now_s += wait_s;
      const double step = may_send ? std::min({bytes - sent, credit, rate * wait_s}) : 0;
      bbr.advance(step, rate, now_s);
      sent += step;
    }
    return sent;
  }
  double time_of(double bytes) {
    const double begun_s = now_s;
    send(bytes, 1e9);
    return now_s - begun_s;
  }
};

// A window of ten segments that doubles every round trip: 10 (2^k − 1) after k. Pacing at 2 / ln 2 times the
// rate seen is just enough for that once it is under way; its first rounds are spread over more than their
// round trip, which costs about half of one.
TEST(Bbr, StartUpDoublesEveryRoundTrip) {
  double before = 10;
  for (int rounds = 1; rounds <= 10; ++rounds) {
    Sender sender;
    sender.share = 1e11;
    const double and_ten = 10 + sender.send(1e15, rounds * kRtt_s) / kSegment;
    EXPECT_LE(and_ten, 10 * std::exp2(rounds) * (1 + 1e-9)) << rounds;
    EXPECT_GT(and_ten, 10 * std::exp2(rounds - 2. / 3)) << rounds;
    EXPECT_NEAR(and_ten / before, 2, rounds > 4 ? 0.06 : 0.3) << rounds;
    before = and_ten;
  }
}

// Over three round trips in which the share was all that there was to see, and not before.
TEST(Bbr, StartUpEndsThreeRoundTripsBehindTheFullPipe) {
  Sender sender;
  const double pipe = kShare * kRtt_s, full_rounds = std::log2(pipe / (10 * kSegment));
  sender.send(1e15, 100 * kRtt_s, true);
  EXPECT_GT(sender.now_s, (std::floor(full_rounds) + 3) * kRtt_s);
  EXPECT_LT(sender.now_s, (std::ceil(full_rounds) + 6) * kRtt_s);
  EXPECT_NEAR(sender.bbr.bandwidth(), kShare, 1e-6 * kShare);
}

// Until the first acknowledgement behind a pause that is longer than a round trip it paces at 0.99 of it.
TEST(Bbr, ThenItHasItsShareAtOnceAlsoAfterAPause) {
  Sender sender;
  sender.time_of(100 * kShare * kRtt_s);
  ASSERT_FALSE(sender.bbr.is_starting());
  for (const double pause_s : {0., 0.05, 1., 1000.}) {
    sender.now_s += pause_s;
    const double restart_s = pause_s > kRtt_s ? 0.01 * kRtt_s : 0;
    EXPECT_NEAR(sender.time_of(5e6), restart_s + 5e6 / kShare, 1e-6) << pause_s;
  }
}

// A link that lets the phase of gain 0.75 begin, then messages of a quarter of a round trip: each has 0.99 of
// the bandwidth behind a pause of a second, and behind one of half a round trip once that phase is over.
TEST(Bbr, ShortMessagesAreNotHeldInASlowPhase) {
  const double bytes = 0.25 * kShare * kRtt_s;
  for (const double pause_s : {1., kRtt_s / 2}) {
    Sender sender;
    sender.time_of(20 * kShare * kRtt_s);
    sender.share = 10 * kShare;
    sender.send(1e15, sender.now_s + 1.1 * kRtt_s);
    ASSERT_NEAR(sender.bbr.pacing(), 0.75 * 0.99 * sender.bbr.bandwidth(), 1);
    const double known = sender.bbr.bandwidth(), slow_until_s = sender.now_s + 0.9 * kRtt_s;
    for (int message = 0; message < 6; ++message) {
      sender.now_s += pause_s;
      if (pause_s < kRtt_s && sender.now_s < slow_until_s)
        sender.time_of(bytes);
      else
        EXPECT_NEAR(sender.time_of(bytes), bytes / (0.99 * known), 1e-5) << pause_s << ' ' << message;
    }
    EXPECT_EQ(sender.bbr.bandwidth(), known) << pause_s;
  }
}

// At a round trip of 5 ms a probe lasts more than ten, whatever phase it comes in: the next sample replaces
// the largest one, and that is 0.99 of it at least, since no cycle begins with the phase of gain 0.75.
TEST(Bbr, ALongProbeCostsNoBandwidth) {
  constexpr double kShort_s = 0.005;
  for (int phases = 0; phases < 8; ++phases) {
    Sender sender;
    sender.bbr = Bbr(kSegment, kShort_s);
    sender.send(1e15, 10 - (phases + 0.5) * kShort_s);
    ASSERT_FALSE(sender.bbr.is_starting());
    sender.share = 10 * kShare;
    sender.send(1e15, 10.1);
    const double before = sender.bbr.bandwidth();
    EXPECT_NEAR(sender.bbr.pacing(), 4 * kSegment / kShort_s, 1) << "probes";
    sender.send(1e15, 10.2 + kShort_s);
    for (int round = 1; round <= 4; ++round) {
      sender.send(1e15, 10.2 + (round + 1.5) * kShort_s);
      EXPECT_GE(sender.bbr.bandwidth(), 0.99 * before * (1 - 1e-9)) << phases << ' ' << round;
    }
  }
}

// A path without a round trip is one of the shortest that there is.
TEST(Bbr, FollowsAPathWithoutARoundTrip) {
  Bbr changed(kSegment, kRtt_s), made(kSegment, 0);
  changed.follow_path(0);
  EXPECT_EQ(changed.wait_s(1e6, 0), made.wait_s(1e6, 0));
  EXPECT_TRUE(std::isfinite(changed.wait_s(1e6, 0)));
  Sender sender;
  sender.time_of(20 * kShare * kRtt_s);
  sender.bbr.follow_path(0);
  sender.send(1e15, 10.1);
  EXPECT_TRUE(std::isfinite(sender.bbr.pacing())) << "in a probe";
}

// Messages of a quarter of a round trip are limited by the application: what they show of the path is their
// bytes a round trip and its own length d, over which the next is paced. d = S / (2.885 · 0.99 · S / (1 +
// d)).
TEST(Bbr, ShortMessagesArePacedByWhatTheyShow) {
  Sender sender;
  double took_s = 0;
  for (int message = 0; message < 60; ++message) {
    took_s = sender.time_of(400 * kSegment);
    sender.now_s += 1;
  }
  EXPECT_TRUE(sender.bbr.is_starting());
  EXPECT_NEAR(took_s, kRtt_s / (2.885 * 0.99 - 1), 0.05 * kRtt_s);
}

// The phase of gain 1.25 lasts a round trip where the share is more than that, and comes every eighth. A
// smaller share is known once ten round trips have not shown the old one.
TEST(Bbr, AGreaterShareIsFoundByQuartersAndASmallerOneLate) {
  Sender greater;
  greater.time_of(100 * kShare * kRtt_s);
  Sender smaller = greater;
  greater.share = 10 * kShare;
  smaller.share = kShare / 2;
  const double before = greater.bbr.bandwidth();
  greater.send(1e15, greater.now_s + 5 * 8 * kRtt_s + 1e-3);
  EXPECT_NEAR(greater.bbr.bandwidth() / before, std::pow(1.25 * 0.99, 5), 1e-6);
  smaller.send(1e15, smaller.now_s + 9 * kRtt_s);
  EXPECT_NEAR(smaller.bbr.bandwidth(), kShare, 1e-6 * kShare);
  smaller.send(1e15, smaller.now_s + 3 * kRtt_s);
  EXPECT_NEAR(smaller.bbr.bandwidth(), kShare / 2, 1e-6 * kShare);
}

// Ten seconds after it was last known: for a round trip and 200 ms four segments a round trip, unless the
// path is idle then.
TEST(Bbr, TheRoundTripIsProbedEveryTenSeconds) {
  Sender sender;
  const double probe_s = kRtt_s + 0.2, lost_s = probe_s * (1 - 4 * kSegment / kRtt_s / kShare);
  sender.time_of(5 * kShare);
  ASSERT_LT(sender.now_s, 9);
  sender.now_s = 20;  // known again
  EXPECT_NEAR(sender.time_of(9.9 * kShare), 9.9 + 0.01 * kRtt_s, 1e-6) << "its first round trip at 0.99";
  EXPECT_NEAR(sender.time_of(35 * kShare), 35 + 4 * lost_s, 1e-3) << "at 30, 40.3, 50.6 and 60.9 s";
}

// Messages of a ring follow each other in less than a round trip, so that the path never idles: probes come,
// also at a message's end, and what is slow meanwhile is no sample.
TEST(Bbr, AProbeForgetsNothing) {
  Sender sender;
  const auto messages_until = [&](double end_s) {
    double slowest_s = 0;
    for (; sender.now_s < end_s; sender.now_s += kRtt_s / 2)
      slowest_s = std::max(slowest_s, sender.time_of(168 * kSegment));
    return slowest_s;
  };
  messages_until(9);
  const double before = sender.bbr.bandwidth();
  EXPECT_GT(messages_until(11), 0.2);
  EXPECT_LT(messages_until(19), kRtt_s);
  EXPECT_GT(messages_until(22), 0.2);
  EXPECT_LT(messages_until(29), kRtt_s);
  EXPECT_GE(sender.bbr.bandwidth(), before);
}

// Ten segments but for a rest that the clock cannot send: it waits for the acknowledgement of their middle, a
// round trip and half of 1.16 ms after they began.
TEST(Bbr, ARestThatDoesNotLeaveIsNotWaitedFor) {
  constexpr double kRate = 12.5e6, kWindow = 14480, kRtt_s = 0.06;
  Bbr bbr(1448, kRtt_s);
  bbr.begin(0);
  const double sent_s = kWindow / kRate;
  bbr.advance(kWindow - 0.0011, kRate, sent_s);
  EXPECT_NEAR(bbr.wait_s(kRate, sent_s), kRtt_s + sent_s / 2 - sent_s, 1e-6);
}

}  // namespace longhaul::bbr_test
