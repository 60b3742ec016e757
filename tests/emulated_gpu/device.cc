// Takes the place of trainer/cuda/device.cu and captured_work.cc: memory is the host's, and graphs are calls.
#include "trainer/device/device.h"

#include <c10/util/Exception.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <stdexcept>
#include <vector>

#include "core/base/errors.h"
#include "tests/emulated_gpu/device_memory.h"
#include "trainer/cuda/captured_work.h"
#include "trainer/device/cuda_device.h"

namespace longhaul {
namespace {

thread_local int card = 0;

// While a real graph would be captured, which waits for nothing and allocates nothing with cudaMalloc.
thread_local bool is_capturing = false;

void refuse_in_a_capture(const char* what) {
  if (is_capturing) throw std::logic_error(std::string("in a captured graph: ") + what);
}

// One stream. The card is at once done with everything, but nothing may rely on it: at the next event that is
// waited for, what was copied from pinned memory must still stand there, and what is copied to it comes.
struct Copy {
  void* host;
  std::vector<char> bytes;
  bool to_host;
};
thread_local std::deque<Copy> under_way;
thread_local std::int64_t done = 0;  // copies that were under way before

std::int64_t begun() {
  return done + static_cast<std::int64_t>(under_way.size());
}

void finish(std::int64_t copies) {
  for (; done < copies; ++done) {
    const Copy copy = std::move(under_way.front());
    under_way.pop_front();
    if (copy.to_host)
      std::memcpy(copy.host, copy.bytes.data(), copy.bytes.size());
    else if (std::memcmp(copy.host, copy.bytes.data(), copy.bytes.size()) != 0)
      throw std::logic_error("pinned memory was written while it was copied");
  }
}

}  // namespace

bool built_with_cuda() {
  return true;
}
std::string device_name() {
  return "emulated";
}
std::string device_identity() {
  return "emulated " + std::to_string(card);
}
int device_number() {
  return kHostMemory;
}
int device_count() {
  return 1;
}
void use_device(int number) {
  card = number;
}
std::int64_t free_device_memory() {
  return static_cast<std::int64_t>(emulated::free_bytes());
}
void give_back_cached_memory() {}

float* allocate_on_device(std::size_t bytes) {
  if (bytes == 0) return nullptr;
  refuse_in_a_capture("memory is allocated");
  void* table = emulated::allocate(bytes);
  if (!table) throw RunError("not enough memory on the GPU");
  return static_cast<float*>(table);
}
void free_on_device(float* table) {
  if (table) refuse_in_a_capture("memory is freed");
  emulated::release(table);
}
void copy_to_device(void* to, const void* from, std::size_t bytes) {
  if (bytes == 0) return;  // as the real one; an empty table has no place
  refuse_in_a_capture("a copy is waited for");
  const emulated::DeviceAtWork at_work;
  std::memcpy(to, from, bytes);
}
void copy_to_host(void* to, const void* from, std::size_t bytes) {
  emulated::copied_to_host += bytes;
  copy_to_device(to, from, bytes);
}
void clear_on_device(void* memory, std::size_t bytes) {
  refuse_in_a_capture("memory is cleared and waited for");
  const emulated::DeviceAtWork at_work;
  std::memset(memory, 0, bytes);
}

void* allocate_pinned(std::size_t bytes) {
  return std::calloc(bytes, 1);
}
void* register_host_memory(void* memory, std::size_t) {
  return memory;
}
void unregister_host_memory(void*) {}
void free_pinned(void* memory) {
  wait_for_device();
  std::free(memory);
}

void copy_to_device(void* to, const void* from, std::size_t bytes, CudaStream) {
  const char* begin = static_cast<const char*>(from);
  under_way.push_back({const_cast<void*>(from), {begin, begin + bytes}, false});
  copy_to_device(to, from, bytes);
}
void copy_to_host(void* to, const void* from, std::size_t bytes, CudaStream) {
  under_way.push_back({to, std::vector<char>(bytes), true});
  copy_to_host(under_way.back().bytes.data(), from, bytes);
}

struct DeviceEvent::State {
  std::int64_t copies = 0;  // before it
  std::chrono::steady_clock::time_point at;
};
DeviceEvent::DeviceEvent() : state_(std::make_unique<State>()) {}
DeviceEvent::~DeviceEvent() = default;
void DeviceEvent::record(CudaStream) {
  state_->copies = begun();
  state_->at = std::chrono::steady_clock::now();
}
void DeviceEvent::wait() const {
  refuse_in_a_capture("an event is waited for");
  finish(state_->copies);
}
double DeviceEvent::seconds_since(const DeviceEvent& earlier) const {
  return std::chrono::duration<double>(state_->at - earlier.state_->at).count();
}

void wait_for_device() {
  refuse_in_a_capture("the device is waited for");
  finish(begun());
}
CudaStream current_cuda_stream() {
  return nullptr;
}

// The real one captures at the second call and replays from then on; here every call keeps the rules.
struct CapturedWork::State {
  bool captures;
  int calls = 0;
};
CapturedWork::CapturedWork(bool captures) : state_(new State{captures && uses(GpuPart::kGraph)}) {}
CapturedWork::~CapturedWork() = default;
void CapturedWork::on_its_stream(const std::function<void(CudaStream)>& work) {
  work(nullptr);
}
void CapturedWork::run(const std::function<void()>& work) {
  const emulated::DeviceAtWork at_work;
  if (emulated::fills_at_next_run.exchange(false))
    C10_THROW_ERROR(OutOfMemoryError, "tried to allocate 1.00 GiB");
  const struct Capture {
    explicit Capture(bool captures) { is_capturing = captures; }
    ~Capture() { is_capturing = false; }
  } capture(state_->captures && state_->calls++ > 0);
  work();
}

}  // namespace longhaul
