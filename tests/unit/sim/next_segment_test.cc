// What TCP sends next: the answer without a walk over what is under way, beside ns-3's own, on drawn
// histories.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <ns3/packet.h>
#include <ns3/tcp-tx-buffer.h>

#include <algorithm>
#include <random>

namespace longhaul::next_segment_test {

constexpr std::uint32_t kSegment = 100, kWindow = 4000;
constexpr char kName[] = "_ZNK3ns311TcpTxBuffer7NextSegEPNS_14SequenceNumberIjiEES3_b";
using NextSegment = bool (*)(const ns3::TcpTxBuffer*, ns3::SequenceNumber32*, ns3::SequenceNumber32*, bool);

NextSegment next_segment_of_ns3() {
  return reinterpret_cast<NextSegment>(dlsym(RTLD_NEXT, kName));
}

std::uint32_t window() {
  return kWindow;
}

// A sender with `segments` to send, whose receiver acknowledges some, in order or not.
class Sender {
 public:
  explicit Sender(int segments) : buffer_(ns3::Create<ns3::TcpTxBuffer>(1)) {
    buffer_->SetSegmentSize(kSegment);
    buffer_->SetDupAckThresh(3);
    buffer_->SetRWndCallback(ns3::MakeCallback(&window));
    buffer_->SetMaxBufferSize(kSegment * static_cast<std::uint32_t>(segments));
    buffer_->Add(ns3::Create<ns3::Packet>(kSegment * static_cast<std::uint32_t>(segments)));
  }

  const ns3::TcpTxBuffer& buffer() const { return *buffer_; }
  bool is_lossy() const { return buffer_->GetLost() > 0; }

  void send() {
    ns3::SequenceNumber32 begin, end;
    if (!buffer_->NextSeg(&begin, &end, false)) return;
    buffer_->CopyFromSequence(kSegment, begin);
    sent_ = std::max(sent_, begin + kSegment);
  }
  void acknowledge() {
    if (buffer_->HeadSequence() < sent_) buffer_->DiscardUpTo(buffer_->HeadSequence() + kSegment);
  }
  // The receiver has the segment so many places behind the first one that it lacks.
  void acknowledge_behind(int places) {
    const ns3::SequenceNumber32 begin =
        buffer_->HeadSequence() + kSegment * static_cast<std::uint32_t>(places);
    if (begin < sent_) buffer_->Update({{begin, begin + kSegment}});
  }
  void time_out() { buffer_->SetSentListLost(); }

 private:
  ns3::Ptr<ns3::TcpTxBuffer> buffer_;
  ns3::SequenceNumber32 sent_{1};
};

void expect_same_answer(const ns3::TcpTxBuffer& buffer, bool is_recovery) {
  ns3::SequenceNumber32 begin, end, expected_begin, expected_end;
  const bool is_expected = next_segment_of_ns3()(&buffer, &expected_begin, &expected_end, is_recovery);
  ASSERT_EQ(buffer.NextSeg(&begin, &end, is_recovery), is_expected);
  ASSERT_EQ(begin, expected_begin);
  ASSERT_EQ(end, expected_end);
}

TEST(NextSegment, StandsBeforeThatOfNs3) {
  ASSERT_NE(dlsym(RTLD_NEXT, kName), nullptr);
  EXPECT_NE(dlsym(RTLD_DEFAULT, kName), dlsym(RTLD_NEXT, kName));
}

TEST(NextSegment, IsThatOfNs3) {
  std::mt19937 draw(1);
  int lossy = 0, clean = 0;
  for (int history = 0; history < 50; ++history) {
    Sender sender(60);
    for (int step = 0; step < 200; ++step) {
      const auto what = draw() % 100;
      if (what < 55)
        sender.send();
      else if (what < 92)
        sender.acknowledge();
      else if (what < 99)
        sender.acknowledge_behind(1 + static_cast<int>(draw() % 8));
      else
        sender.time_out();
      ++(sender.is_lossy() ? lossy : clean);
      expect_same_answer(sender.buffer(), false);
      expect_same_answer(sender.buffer(), true);
    }
  }
  EXPECT_GT(lossy, 1000);
  EXPECT_GT(clean, 1000);
}

}  // namespace longhaul::next_segment_test
