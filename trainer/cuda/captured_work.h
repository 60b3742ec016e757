// Work that is the same every time, as a CUDA graph: done plainly at first (libraries set themselves up
// then), captured at the second call, replayed from then on. What changes from call to call must lie in
// device memory; a capture freezes every number that the host passes to a kernel.
#pragma once

#include <functional>
#include <memory>

#include "trainer/device/cuda_device.h"

namespace longhaul {

class CapturedWork {
 public:
  // Without `captures` the work is done plainly every time.
  explicit CapturedWork(bool captures);
  ~CapturedWork();
  CapturedWork(const CapturedWork&) = delete;
  CapturedWork& operator=(const CapturedWork&) = delete;

  // Runs work() on a stream of its own, which is the current one meanwhile. Not waited for.
  void run(const std::function<void()>& work);
  // Something that is no part of the graph, before or behind it on its stream.
  void on_its_stream(const std::function<void(CudaStream)>& work);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace longhaul
