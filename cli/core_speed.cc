#include "cli/core_speed.h"

#include <algorithm>
#include <ctime>

namespace longhaul {
namespace {

// core_flops() of the core on which checks/work_estimate.cc's costs were measured: an AMD EPYC of family 25
// (AVX2), 2026-11.
constexpr double kReferenceFlops = 103e9;

constexpr int kVectors = 8, kRounds = 200000;

// Unlike sums, as many as hide the latency of an addition. `Vector` is as wide as the processor's own.
template <typename Vector>
[[gnu::always_inline]] inline float multiply_and_add(float factor) {
  const Vector scale = Vector{} + factor, summand = scale * 0.5F;
  Vector a = scale, b = a + scale, c = b + scale, d = c + scale, e = d + scale, f = e + scale, g = f + scale,
         h = g + scale;
  for (int round = 0; round < kRounds; ++round) {
    a = a * scale + summand;
    b = b * scale + summand;
    c = c * scale + summand;
    d = d * scale + summand;
    e = e * scale + summand;
    f = f * scale + summand;
    g = g * scale + summand;
    h = h * scale + summand;
  }
  return (a + b + c + d + e + f + g + h)[0];
}

using Floats4 = float __attribute__((vector_size(16)));
struct Kernel {
  float (*run)(float);
  int numbers;  // of a vector
};

float of_4(float factor) {
  return multiply_and_add<Floats4>(factor);
}

#if defined(__x86_64__)
using Floats8 = float __attribute__((vector_size(32)));
using Floats16 = float __attribute__((vector_size(64)));

[[gnu::target("avx2,fma")]] float of_8(float factor) {
  return multiply_and_add<Floats8>(factor);
}

[[gnu::target("avx512f")]] float of_16(float factor) {
  return multiply_and_add<Floats16>(factor);
}

Kernel widest() {
  if (__builtin_cpu_supports("avx512f")) return {of_16, 16};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return {of_8, 8};
  return {of_4, 4};
}
#else
Kernel widest() {
  return {of_4, 4};
}
#endif

double processor_s() {
  std::timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace

double core_flops() {
  constexpr int kTries = 5;
  volatile float factor = 0.5F;  // not known when it is compiled
  volatile float kept = 0;
  double best_s = 1e9;
  const Kernel kernel = widest();
  for (int i = 0; i < kTries; ++i) {
    const double begin_s = processor_s();
    kept = kernel.run(factor);
    best_s = std::min(best_s, processor_s() - begin_s);
  }
  static_cast<void>(kept);
  return 2. * kVectors * kernel.numbers * kRounds / best_s;
}

double training_pace() {
  static const double pace = kReferenceFlops / core_flops();
  return pace;
}

}  // namespace longhaul
