#include "trainer/cuda/device_optimizer.h"

#include "core/base/index.h"

namespace longhaul {

namespace {

AdamwTables with_narrow(AdamwTables tables, Bf16* narrow) {
  tables.narrow = narrow;
  return tables;
}

}  // namespace

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
