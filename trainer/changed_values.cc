#include "trainer/changed_values.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/base/index.h"
#include "trainer/codecs/number_formats.h"

namespace longhaul {
namespace {

std::string part_of(const Parameter& parameter) {
  if (parameter.is_norm) return "norm";
  if (parameter.layer < 0) return parameter.name;  // embedding, output
  return parameter.name.find(".attention.") != std::string::npos ? "attention" : "feed_forward";
}

std::string name_of(const char* values, int replica) {
  return fmt::format("changed_values.{}.{}", values, replica);
}

std::int64_t differences(const std::vector<std::uint16_t>& now, const std::vector<std::uint16_t>& then,
                         const Columns& columns) {
  std::int64_t count = 0;
  for (const ColumnRange& range : columns)
    for (std::int64_t i = range.begin; i < range.end; ++i) count += now[as_index(i)] != then[as_index(i)];
  return count;
}

}  // namespace

ChangedValues::ChangedValues(int every, const ModelShape& shape, Replicas& replicas, TrainingFiles& files)
    : every_(every), replicas_(replicas), files_(files), row_(rounded()) {
  for (const Parameter& parameter : parameter_layout(shape)) {
    const std::string name = part_of(parameter);
    auto part = std::find_if(parts_.begin(), parts_.end(), [&](const Part& p) { return p.name == name; });
    if (part == parts_.end()) part = parts_.insert(parts_.end(), {name, {}});
    const std::int64_t begin = parameter.offset, end = begin + parameter.size();
    if (!part->columns.empty() && part->columns.back().end == begin)
      part->columns.back().end = end;
    else
      part->columns.push_back({begin, end});
  }
}

void ChangedValues::look(int step, const std::vector<int>& there) {
  Values now = rounded();
  if (is_before_row(step)) {
    before_ = std::move(now);
    return;
  }
  const std::vector<Changed> all = changed(now);
  for (const int replica : there) write(step, replica, &all[as_index(replica) * parts_.size()]);
  row_ = std::move(now);
}

ChangedValues::Values ChangedValues::rounded() const {
  const Arena& arena = replicas_.arena;
  Values values(as_index(arena.replicas()));
  replicas_.backend.for_each(arena.held().size(), [&](int at) {
    const int replica = arena.held().first + at;
    const float* row = arena.row(Slot::kWeights, replica);
    std::vector<std::uint16_t>& to = values[as_index(replica)];
    to.resize(as_index(arena.parameters()));
    std::transform(row, row + arena.parameters(), to.begin(), to_bf16);
  });
  return values;
}

std::vector<ChangedValues::Changed> ChangedValues::changed(const Values& now) const {
  const RowBlock held = replicas_.arena.held();
  const std::size_t parts = parts_.size();
  std::vector<double> mine(as_index(held.size()) * parts * 2);
  replicas_.backend.for_each(held.size(), [&](int at) {
    const std::size_t replica = as_index(held.first + at);
    double* to = &mine[as_index(at) * parts * 2];
    for (const Part& part : parts_)
      for (const Values* then : {every_ == 1 ? &row_ : &before_, &row_})
        *to++ = static_cast<double>(differences(now[replica], (*then)[replica], part.columns));
  });
  const std::vector<double> counts = gather(replicas_.ranks, mine);  // in the order of the replicas
  std::vector<Changed> all;
  for (std::size_t i = 0; i < counts.size(); i += 2) all.push_back({counts[i], counts[i + 1]});
  return all;
}

void ChangedValues::write(int step, int replica, const Changed* of_parts) {
  const auto parameters = static_cast<double>(replicas_.arena.parameters());
  Changed all;
  for (std::size_t part = 0; part < parts_.size(); ++part) {
    all.in_step += of_parts[part].in_step;
    all.since_row += of_parts[part].since_row;
  }
  files_.write_changed(step, replica, "all", all.in_step / parameters, all.since_row / parameters);
  for (std::size_t part = 0; part < parts_.size(); ++part) {
    const auto size = static_cast<double>(column_count(parts_[part].columns, 0));
    files_.write_changed(step, replica, parts_[part].name, of_parts[part].in_step / size,
                         of_parts[part].since_row / size);
  }
}

std::vector<TensorView> ChangedValues::tensors(int step) const {
  std::vector<TensorView> tensors;
  const auto add = [&](const char* name, const Values& values) {
    for (int replica = 0; replica < replicas_.arena.replicas(); ++replica)
      tensors.push_back(held_tensor(replicas_, name_of(name, replica), "BF16", replicas_.arena.parameters(),
                                    replica, values[as_index(replica)].data()));
  };
  add("row", row_);
  if (is_before_row(step)) add("before", before_);
  return tensors;
}

void ChangedValues::restore(int step, CheckpointTensors& tensors) {
  const auto fetch = [&](const char* name, Values& values) {
    values.resize(as_index(replicas_.arena.replicas()));
    for (int replica = 0; replica < replicas_.arena.replicas(); ++replica)
      values[as_index(replica)] =
          tensors.held<std::uint16_t>(name_of(name, replica), replica, replicas_.arena.parameters());
  };
  fetch("row", row_);
  if (is_before_row(step)) fetch("before", before_);
}

}  // namespace longhaul
