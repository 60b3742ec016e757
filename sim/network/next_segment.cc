// What ns-3's TCP sends next, without a look at all that is under way.
//
// ns-3 3.37 walks its list of sent segments for each segment that it sends, in search of a lost one (RFC
// 6675, NextSeg, rule 1). On a long, fast path that is thousands a segment and most of a packet run. It
// counts lost bytes too: where the count is 0 there is nothing to find. This definition stands before that of
// ns-3's shared library, which calls it by its name, and asks ns-3's own as soon as something is lost or
// recovery goes on.
#include <dlfcn.h>
#include <ns3/tcp-tx-buffer.h>

#include <algorithm>
#include <stdexcept>

namespace ns3 {
namespace {

using NextSegment = bool (*)(const TcpTxBuffer*, SequenceNumber32*, SequenceNumber32*, bool);

NextSegment next_segment_of_ns3() {
  void* const found = dlsym(RTLD_NEXT, "_ZNK3ns311TcpTxBuffer7NextSegEPNS_14SequenceNumberIjiEES3_b");
  if (found == nullptr) throw std::logic_error("ns-3's library has no TcpTxBuffer::NextSeg");
  return reinterpret_cast<NextSegment>(found);
}

}  // namespace

bool TcpTxBuffer::NextSeg(SequenceNumber32* seq, SequenceNumber32* seqHigh, bool isRecovery) const {
  static const NextSegment scan = next_segment_of_ns3();
  if (m_lostOut > 0 || isRecovery) return scan(this, seq, seqHigh, isRecovery);
  const SequenceNumber32 unsent = m_firstByteSeq.Get() + static_cast<std::int32_t>(m_sentSize);
  const std::uint32_t window = m_rWndCallback();
  if (SizeFromSequence(unsent) == 0 || m_sentSize > window) return false;
  *seq = unsent;
  *seqHigh = unsent + static_cast<std::int32_t>(std::min(m_segmentSize, window - m_sentSize));
  return true;
}

}  // namespace ns3
