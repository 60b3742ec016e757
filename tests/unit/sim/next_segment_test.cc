// What TCP sends next: the answer without a walk over what is under way, beside ns-3's own, on drawn
// histories.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <link.h>
#include <ns3/packet.h>
#include <ns3/tcp-tx-buffer.h>

#include <algorithm>
#include <random>
#include <string>

#include "tests/unit/sim/replays.h"

namespace longhaul::next_segment_test {

constexpr std::uint32_t kSegment = 100, kWindow = 4000;
constexpr char kName[] = "_ZNK3ns311TcpTxBuffer7NextSegEPNS_14SequenceNumberIjiEES3_b";
using NextSegment = bool (*)(const ns3::TcpTxBuffer*, ns3::SequenceNumber32*, ns3::SequenceNumber32*, bool);

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
  const auto of_ns3 = reinterpret_cast<NextSegment>(dlsym(RTLD_NEXT, kName));
  const bool is_expected = of_ns3(&buffer, &expected_begin, &expected_end, is_recovery);
  ASSERT_EQ(buffer.NextSeg(&begin, &end, is_recovery), is_expected);
  ASSERT_EQ(begin, expected_begin);
  ASSERT_EQ(end, expected_end);
}

// Where a library's own calls of kName go: the cell of its table of functions, which the loader fills at the
// first call. nullptr where it calls without the table, past any other definition.
void* const* cell_of(const link_map& library) {
  const ElfW(Sym)* symbols = nullptr;
  const char* names = nullptr;
  const ElfW(Rela)* cells = nullptr;
  std::size_t bytes = 0;
  for (const ElfW(Dyn)* part = library.l_ld; part->d_tag != DT_NULL; ++part) {
    if (part->d_tag == DT_SYMTAB) symbols = reinterpret_cast<const ElfW(Sym)*>(part->d_un.d_ptr);
    if (part->d_tag == DT_STRTAB) names = reinterpret_cast<const char*>(part->d_un.d_ptr);
    if (part->d_tag == DT_JMPREL) cells = reinterpret_cast<const ElfW(Rela)*>(part->d_un.d_ptr);
    if (part->d_tag == DT_PLTRELSZ) bytes = part->d_un.d_val;
  }
  for (const ElfW(Rela)* cell = cells; cell != cells + bytes / sizeof(*cell); ++cell)
    if (names + symbols[ELF64_R_SYM(cell->r_info)].st_name == std::string(kName))
      return reinterpret_cast<void* const*>(library.l_addr + cell->r_offset);
  return nullptr;
}

TEST(NextSegment, StandsBeforeThatOfNs3InCallsOfItsOwn) {
  void *const ours = dlsym(RTLD_DEFAULT, kName), *const theirs = dlsym(RTLD_NEXT, kName);
  ASSERT_NE(theirs, nullptr);
  ASSERT_NE(ours, theirs);
  Dl_info about;
  void* library = nullptr;
  ASSERT_NE(dladdr1(theirs, &about, &library, RTLD_DL_LINKMAP), 0);
  void* const* const cell = cell_of(*static_cast<const link_map*>(library));
  ASSERT_NE(cell, nullptr) << about.dli_fname;
  Case config = star_case(2, 1e8, 0.01);
  config.network.fidelity = "packet";
  run_replay(config, single_exchange("pair", 2, 100000));
  EXPECT_EQ(*cell, ours);
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
