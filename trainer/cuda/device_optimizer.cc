#include "trainer/cuda/device_optimizer.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>

#include "core/base/index.h"
#include "trainer/device/torch.h"

namespace longhaul {
namespace {

// [replicas, rows, columns].
at::Tensor matrices_in(void* memory, at::ScalarType type, std::int64_t replicas, std::int64_t rows,
                       std::int64_t columns) {
  return tensor_over(memory, {replicas, rows, columns}, type, torch_device(Device::kCuda));
}

// out ← beta · add + alpha · a b, sums in float32, which a card's library keeps for bf16 too.
void multiply(at::Tensor& out, const at::Tensor& add, const at::Tensor& a, const at::Tensor& b, double beta,
              double alpha) {
#ifdef LONGHAUL_EMULATED_GPU
  // LibTorch's products on a CPU add up bf16 in bf16.
  out.copy_(at::baddbmm(add.to(at::kFloat), a.to(at::kFloat), b.to(at::kFloat), beta, alpha));
#else
  at::baddbmm_out(out, add, a, b, beta, alpha);
#endif
}

// Of the largest matrix, in elements, for all replicas; 0 without one.
template <typename Count>
std::size_t room_for(const std::vector<MuonMatrix>& matrices, std::int64_t replicas, const Count& count) {
  std::int64_t most = 0;
  for (const MuonMatrix& matrix : matrices) most = std::max(most, count(matrix));
  return as_index(replicas * most);
}

std::int64_t size_of(const MuonMatrix& matrix) {
  return matrix.size();
}
std::int64_t gram_size(const MuonMatrix& matrix) {
  const std::int64_t side = std::min(matrix.rows, matrix.columns);
  return side * side;
}
std::size_t number_bytes(Precision precision) {
  return precision == Precision::kBf16 ? 2 : sizeof(float);
}
std::int64_t slices_of(const MuonMatrix& matrix) {
  return norm_slices(matrix.size());
}

AdamwTables with_narrow(AdamwTables tables, Bf16* narrow) {
  tables.narrow = narrow;
  return tables;
}

}  // namespace

DeviceMuon::DeviceMuon(const OptimizerSpec& spec, const std::vector<MuonMatrix>& matrices,
                       const AdamwTables& tables, Precision precision)
    : spec_(spec),
      matrices_(matrices),
      tables_(tables),
      precision_(precision),
      work_(room_for(matrices, tables.replicas, size_of)),
      narrow_(precision == Precision::kBf16 ? number_bytes(precision) * work_.size() : 0),
      next_(number_bytes(precision) * work_.size()),
      gram_(number_bytes(precision) * room_for(matrices, tables.replicas, gram_size)),
      polynomial_(gram_.size()),
      partial_(room_for(matrices, tables.replicas, slices_of)),
      inverse_(matrices.empty() ? 0 : as_index(tables.replicas)),
      scalars_(matrices.empty() ? 0 : 1) {}

std::int64_t DeviceMuon::bytes(const std::vector<MuonMatrix>& matrices, std::int64_t replicas,
                               Precision precision) {
  if (matrices.empty()) return 0;
  const std::size_t size = room_for(matrices, replicas, size_of),
                    numbers = (precision == Precision::kBf16 ? 2 : 1) * size +
                              2 * room_for(matrices, replicas, gram_size);
  return static_cast<std::int64_t>(size * sizeof(float) + numbers * number_bytes(precision) +
                                   room_for(matrices, replicas, slices_of) * sizeof(double) +
                                   as_index(replicas) * sizeof(float) + sizeof(MuonScalars));
}

void DeviceMuon::set(double lr, CudaStream stream) {
  if (matrices_.empty()) return;
  scalars_.send(stream, {muon_scalars(spec_, lr)});
}

void DeviceMuon::run(const float* factors, CudaStream stream) {
  for (const MuonMatrix& matrix : matrices_) {
    muon_look_ahead_on_device(tables_, matrix, static_cast<float>(spec_.momentum), factors, work_.get(),
                              partial_.get(), inverse_.get(), stream);
    orthogonalize(matrix);
    muon_update_on_device(tables_, matrix, work_.get(), scalars_.get(), stream);
  }
}

// As NewtonSchulz::orthogonalize, behind its division.
void DeviceMuon::orthogonalize(const MuonMatrix& matrix) {
  constexpr NewtonSchulzCoefficients k;
  const c10::NoGradGuard no_gradient;
  const std::int64_t replicas = tables_.replicas, side = std::min(matrix.rows, matrix.columns);
  const bool is_wide = matrix.rows <= matrix.columns;
  const at::ScalarType type = precision_ == Precision::kBf16 ? at::kBFloat16 : at::kFloat;
  at::Tensor work = matrices_in(work_.get(), at::kFloat, replicas, matrix.rows, matrix.columns),
             x = narrow_.size() == 0
                     ? work
                     : matrices_in(narrow_.get(), type, replicas, matrix.rows, matrix.columns),
             next = matrices_in(next_.get(), type, replicas, matrix.rows, matrix.columns),
             gram = matrices_in(gram_.get(), type, replicas, side, side),
             polynomial = matrices_in(polynomial_.get(), type, replicas, side, side);
  if (narrow_.size() > 0) x.copy_(work);
  for (int step = 0; step < spec_.newton_schulz_steps; ++step) {
    const at::Tensor turned = x.transpose(1, 2);
    multiply(gram, gram, is_wide ? x : turned, is_wide ? turned : x, 0, 1);
    multiply(polynomial, gram, gram, gram, k.b, k.c);
    multiply(next, x, is_wide ? polynomial : x, is_wide ? x : polynomial, k.a, 1);
    std::swap(x, next);
  }
  if (x.data_ptr() != work.data_ptr()) work.copy_(x);
}

DeviceOptimizer::DeviceOptimizer(const OptimizerSpec& spec, const std::vector<DecayRange>& ranges,
                                 const AdamwTables& tables, const std::vector<MuonMatrix>& muon,
                                 Precision precision)
    : spec_(spec),
      narrow_(precision == Precision::kBf16 ? as_index(tables.replicas * tables.columns) : 0),
      tables_(with_narrow(tables, narrow_.get())),
      decaying_(decay_bits(ranges, tables.columns)),
      left_out_(left_out_bits(ranges, tables.columns)),
      partial_(as_index(tables.replicas * norm_slices(tables.columns))),
      factors_(as_index(tables.replicas)),
      scalars_(1),
      muon_(spec, muon, tables_, precision) {}

std::int64_t DeviceOptimizer::bytes(const std::vector<DecayRange>& ranges, const AdamwTables& tables,
                                    const std::vector<MuonMatrix>& muon, Precision precision) {
  const std::int64_t narrow = precision == Precision::kBf16 ? 2 * tables.replicas * tables.columns : 0;
  std::int64_t covered = 0;
  for (const DecayRange& range : ranges) covered += range.end - range.begin;
  const std::int64_t words = (tables.columns + 31) / 32;
  return narrow + 4 * words * (covered == tables.columns ? 1 : 2) +
         tables.replicas * (8 * norm_slices(tables.columns) + 4) +
         static_cast<std::int64_t>(sizeof(StepScalars)) + DeviceMuon::bytes(muon, tables.replicas, precision);
}

void DeviceOptimizer::set(double lr, int step, CudaStream stream) {
  scalars_.send(stream, {step_scalars(spec_, lr, step)});
  muon_.set(lr, stream);
}

void DeviceOptimizer::run(CudaStream stream) {
  clip_factors_on_device(tables_, spec_.clip, partial_.get(), factors_.get(), stream);
  adamw_on_device(tables_, factors_.get(), scalars_.get(), decaying_.get(), left_out_.get(),
                  adamw_constants(spec_), stream);
  muon_.run(factors_.get(), stream);
}

void DeviceOptimizer::renew_narrow(CudaStream stream) {
  if (narrow_.size() > 0 && narrow_is_old_) {
    narrow_on_device(tables_, stream);
    wait_for_device();  // what reads them next has a stream of its own
  }
  narrow_is_old_ = false;
}

}  // namespace longhaul
