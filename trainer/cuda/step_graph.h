// Work that is the same every time, as a CUDA graph: done plainly at first (libraries set themselves up
// then), captured at the second call, replayed from then on. What changes from call to call must lie in
// device memory; a capture freezes every number that the host passes to a kernel.
#pragma once

#include <ATen/cuda/CUDAGraph.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

#include <memory>

namespace longhaul {

class StepGraph {
 public:
  explicit StepGraph(bool captures) : captures_(captures), stream_(c10::cuda::getStreamFromPool()) {}

  // Runs work() on a stream of its own. Not waited for.
  template <typename Work>
  void run(const Work& work) {
    const c10::cuda::CUDAStreamGuard guard(stream_);
    if (!captures_ || calls_++ == 0) return work();
    if (!graph_) capture(work);
    graph_->replay();
  }

 private:
  template <typename Work>
  void capture(const Work& work) {
    stream_.synchronize();
    // A graph keeps memory of its own; what the plain call left to be used again would be held twice.
    c10::cuda::CUDACachingAllocator::emptyCache();
    auto graph = std::make_unique<at::cuda::CUDAGraph>();
    graph->capture_begin();
    work();
    graph->capture_end();
    graph_ = std::move(graph);
  }

  bool captures_;
  int calls_ = 0;
  c10::cuda::CUDAStream stream_;
  std::unique_ptr<at::cuda::CUDAGraph> graph_;
};

}  // namespace longhaul
