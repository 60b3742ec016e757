#include "trainer/cuda/device_microbatches.h"

#include "core/index.h"

namespace longhaul {

DeviceMicrobatches::DeviceMicrobatches(const PipelinePlan& plan, int replicas, std::int64_t parameters)
    : plan_(plan), replicas_(replicas), parameters_(parameters) {
  if (is_whole_and_at_home()) return;
  const std::size_t numbers = as_index(replicas * parameters);
  partial_ = DeviceTable<float>(numbers);
  if (leaves_home(plan)) composed_ = DeviceTable<float>(numbers);
  std::vector<int> at_home;
  for (int microbatch = 0; microbatch < plan.microbatches; ++microbatch)
    for (int home = 0; home < replicas; ++home)
      at_home.insert(at_home.end(), as_index(plan.part_count()), home);
  paths_ = DeviceTable<int>(at_home);
}

void DeviceMicrobatches::set(const std::vector<std::vector<std::vector<int>>>& paths) {
  if (paths.empty()) return;
  std::vector<int> flat;
  for (const std::vector<std::vector<int>>& of_all : paths)
    for (const std::vector<int>& path : of_all) flat.insert(flat.end(), path.begin(), path.end());
  paths_.set(flat);
}

PartOfPaths DeviceMicrobatches::part_of_paths(int microbatch, int part) const {
  const int parts = plan_.part_count();
  return {paths_.get() + std::int64_t{microbatch} * replicas_ * parts, parts, part, parameters_,
          plan_.parts[as_index(part)].columns.begin};
}

void DeviceMicrobatches::run(const Tables& tables, const Decode& decode, CudaStream stream) {
  if (is_whole_and_at_home()) return decode(0, tables);
  const float share = 1 / static_cast<float>(plan_.microbatches);
  const auto size_of = [&](int part) { return plan_.parts[as_index(part)].columns.size(); };
  for (int microbatch = 0; microbatch < plan_.microbatches; ++microbatch) {
    const bool composes = leaves_home(plan_);
    if (composes)
      for (int part = 0; part < plan_.part_count(); ++part)
        gather_on_device({part_of_paths(microbatch, part), tables.weights, composed_.get()}, replicas_,
                         size_of(part), stream);
    decode(microbatch, {composes ? composed_.get() : tables.weights, partial_.get()});
    for (int part = 0; part < plan_.part_count(); ++part)
      scatter_on_device(
          {part_of_paths(microbatch, part), partial_.get(), tables.gradients, share, microbatch == 0},
          replicas_, size_of(part), stream);
  }
}

}  // namespace longhaul
