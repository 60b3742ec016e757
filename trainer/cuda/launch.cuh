// How rows and columns are gone through on a GPU: a warp or a block a row, a thread for each few columns.
// Every sum has an order that depends on the sizes alone, so a kernel gives the same bits each time.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <string>

#include "core/base/errors.h"
#include "trainer/device/host_device.h"

namespace longhaul {

inline void check_cuda(cudaError_t status, const char* what) {
  if (status != cudaSuccess) throw RunError(std::string("CUDA: ") + what + ": " + cudaGetErrorString(status));
}

struct WarpTeam {
  __device__ int lane() const { return static_cast<int>(threadIdx.x & 31); }
  __device__ int lanes() const { return 32; }
  template <typename Number>
  __device__ Number sum(Number value) const {
    for (int away = 16; away > 0; away /= 2) value += __shfl_xor_sync(0xffffffffu, value, away);
    return value;
  }
  __device__ float largest(float value) const {
    for (int away = 16; away > 0; away /= 2) value = fmaxf(value, __shfl_xor_sync(0xffffffffu, value, away));
    return value;
  }
  __device__ std::uint32_t which(bool says_yes) const { return __ballot_sync(0xffffffffu, says_yes); }
  // What lanes have read of memory is read, and what they have written is seen by the others.
  __device__ void sync() const { __syncwarp(); }
};

// For few rows with many numbers each.
struct BlockTeam {
  __device__ int lane() const { return static_cast<int>(threadIdx.x); }
  __device__ int lanes() const { return static_cast<int>(blockDim.x); }
  template <typename Number>
  __device__ Number sum(Number value) const {
    __shared__ Number of_warps[32];
    value = WarpTeam().sum(value);
    if (lane() % 32 == 0) of_warps[lane() / 32] = value;
    __syncthreads();
    Number total = 0;
    for (int warp = 0; warp < lanes() / 32; ++warp) total += of_warps[warp];
    __syncthreads();  // before the next sum overwrites them
    return total;
  }
};

template <typename Work>
__global__ void each_block(Work work) {
  work(BlockTeam(), std::int64_t{blockIdx.x});
}

template <typename Work>
__global__ void each_row(std::int64_t count, Work work) {
  const std::int64_t row = (std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x) / 32;
  if (row < count) work(WarpTeam(), row);
}

template <typename Work>
__global__ void each_column(std::int64_t first, std::int64_t columns, int step, Work work) {
  const std::int64_t column = (std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x) * step;
  if (column < columns) work(first + blockIdx.y, column);
}

struct CudaLaunch {
  static constexpr int kLanes = 32;

  cudaStream_t stream = nullptr;

  template <typename Work>
  void rows(std::int64_t count, const Work& work) const {
    if (count == 0) return;
    constexpr std::int64_t kRowsOfABlock = kThreads / 32;
    const auto blocks = static_cast<unsigned>((count + kRowsOfABlock - 1) / kRowsOfABlock);
    each_row<<<blocks, kThreads, 0, stream>>>(count, work);
    check_cuda(cudaGetLastError(), "a kernel over rows was not started");
  }
  // As rows(), with a block for each.
  template <typename Work>
  void blocks(std::int64_t count, const Work& work) const {
    if (count == 0) return;
    constexpr int kThreadsOfARow = 512;
    each_block<<<static_cast<unsigned>(count), kThreadsOfARow, 0, stream>>>(work);
    check_cuda(cudaGetLastError(), "a kernel over blocks was not started");
  }
  template <typename Work>
  void grid(std::int64_t count, std::int64_t columns, int step, const Work& work) const {
    if (count == 0 || columns == 0) return;
    constexpr std::int64_t kMostRows = 65535;  // of a grid in its second dimension
    const std::int64_t threads = (columns + step - 1) / step;
    const auto width = static_cast<unsigned>((threads + kThreads - 1) / kThreads);
    for (std::int64_t first = 0; first < count; first += kMostRows) {
      const auto height = static_cast<unsigned>(count - first < kMostRows ? count - first : kMostRows);
      each_column<<<dim3(width, height), kThreads, 0, stream>>>(first, columns, step, work);
    }
    check_cuda(cudaGetLastError(), "a kernel over columns was not started");
  }

 private:
  static constexpr int kThreads = 256;
};

}  // namespace longhaul
