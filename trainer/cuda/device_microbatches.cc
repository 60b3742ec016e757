#include "trainer/cuda/device_microbatches.h"

#include "core/base/index.h"

namespace longhaul {
namespace {

bool is_whole_and_at_home(const PipelinePlan& plan) {
  return plan.microbatches == 1 && !is_composed(plan);
}

std::vector<DeviceStop> stops_at_home(const PipelinePlan& plan, int replicas) {
  std::vector<DeviceStop> at_home;
  if (is_whole_and_at_home(plan)) return at_home;
  for (int microbatch = 0; microbatch < plan.microbatches; ++microbatch)
    for (int home = 0; home < replicas; ++home)
      for (const PipelinePart& part : plan.parts) at_home.push_back({home, part.columns.begin});
  return at_home;
}

}  // namespace

std::int64_t DeviceMicrobatches::bytes(const PipelinePlan& plan, std::int64_t replicas,
                                       std::int64_t parameters) {
  if (is_whole_and_at_home(plan)) return 0;
  const std::int64_t rows = is_composed(plan) ? 2 : 1;
  return rows * replicas * parameters * static_cast<std::int64_t>(sizeof(float)) +
         plan.microbatches * replicas * static_cast<std::int64_t>(plan.parts.size() * sizeof(DeviceStop));
}

DeviceMicrobatches::DeviceMicrobatches(const PipelinePlan& plan, int replicas, std::int64_t parameters)
    : plan_(plan), replicas_(replicas), parameters_(parameters), paths_(stops_at_home(plan, replicas)) {
  if (is_whole_and_at_home(plan)) return;
  const std::size_t numbers = as_index(replicas * parameters);
  partial_ = DeviceTable<float>(numbers);
  if (is_composed(plan)) composed_ = DeviceTable<float>(numbers);
}

void DeviceMicrobatches::set(const std::vector<std::vector<Route>>& paths, CudaStream stream) {
  if (paths.empty()) return;
  std::vector<DeviceStop> flat;
  for (const std::vector<Route>& of_all : paths)
    for (const Route& path : of_all)
      for (const Stop& stop : path)
        flat.push_back({stop.replica, stop.is_there() ? plan_.parts[as_index(stop.part)].columns.begin : 0});
  paths_.send(stream, flat);
}

PlaceOfPaths DeviceMicrobatches::place_of_paths(int microbatch, int place) const {
  const int places = plan_.part_count();
  return {paths_.get() + std::int64_t{microbatch} * replicas_ * places, places, place, parameters_,
          plan_.parts[as_index(place)].columns.begin};
}

void DeviceMicrobatches::run(const Tables& tables, const Decode& decode, CudaStream stream) {
  if (is_whole_and_at_home(plan_)) return decode(0, tables);
  const float share = 1 / static_cast<float>(plan_.microbatches);
  if (plan_.is_partial())
    along_paths_on_device(ClearRows{tables.gradients, parameters_}, replicas_, parameters_, stream);
  const auto size_of = [&](int part) { return plan_.parts[as_index(part)].columns.size(); };
  for (int microbatch = 0; microbatch < plan_.microbatches; ++microbatch) {
    const bool composes = is_composed(plan_);
    if (composes)
      for (int part = 0; part < plan_.part_count(); ++part)
        along_paths_on_device(GatherPlace{place_of_paths(microbatch, part), tables.weights, composed_.get()},
                              replicas_, size_of(part), stream);
    decode(microbatch, {composes ? composed_.get() : tables.weights, partial_.get()});
    for (int part = 0; part < plan_.part_count(); ++part)
      along_paths_on_device(ScatterPlace{place_of_paths(microbatch, part), partial_.get(), tables.gradients,
                                         share, microbatch == 0 && !plan_.is_partial()},
                            replicas_, size_of(part), stream);
  }
}

}  // namespace longhaul
