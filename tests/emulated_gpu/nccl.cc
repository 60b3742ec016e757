#include "tests/emulated_gpu/nccl.h"

#include <cstdio>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/emulated_gpu/device_memory.h"

namespace {

using Bytes = std::vector<char>;

struct World {
  std::mutex mutex;
  std::map<std::pair<int, int>, std::deque<Bytes>> mail;  // by (from, to)
};

std::mutex worlds_mutex;
std::map<std::string, std::shared_ptr<World>> worlds;

template <typename Byte>
struct Transfer {
  ncclComm* communicator;
  int other;
  Byte* data;
  std::size_t bytes;
};

thread_local bool in_group = false;
thread_local std::vector<Transfer<const char>> sendings;
thread_local std::deque<Transfer<char>> receivings;  // begun, and not arrived

}  // namespace

std::atomic<int> emulated_nccl_messages{0};

struct ncclComm {
  std::shared_ptr<World> world;
  int rank = 0;
  bool is_busy = false;  // as one that has just been asked for something
};

cudaError_t cudaStreamQuery(cudaStream_t) {
  const longhaul::emulated::DeviceAtWork at_work;
  for (auto item = receivings.begin(); item != receivings.end();) {
    World& world = *item->communicator->world;
    const std::lock_guard<std::mutex> lock(world.mutex);
    std::deque<Bytes>& mail = world.mail[{item->other, item->communicator->rank}];
    if (mail.empty()) return cudaErrorNotReady;
    if (mail.front().size() != item->bytes) throw std::logic_error("NCCL: a message of another size");
    std::memcpy(item->data, mail.front().data(), item->bytes);
    mail.pop_front();
    item = receivings.erase(item);
  }
  return cudaSuccess;
}
const char* cudaGetErrorString(cudaError_t) {
  return "an emulated error";
}

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  static std::atomic<int> next{0};
  *id = {};
  std::snprintf(id->internal, sizeof id->internal, "world %d", next++);
  return ncclSuccess;
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t* communicator, int, ncclUniqueId id, int rank,
                                    ncclConfig_t* config) {
  if (config->blocking != 0) return ncclInvalidArgument;
  const std::lock_guard<std::mutex> lock(worlds_mutex);
  std::shared_ptr<World>& world = worlds[id.internal];
  if (!world) world = std::make_shared<World>();
  *communicator = new ncclComm{world, rank, true};
  return ncclInProgress;
}
ncclResult_t ncclCommFinalize(ncclComm_t) {
  return ncclSuccess;
}
ncclResult_t ncclCommDestroy(ncclComm_t communicator) {
  delete communicator;
  return ncclSuccess;
}
ncclResult_t ncclCommAbort(ncclComm_t communicator) {
  receivings.clear();
  return ncclCommDestroy(communicator);
}
ncclResult_t ncclCommGetAsyncError(ncclComm_t communicator, ncclResult_t* state) {
  *state = communicator->is_busy ? ncclInProgress : ncclSuccess;
  communicator->is_busy = false;
  return ncclSuccess;
}
const char* ncclGetErrorString(ncclResult_t) {
  return "an emulated error";
}

ncclResult_t ncclGroupStart() {
  in_group = true;
  return ncclSuccess;
}
ncclResult_t ncclGroupEnd() {
  in_group = false;
  const longhaul::emulated::DeviceAtWork at_work;
  for (const Transfer<const char>& sending : sendings) {
    World& world = *sending.communicator->world;
    const std::lock_guard<std::mutex> lock(world.mutex);
    world.mail[{sending.communicator->rank, sending.other}].emplace_back(sending.data,
                                                                         sending.data + sending.bytes);
    sending.communicator->is_busy = true;
    ++emulated_nccl_messages;
  }
  sendings.clear();
  return ncclInProgress;
}
ncclResult_t ncclSend(const void* data, std::size_t count, ncclDataType_t, int to, ncclComm_t communicator,
                      cudaStream_t) {
  if (!in_group) return ncclInvalidArgument;
  sendings.push_back({communicator, to, static_cast<const char*>(data), count});
  return ncclSuccess;
}
ncclResult_t ncclRecv(void* data, std::size_t count, ncclDataType_t, int from, ncclComm_t communicator,
                      cudaStream_t) {
  if (!in_group) return ncclInvalidArgument;
  receivings.push_back({communicator, from, static_cast<char*>(data), count});
  return ncclSuccess;
}
