#include "trainer/operations/update.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "methods/common/python_step.h"

namespace longhaul {

const Arrived::Tensor& Arrived::find(const char* tensor) const {
  for (const Tensor& tensor_here : tensors_)
    if (std::strcmp(tensor_here.name, tensor) == 0) return tensor_here;
  throw std::logic_error(std::string("a step reads ") + tensor + ", which the update does not say it reads");
}

const float* Arrived::own(const char* tensor) const {
  const Message* own = find(tensor).own;
  if (!own) throw std::logic_error("an all-to-all has no contribution of one's own columns");
  own->read(begin, end, own_);
  return own_;
}

const bool* Arrived::travelled(const char* tensor) const {
  find(tensor).own->travelling(begin, end, travelled_);
  return travelled_;
}

std::pair<Slot, const Slot*> Update::source(const std::string& tensor) const {
  if (tensor == "gradient") return {Slot::kGradient, nullptr};
  if (tensor == "weights") return {Slot::kWeights, nullptr};
  if (tensor == "phi") return {Slot::kSlowWeights, nullptr};
  if (tensor == "delta") return {Slot::kWeights, &Slot::kSlowWeights};
  throw std::logic_error("the plan sends \"" + tensor +
                         "\", and the method's update does not say of what rows");
}

void Update::apply_piece(const Operation& operation, const std::vector<int>&, ColumnRange,
                         const Replicas& replicas, const std::function<void(const Take&)>& arrive) const {
  arrive([&](int replica, const Arrived& arrived) { apply(operation, replica, arrived, replicas.arena); });
}

std::vector<ColumnRange> Update::pieces(ColumnRange columns, int) const {
  return in_pieces(columns, kPieceColumns);
}

ColumnHolders Update::holders(const Operation& operation) const {
  throw std::logic_error("the plan has an all-to-all \"" + operation.rule->name +
                         "\", and the method's update does not say whose the columns are");
}

void Update::merge(std::int64_t, const float*, float*, float*) const {
  throw std::logic_error("the plan has merges, and the method's update has no step for them");
}

void Update::take_up(std::int64_t, const float*, float*, float*) const {
  throw std::logic_error("the plan has merges, and the method's update takes up none");
}

void Update::take(const LocalStep& local, int, ColumnRange, Arena&) const {
  throw std::logic_error("the plan has a local step \"" + local.name +
                         "\", and the method's update has none");
}

std::vector<ColumnRange> in_pieces(ColumnRange columns, std::int64_t width) {
  std::vector<ColumnRange> pieces;
  for (std::int64_t at = columns.begin; at < columns.end; at += width)
    pieces.push_back({at, std::min(columns.end, at + width)});
  return pieces;
}

std::vector<std::vector<int>> sorted_groups(const Operation& operation, int replicas) {
  std::vector<std::vector<int>> groups = groups_of(operation, replicas);
  for (std::vector<int>& group : groups) std::sort(group.begin(), group.end());
  return groups;
}

std::optional<Wire> plain_wire(const Payload& payload) {
  std::optional<Wire> wire;
  for (const PayloadPart& part : payload) {
    if (!part.codec.is_plain() || !part.columns.empty()) return std::nullopt;
    const Wire of_part = std::get<Wire>(part.codec.format);
    if (wire && of_part != *wire) return std::nullopt;
    wire = of_part;
  }
  return wire;
}

std::optional<Wire> plain_wire(const Operation& operation) {
  if (operation.rule->sharded || !operation.targets.empty() || operation.takers ||
      !operation.sends_anew.empty())
    return std::nullopt;
  return plain_wire(operation.rule->payload);
}

void log_payload(const Replicas& replicas, const Operation& operation,
                 const std::vector<std::vector<int>>& groups) {
  replicas.log.begin(operation.post_step, operation.rule->name);
  for (const std::vector<int>& group : groups) {
    replicas.log.group(group);
    for (const int replica : group)
      for (const PayloadPart& part : operation.rule->payload)
        if (replicas.arena.held().contains(replica))
          replicas.log.sent(replica, part.tensor, MessageFormat(part, replicas.arena.parameters()).bytes());
  }
  replicas.log.end();
}

std::unique_ptr<Update> make_update(const MethodSpec& method) {
  for (const UpdateMaker& maker : update_makers())
    if (maker.method == method.name) {
      std::unique_ptr<Update> update = maker.make(method.options);
      return has_python_step(method.options) ? make_python_update(method.options, std::move(update))
                                             : std::move(update);
    }
  throw std::logic_error("the trainer does not know method \"" + method.name +
                         "\", which has a plan: it has no file in trainer/updates/");
}

void RowAverage::apply(const Operation&, int replica, const Arrived& arrived, Arena& arena) const {
  std::copy_n(arrived.mean(tensor_), arrived.size(), arena.row(slot_, replica) + arrived.begin);
}

bool RowAverage::apply_on_device(const Operation&, DeviceSteps& steps) const {
  steps.average(slot_);
  return true;
}

void start_slow_weights(Replicas& replicas) {
  Arena& arena = replicas.arena;
  replicas.backend.for_each(arena.held().size(), [&](int at) {
    const int replica = arena.held().first + at;
    const float* weights = arena.row(Slot::kWeights, replica);
    std::copy(weights, weights + arena.parameters(), arena.row(Slot::kSlowWeights, replica));
  });
}

}  // namespace longhaul
