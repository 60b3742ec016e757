// Arithmetic that a GPU and the host share is written once, in functions marked with this; without nvcc it is
// plain C++, which is how the tests reach it.
#pragma once

#include <cstddef>
#include <cstdint>
#ifdef LONGHAUL_EMULATED_GPU
#include <stdexcept>
#endif

// For columns in loops that are compiled for several vector units.
#define LONGHAUL_ALWAYS_INLINE inline __attribute__((always_inline))

#if defined(__CUDACC__)
#define LONGHAUL_HOST_DEVICE __host__ __device__
#define LONGHAUL_UNROLL _Pragma("unroll")
#else
#define LONGHAUL_HOST_DEVICE
#define LONGHAUL_UNROLL
#endif

namespace longhaul {

// The lanes that work on one row together. A function over a row is written once for any team: it strides by
// lanes() and adds up with sum(). On the host a team is one lane; on a GPU a warp or a block (launch.cuh).
struct SerialTeam {
  LONGHAUL_HOST_DEVICE int lane() const { return 0; }
  LONGHAUL_HOST_DEVICE int lanes() const { return 1; }
  // Every lane gets the result.
  template <typename Number>
  LONGHAUL_HOST_DEVICE Number sum(Number value) const {
    return value;
  }
  LONGHAUL_HOST_DEVICE float largest(float value) const { return value; }
  // A bit for each lane that says yes, from the lowest on; every lane gets all.
  LONGHAUL_HOST_DEVICE std::uint32_t which(bool says_yes) const { return says_yes ? 1 : 0; }
  // All lanes have read and written what stands before.
  LONGHAUL_HOST_DEVICE void sync() const {}
};

// How rows and columns are gone through on the host: the launcher of the tests and of the stacked back-end on
// a CPU.
struct HostLaunch {
  static constexpr int kLanes = 1;  // of the team of a row

  // work(team, row) for each row.
  template <typename Work>
  void rows(std::int64_t count, const Work& work) const {
    for (std::int64_t row = 0; row < count; ++row) work(SerialTeam(), row);
  }
  template <typename Work>
  void blocks(std::int64_t count, const Work& work) const {
    rows(count, work);
  }
  // work(index, column) for each index and each `step`th column.
  template <typename Work>
  void grid(std::int64_t count, std::int64_t columns, int step, const Work& work) const {
    for (std::int64_t index = 0; index < count; ++index)
      for (std::int64_t column = 0; column < columns; column += step) work(index, column);
  }
};

// An access of so many bytes at once: a card's ends with an error where the address is no multiple of them,
// which the emulated one says.
inline void check_alignment([[maybe_unused]] const void* address, [[maybe_unused]] int bytes) {
#ifdef LONGHAUL_EMULATED_GPU
  if (reinterpret_cast<std::uintptr_t>(address) % static_cast<unsigned>(bytes) != 0)
    throw std::logic_error("a vector access is not aligned");
#endif
}

// A few neighbouring float32 columns that a thread reads and writes at once: 16 bytes keep a GPU's memory
// busier than 4. Columns of rows whose length is no multiple of 4 are taken one by one.
template <int kColumns>
struct alignas(4 * kColumns) Pack {
  float at[static_cast<std::size_t>(kColumns)];

  LONGHAUL_HOST_DEVICE static Pack read(const float* from) {
    check(from);
    return *reinterpret_cast<const Pack*>(from);
  }
  LONGHAUL_HOST_DEVICE void write(float* to) const {
    check(to);
    *reinterpret_cast<Pack*>(to) = *this;
  }

 private:
  LONGHAUL_HOST_DEVICE static void check([[maybe_unused]] const float* address) {
#ifndef __CUDA_ARCH__
    check_alignment(address, sizeof(Pack));
#endif
  }
};

constexpr int kPackedColumns = 4;

// Whether all packs of rows of this length, one after the other, are aligned; the table itself has to be.
inline bool rows_take_packs(std::int64_t columns) {
  return columns % kPackedColumns == 0;
}

// grid() of Work<n>{parts…}, n columns at a time.
template <template <int> class Work, typename Launch, typename... Parts>
void grid_of_packs(const Launch& launch, std::int64_t count, std::int64_t columns, const Parts&... parts) {
  if (rows_take_packs(columns))
    launch.grid(count, columns, kPackedColumns, Work<kPackedColumns>{parts...});
  else
    launch.grid(count, columns, 1, Work<1>{parts...});
}

}  // namespace longhaul
