// The kernels on a GPU; compiled where the trainer is built with CUDA.
#include "tests/unit/trainer/gpu_here.h"
#include "tests/unit/trainer/row_machine.h"

namespace longhaul {

#ifdef LONGHAUL_WITH_CUDA
namespace {

class DeviceMachine : public RowMachine {
 public:
  std::vector<float> clip_factors(const AdamwRun& run, double largest) override {
    DeviceTable<float> gradient(run.gradient), factors(static_cast<std::size_t>(run.replicas));
    DeviceTable<double> partial(static_cast<std::size_t>(run.replicas * norm_slices(run.columns)));
    clip_factors_on_device({nullptr, gradient.get(), nullptr, nullptr, run.replicas, run.columns}, largest,
                           partial.get(), factors.get(), nullptr);
    return factors.read();
  }
  void adamw(AdamwRun& run, const std::vector<float>& factors, const StepScalars& scalars,
             const std::vector<std::uint32_t>& decaying, const AdamwConstants& constants) override {
    DeviceTable<float> w(run.weights), g(run.gradient), m(run.first_moment), v(run.second_moment), f(factors);
    const DeviceTable<StepScalars> step(std::vector<StepScalars>{scalars});
    const DeviceTable<std::uint32_t> bits(decaying);
    const DeviceTable<Bf16> narrow(run.weights.size());
    adamw_on_device({w.get(), g.get(), m.get(), v.get(), run.replicas, run.columns, narrow.get()}, f.get(),
                    step.get(), bits.get(), nullptr, constants, nullptr);
    run.weights = w.read(), run.first_moment = m.read(), run.second_moment = v.read();
    run.narrow = narrow.read();
  }
  void average(Table& rows, const std::vector<std::vector<int>>& groups, Wire wire,
               std::int64_t columns) override {
    const FlatGroups flat(groups);
    const DeviceTable<int> members(flat.members), begins(flat.begins);
    const DeviceTable<float> table(rows);
    average_on_device(table.get(), {members.get(), begins.get()}, static_cast<std::int64_t>(groups.size()),
                      wire, columns, nullptr);
    rows = table.read();
  }
  void outer(OuterRun& run, const AnyOuterStep& step) override {
    const FlatGroups flat(run.groups);
    const DeviceTable<int> members(flat.members), begins(flat.begins);
    const DeviceTable<float> theta(run.theta), phi(run.phi), momentum(run.momentum), anchors(run.anchors);
    const DeviceTable<std::uint8_t> packed(run.anchors.size() *
                                           static_cast<std::size_t>(bytes_per_parameter(run.wire)));
    pack_on_device(anchors.get(), packed.get(), run.wire,
                   static_cast<std::int64_t>(run.anchors.size()) / run.columns, run.columns, nullptr);
    const OuterTables tables{theta.get(),
                             phi.get(),
                             momentum.get(),
                             run.anchors.empty() ? nullptr : packed.get(),
                             {members.get(), begins.get()},
                             run.wire,
                             run.columns};
    const auto groups = static_cast<std::int64_t>(run.groups.size());
    std::visit([&](const auto& of_method) { outer_step_on_device(tables, groups, of_method, nullptr); },
               step);
    run.theta = theta.read(), run.phi = phi.read(), run.momentum = momentum.read();
  }
};

}  // namespace

std::unique_ptr<RowMachine> make_device_machine() {
  return has_gpu() ? std::make_unique<DeviceMachine>() : nullptr;
}
#else
std::unique_ptr<RowMachine> make_device_machine() {
  return nullptr;
}
#endif

}  // namespace longhaul
