#include <nccl.h>

#include <chrono>
#include <cstdlib>
#include <set>
#include <string>
#include <thread>

#include "core/base/errors.h"
#include "trainer/cuda/device_transfers.h"

namespace longhaul {
namespace {

using Clock = std::chrono::steady_clock;

// NCCL itself waits without an end for a rank that died: its calls do not block, and while they are under way
// the connections over TCP tell whether the others live.
class NcclTransfers : public DeviceTransfers {
 public:
  explicit NcclTransfers(Ranks& ranks) : ranks_(ranks) {
    try {
      connect();
    } catch (const std::exception&) {
      abort();
      throw;
    }
  }

  ~NcclTransfers() override {
    if (!communicator_) return;
    try {
      begun(ncclCommFinalize(communicator_));
      ncclCommDestroy(communicator_);
    } catch (const std::exception&) {
      abort();
    }
  }

  void run(const std::vector<DeviceMove>& moves, CudaStream stream) override {
    if (moves.empty()) return;
    if (!communicator_) throw RunError("NCCL: a transfer before has failed");
    try {
      start(moves, stream);
      wait_for(stream);
    } catch (const std::exception&) {
      abort();
      throw;
    }
  }

 private:
  void connect() {
    ncclUniqueId id{};
    if (ranks_.is_first()) check(ncclGetUniqueId(&id));
    broadcast(ranks_, 0, &id, sizeof id);
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    begun(ncclCommInitRankConfig(&communicator_, ranks_.size(), id, ranks_.rank(), &config));
  }

  void start(const std::vector<DeviceMove>& moves, CudaStream stream) {
    check(ncclGroupStart());
    for (const DeviceMove& move : moves)
      check(move.is_send ? ncclSend(move.data, move.bytes, ncclInt8, move.other, communicator_, stream)
                         : ncclRecv(move.data, move.bytes, ncclInt8, move.other, communicator_, stream));
    begun(ncclGroupEnd());
  }

  void wait_for(CudaStream stream) {
    const Clock::time_point begin = Clock::now();
    for (cudaError_t state = cudaStreamQuery(stream); state != cudaSuccess; state = cudaStreamQuery(stream)) {
      if (state != cudaErrorNotReady)
        throw RunError(std::string("CUDA: a transfer over NCCL failed: ") + cudaGetErrorString(state));
      settle();
      look(begin);
    }
  }

  // Of a call that does not block.
  void begun(ncclResult_t result) {
    if (result != ncclInProgress) check(result);
    settle();
  }

  // Until NCCL has started what it was asked for.
  void settle() {
    const Clock::time_point begin = Clock::now();
    for (;;) {
      ncclResult_t state = ncclSuccess;
      check(ncclCommGetAsyncError(communicator_, &state));
      if (state == ncclSuccess) return;
      if (state != ncclInProgress) check(state);
      look(begin);
    }
  }

  void look(Clock::time_point begin) {
    if (Clock::now() < begin + std::chrono::milliseconds(1)) return;  // most are over by then
    std::this_thread::sleep_for(std::chrono::microseconds(50));
    if (Clock::now() < next_question_) return;
    next_question_ = Clock::now() + std::chrono::milliseconds(50);
    ranks_.check_others(begin);
  }

  void check(ncclResult_t result) const {
    if (result == ncclSuccess || result == ncclInProgress) return;
    ranks_.check_others(Clock::now());  // the reason, where one died
    throw RunError(std::string("NCCL between the ranks' GPUs: ") + ncclGetErrorString(result) +
                   "; NCCL_DEBUG=WARN says more, LONGHAUL_NCCL=0 exchanges through host memory");
  }

  void abort() {
    if (communicator_) ncclCommAbort(communicator_);
    communicator_ = nullptr;
  }

  Ranks& ranks_;
  ncclComm_t communicator_ = nullptr;
  Clock::time_point next_question_ = Clock::now();
};

bool is_wanted() {
  const char* wish = std::getenv("LONGHAUL_NCCL");
  return !wish || std::string(wish) != "0";
}

}  // namespace

std::unique_ptr<DeviceTransfers> make_nccl_transfers(Ranks& ranks) {
  const std::vector<std::string> cards = gather(ranks, device_identity());
  const bool has_own = std::set<std::string>(cards.begin(), cards.end()).size() == cards.size();
  if (!all_of(ranks, has_own && is_wanted())) return nullptr;
  return std::make_unique<NcclTransfers>(ranks);
}

}  // namespace longhaul
