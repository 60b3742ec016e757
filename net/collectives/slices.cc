#include "net/collectives/slices.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/base/errors.h"
#include "core/base/units.h"

namespace longhaul {
namespace {

constexpr std::int64_t kKiB = 1024, kMiB = 1024 * kKiB;

// Beyond these a replay takes hours and, for the state of each walk, gigabytes.
constexpr std::int64_t kMostSlices = 1 << 16;
constexpr std::int64_t kMostTransfers = 1000000000;

std::int64_t nccl_slice(Collective::Shape shape) {
  if (shape == Collective::Shape::kTree) return 512 * kKiB;
  return shape == Collective::Shape::kRing ? kMiB : 128 * kKiB;
}

std::int64_t wanted_slices(const SliceSpec& spec, const Collective& collective,
                           const GroupExchange& exchange) {
  const std::int64_t unit = collective.unit_bytes(exchange);
  if (unit == 0) return 1;
  const Collective::Shape shape = collective.shape(exchange.members);
  switch (spec.kind) {
    case SliceSpec::Kind::kWhole:
      return 1;
    case SliceSpec::Kind::kBytes:
      return largest_part(unit, spec.bytes);
    case SliceSpec::Kind::kNccl:
      return largest_part(unit, nccl_slice(shape));
    case SliceSpec::Kind::kGloo:
      return shape == Collective::Shape::kRing ? std::max<std::int64_t>(2, largest_part(unit, kMiB)) : 1;
  }
  return 1;
}

void cut(std::vector<Message>& messages, int index, int count) {
  std::vector<Message> slices;
  for (const Message& message : messages)
    add_message(slices, message.peer, message.offset + part_begin(message.bytes, index, count),
                message.offset + part_begin(message.bytes, index + 1, count), message.reduces);
  messages = std::move(slices);
}

}  // namespace

int slice_count(const SliceSpec& spec, const Collective& collective, const GroupExchange& exchange) {
  return static_cast<int>(std::min(wanted_slices(spec, collective, exchange), kMostSlices));
}

Round slice_of(const Round& round, int index, int count) {
  Round slice = round;
  cut(slice.sends, index, count);
  cut(slice.receives, index, count);
  return slice;
}

void check_slices(const SliceSpec& spec, const Collective& collective, const GroupExchange& exchange) {
  if (spec.kind == SliceSpec::Kind::kWhole || exchange.members < 2) return;
  const std::int64_t slices = wanted_slices(spec, collective, exchange);
  const std::int64_t messages = collective.totals(exchange).transfers;
  if (slices == 1 || (slices <= kMostSlices && messages <= kMostTransfers / slices)) return;
  const double unit = static_cast<double>(collective.unit_bytes(exchange));
  const double allowed = std::max(unit / static_cast<double>(kMostSlices),
                                  unit * static_cast<double>(messages) / static_cast<double>(kMostTransfers));
  throw InputError(
      "network.slice",
      fmt::format("cuts each of {} messages of up to {} into {} slices", messages, human_bytes(unit), slices),
      fmt::format("at most {} slices a message and {} in one exchange", kMostSlices, kMostTransfers),
      "slices of at least " + human_bytes(allowed));
}

}  // namespace longhaul
