#include "trainer/cuda/device_transfers.h"

#include <algorithm>

namespace longhaul {
namespace {

constexpr std::size_t kPieceBytes = 4 << 20;

// A piece on its way through host memory.
struct Staged {
  char* on_device;
  std::vector<char> bytes;
  std::unique_ptr<Transfer> transfer;
};

// While one piece is copied the others travel.
class StagedTransfers : public DeviceTransfers {
 public:
  explicit StagedTransfers(Ranks& ranks) : ranks_(ranks) {}

  void run(const std::vector<DeviceMove>& moves, CudaStream) override {
    std::vector<Staged> coming, going;
    for (const DeviceMove& move : moves)
      for (std::size_t from = 0; from < move.bytes; from += kPieceBytes) {
        std::vector<Staged>& pieces = move.is_send ? going : coming;
        pieces.push_back({static_cast<char*>(move.data) + from,
                          std::vector<char>(std::min(kPieceBytes, move.bytes - from)), nullptr});
        Staged& piece = pieces.back();
        if (move.is_send) copy_to_host(piece.bytes.data(), piece.on_device, piece.bytes.size());
        piece.transfer = move.is_send
                             ? ranks_.send(move.other, kLockstep, piece.bytes.data(), piece.bytes.size())
                             : ranks_.receive(move.other, kLockstep, piece.bytes.data(), piece.bytes.size());
      }
    for (Staged& piece : coming) {
      piece.transfer->wait();
      copy_to_device(piece.on_device, piece.bytes.data(), piece.bytes.size());
    }
    for (Staged& piece : going) piece.transfer->wait();
  }

 private:
  Ranks& ranks_;
};

}  // namespace

std::unique_ptr<DeviceTransfers> make_device_transfers(Ranks& ranks) {
#ifdef LONGHAUL_NCCL
  if (auto transfers = make_nccl_transfers(ranks)) return transfers;
#endif
  return std::make_unique<StagedTransfers>(ranks);
}

void broadcast(DeviceTransfers& transfers, const Ranks& ranks, int from, void* data, std::size_t bytes,
               CudaStream stream) {
  const int size = ranks.size(), me = (ranks.rank() - from + size) % size;  // counted from the sender
  int reach = 1;                                                            // the first `reach` know it
  for (; reach < size && me >= reach; reach *= 2)
    if (me < 2 * reach) transfers.run({{(me - reach + from) % size, data, bytes, false}}, stream);
  std::vector<DeviceMove> going;
  for (; reach < size; reach *= 2)
    if (me + reach < size) going.push_back({(me + reach + from) % size, data, bytes, true});
  transfers.run(going, stream);
}

}  // namespace longhaul
