#include "trainer/cuda/device_optimizer.h"

#include "core/index.h"

namespace longhaul {

DeviceOptimizer::DeviceOptimizer(const OptimizerSpec& spec, const std::vector<DecayRange>& ranges,
                                 const AdamwTables& tables, const std::vector<MuonMatrix>& muon)
    : spec_(spec),
      tables_(tables),
      decaying_(decay_bits(ranges, tables.columns)),
      left_out_(left_out_bits(ranges, tables.columns)),
      partial_(as_index(tables.replicas * norm_slices(tables.columns))),
      factors_(as_index(tables.replicas)),
      scalars_(1),
      muon_(spec, muon, tables) {}

std::int64_t DeviceOptimizer::bytes(const std::vector<DecayRange>& ranges, const AdamwTables& tables,
                                    const std::vector<MuonMatrix>& muon) {
  std::int64_t covered = 0;
  for (const DecayRange& range : ranges) covered += range.end - range.begin;
  const std::int64_t words = (tables.columns + 31) / 32;
  return 4 * words * (covered == tables.columns ? 1 : 2) +
         tables.replicas * (8 * norm_slices(tables.columns) + 4) +
         static_cast<std::int64_t>(sizeof(StepScalars)) + DeviceMuon::bytes(muon, tables.replicas);
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

}  // namespace longhaul
