#include "trainer/cuda/rank_exchange.h"

#include <algorithm>
#include <optional>

#include "core/base/index.h"
#include "trainer/cuda/row_kernels.h"
#include "trainer/updates/diloco.h"
#include "trainer/updates/noloco.h"

namespace longhaul {
namespace {

constexpr std::int64_t kMostTensors = 2;  // of a step

constexpr Slot kSlow = Slot::kSlowWeights;

std::int64_t packed_bytes(const Arena& arena, const RankExchange::Sizes& sizes) {
  const std::int64_t most =
      arena.replicas() * kMostTensors * arena.parameters() * std::int64_t{sizeof(float)};
  return std::min(most, sizes.packed);
}

std::int64_t mean_columns(const Arena& arena, const RankExchange::Sizes& sizes) {
  return std::min(arena.parameters(), sizes.part);
}

}  // namespace

RankExchange::RankExchange(Replicas& replicas, TableOf table_of, Sizes sizes)
    : replicas_(replicas), table_of_(std::move(table_of)), sizes_(sizes) {
  if (replicas.ranks.size() == 1) return;
  transfers_ = make_device_transfers(replicas.ranks);
  means_ = DeviceTable<float>(as_index(kMostTensors * mean_columns(replicas.arena, sizes)));
  packed_ = DeviceTable<char>(as_index(packed_bytes(replicas.arena, sizes)));
}

std::int64_t RankExchange::bytes(const Arena& arena) {
  return kMostTensors * mean_columns(arena, Sizes{}) * std::int64_t{sizeof(float)} +
         packed_bytes(arena, Sizes{});
}

bool RankExchange::run(const Operation& operation, const OperationRunner& runner, CudaStream stream) {
  const std::optional<Wire> wire = plain_wire(operation);
  if (!wire || runner.posted().has_ahead(operation)) return false;
  wire_ = *wire;
  groups_ = sorted_groups(operation, replicas_.arena.replicas());
  stream_ = stream;
  if (!runner.update().apply_on_device(operation, *this)) return false;
  log_payload(replicas_, operation, groups_);
  return true;
}

void RankExchange::average(Slot slot) {
  for_each_group({{slot, nullptr}},
                 [&](const std::vector<int>& here, std::int64_t begin, std::int64_t columns) {
                   for (const int replica : here)
                     over_columns_on_device(TakeMean{row(slot, replica, begin), mean(0)}, columns, stream_);
                 });
}

template <typename Step>
void RankExchange::outer_steps(const Step& step) {
  std::vector<Tensor> tensors = {{Slot::kWeights, &kSlow}};
  if (Step::kReadsPhi) tensors.push_back({kSlow, nullptr});
  for_each_group(tensors, [&](const std::vector<int>& here, std::int64_t begin, std::int64_t columns) {
    for (const int replica : here)
      over_columns_on_device(
          StepWithMeans<Step>{row(Slot::kWeights, replica, begin), row(kSlow, replica, begin),
                              row(Slot::kOuterMomentum, replica, begin), wire_, mean(0),
                              mean(tensors.size() - 1), step},
          columns, stream_);
  });
}

// A fixed group order on all ranks avoids deadlock.
void RankExchange::for_each_group(const std::vector<Tensor>& tensors, const Take& take) {
  const std::int64_t parameters = replicas_.arena.parameters();
  const auto count = static_cast<std::int64_t>(tensors.size());
  for (const std::vector<int>& group : groups_) {
    const std::vector<int> here = split({}, group, replicas_).here;
    if (here.empty()) continue;
    const bool is_everyone = static_cast<int>(group.size()) == replicas_.arena.replicas();
    std::int64_t part = sizes_.part;
    if (!is_everyone) {
      const std::int64_t fitting =
          static_cast<std::int64_t>(packed_.size()) /
          (static_cast<std::int64_t>(group.size()) * count * bytes_per_parameter(wire_));
      part = std::min(part, std::max<std::int64_t>(fitting, 1));
    }
    for (std::int64_t begin = 0; begin < parameters; begin += part) {
      const std::int64_t columns = std::min(parameters - begin, part);
      if (is_everyone)
        for (std::size_t i = 0; i < tensors.size(); ++i)
          mean_of_everyone(tensors[i], begin, columns, mean(i));
      else
        means_of_group(group, tensors, begin, columns);
      take(here, begin, columns);
    }
  }
}

void RankExchange::mean_of_everyone(const Tensor& tensor, std::int64_t begin, std::int64_t columns,
                                    float* mean) {
  const Ranks& ranks = replicas_.ranks;
  const RowBlock held = replicas_.arena.held();
  const float divisor = ranks.is_last() ? static_cast<float>(replicas_.arena.replicas()) : 1;
  for (std::int64_t from = 0; from < columns; from += sizes_.piece) {
    const std::int64_t count = std::min(columns - from, sizes_.piece);
    const std::size_t bytes = as_index(count) * sizeof(float);
    if (!ranks.is_first()) transfers_->run({{ranks.rank() - 1, mean + from, bytes, false}}, stream_);
    over_columns_on_device(AddRows{rows_of(tensor, held.first, begin + from), held.size(), ranks.is_first(),
                                   divisor, mean + from},
                           count, stream_);
    if (!ranks.is_last()) transfers_->run({{ranks.rank() + 1, mean + from, bytes, true}}, stream_);
  }
  broadcast(*transfers_, ranks, ranks.size() - 1, mean, as_index(columns) * sizeof(float), stream_);
}

// Of each tensor the members' rows lie one after the other.
void RankExchange::means_of_group(const std::vector<int>& group, const std::vector<Tensor>& tensors,
                                  std::int64_t begin, std::int64_t columns) {
  const Arena& arena = replicas_.arena;
  const std::int64_t bytes = columns * bytes_per_parameter(wire_);
  std::vector<int> others;  // ranks
  for (const int member : split({}, group, replicas_).elsewhere) {
    const int holder = holder_of(replicas_.ranks, arena.replicas(), member);
    if (others.empty() || others.back() != holder) others.push_back(holder);
  }
  std::vector<DeviceMove> moves;
  char* place = packed_.get();
  for (const Tensor& tensor : tensors)
    for (const int member : group) {
      if (arena.held().contains(member)) {
        over_columns_on_device(PackRow{rows_of(tensor, member, begin), place}, columns, stream_);
        for (const int other : others) moves.push_back({other, place, as_index(bytes), true});
      } else {
        moves.push_back(
            {holder_of(replicas_.ranks, arena.replicas(), member), place, as_index(bytes), false});
      }
      place += bytes;
    }
  if (!others.empty()) transfers_->run(moves, stream_);
  const auto members = static_cast<std::int64_t>(group.size());
  for (std::size_t i = 0; i < tensors.size(); ++i)
    over_columns_on_device(MeanOfPacked{packed_.get() + static_cast<std::int64_t>(i) * members * bytes, bytes,
                                        members, wire_, mean(i)},
                           columns, stream_);
}

float* RankExchange::row(Slot slot, int replica, std::int64_t column) const {
  return table_of_(slot) + (replica - replicas_.arena.held().first) * replicas_.arena.parameters() + column;
}

float* RankExchange::mean(std::size_t tensor) const {
  return means_.get() + static_cast<std::int64_t>(tensor) * mean_columns(replicas_.arena, sizes_);
}

ContributedRows RankExchange::rows_of(const Tensor& tensor, int replica, std::int64_t begin) const {
  return {row(tensor.slot, replica, begin), tensor.less ? row(*tensor.less, replica, begin) : nullptr,
          replicas_.arena.parameters(), wire_};
}

}  // namespace longhaul
