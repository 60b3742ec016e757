#include "trainer/cuda/captured_work.h"

#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include "trainer/device/cuda_device.h"
#include "trainer/device/device.h"

namespace longhaul {

struct CapturedWork::State {
  explicit State(bool captures) : captures(captures), stream(c10::cuda::getStreamFromPool()) {}

  void capture(const std::function<void()>& work) {
    stream.synchronize();
    // A graph keeps memory of its own; what the plain call left to be used again would be held twice.
    c10::cuda::CUDACachingAllocator::emptyCache();
    auto captured = std::make_unique<at::cuda::CUDAGraph>();
    captured->capture_begin();
    try {
      work();
    } catch (...) {
      end_failed_capture(*captured);
      throw;  // what went wrong first
    }
    captured->capture_end();
    graph = std::move(captured);
  }

  // A stream that is left capturing refuses everything, frees included.
  static void end_failed_capture(at::cuda::CUDAGraph& graph) {
    try {
      graph.capture_end();
      graph.reset();
    } catch (const std::exception&) {
    }
  }

  bool captures;
  int calls = 0;
  c10::cuda::CUDAStream stream;
  std::unique_ptr<at::cuda::CUDAGraph> graph;
};

CapturedWork::CapturedWork(bool captures)
    : state_(std::make_unique<State>(captures && uses(GpuPart::kGraph))) {}
CapturedWork::~CapturedWork() = default;

void CapturedWork::run(const std::function<void()>& work) {
  const c10::cuda::CUDAStreamGuard guard(state_->stream);
  if (!state_->captures || state_->calls++ == 0) return work();
  if (!state_->graph) state_->capture(work);
  state_->graph->replay();
}

void CapturedWork::on_its_stream(const std::function<void(CudaStream)>& work) {
  const c10::cuda::CUDAStreamGuard guard(state_->stream);
  work(state_->stream.stream());
}

// What the rest asks of LibTorch.
CudaStream current_cuda_stream() {
  return c10::cuda::getCurrentCUDAStream().stream();
}
void give_back_cached_memory() {
  c10::cuda::CUDACachingAllocator::emptyCache();
}

}  // namespace longhaul
