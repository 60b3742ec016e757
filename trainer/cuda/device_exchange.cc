#include "trainer/cuda/device_exchange.h"

#include <algorithm>
#include <stdexcept>

#include "trainer/updates/diloco.h"
#include "trainer/updates/noloco.h"

namespace longhaul {
namespace {

bool sends(const Exchange& exchange, const std::string& tensor) {
  const std::vector<std::string>& tensors = exchange.rule->tensors;
  return std::find(tensors.begin(), tensors.end(), tensor) != tensors.end();
}

void log(const Exchange& exchange, const std::vector<std::vector<int>>& groups,
         const std::vector<std::string>& tensors, Replicas& replicas) {
  const std::int64_t bytes = replicas.arena.parameters() * bytes_per_parameter(replicas.wire);
  replicas.log.begin(exchange.post_step, exchange.rule->name);
  for (const std::vector<int>& group : groups) {
    replicas.log.group(group);
    for (const int replica : group)
      for (const std::string& tensor : tensors) replicas.log.sent(replica, tensor, bytes);
  }
  replicas.log.end();
}

}  // namespace

DeviceExchange::DeviceExchange(const MethodSpec& method, const std::vector<float*>& tables)
    : method_(method), tables_(tables) {}

void DeviceExchange::run(const Exchange& exchange, Replicas& replicas, Update& update, CudaStream stream) {
  if (exchange.rule->sharded)
    update.exchange(exchange, replicas);  // gathers rows that all replicas hold alike: only logged
  else if (update.averages_gradients())
    average(exchange, replicas, stream);
  else
    outer_step(exchange, replicas, update, stream);
}

void DeviceExchange::average(const Exchange& exchange, Replicas& replicas, CudaStream stream) {
  const std::vector<std::vector<int>> groups = sorted_groups(exchange, replicas.arena.replicas());
  log(exchange, groups, {"gradient"}, replicas);
  average_on_device(tables_[static_cast<std::size_t>(Slot::kGradient)], upload(groups),
                    static_cast<std::int64_t>(groups.size()), rounding_of(replicas.wire),
                    replicas.arena.parameters(), stream);
}

void DeviceExchange::outer_step(const Exchange& exchange, Replicas& replicas, Update& update,
                                CudaStream stream) {
  const std::vector<std::vector<int>> groups = sorted_groups(exchange, replicas.arena.replicas());
  std::vector<std::string> tensors = {"delta"};
  if (sends(exchange, "phi")) tensors.push_back("phi");
  log(exchange, groups, tensors, replicas);
  const auto table = [&](Slot slot) { return tables_[static_cast<std::size_t>(slot)]; };
  const OuterTables outer{table(Slot::kWeights),
                          table(Slot::kSlowWeights),
                          table(Slot::kOuterMomentum),
                          anchors(groups, replicas, update),
                          upload(groups),
                          rounding_of(replicas.wire),
                          replicas.arena.parameters()};
  const auto count = static_cast<std::int64_t>(groups.size());
  if (method_.name == "noloco") {
    const NolocoParameters p = noloco_parameters(method_.options);
    noloco_on_device(outer, count, static_cast<float>(p.alpha), static_cast<float>(p.beta),
                     static_cast<float>(p.gamma), stream);
  } else if (method_.name == "diloco") {
    const DilocoParameters p = diloco_parameters(method_.options);
    diloco_on_device(outer, count, static_cast<float>(p.outer_lr), static_cast<float>(p.outer_momentum),
                     p.nesterov, stream);
  } else {
    throw std::logic_error("the outer step of method \"" + method_.name + "\" does not run on a GPU");
  }
}

// Anchors that were sent ahead wait in host memory, packed, as a checkpoint keeps them: those of all members,
// or, at the first outer step, none, and φ itself is what would have been sent.
const float* DeviceExchange::anchors(const std::vector<std::vector<int>>& groups, Replicas& replicas,
                                     Update& update) {
  std::map<int, Message>* in_flight = update.in_flight();
  if (!in_flight || in_flight->empty()) return nullptr;
  const std::int64_t columns = replicas.arena.parameters();
  if (anchors_.size() == 0)
    anchors_ = DeviceTable<float>(static_cast<std::size_t>(replicas.arena.replicas() * columns));
  std::vector<float> row(static_cast<std::size_t>(columns));
  for (const std::vector<int>& group : groups)
    for (const int replica : group) {
      const Message anchor = std::move(in_flight->at(replica));
      for (std::int64_t at = 0; at < columns; at += kBlock)
        anchor.read(at, std::min(columns, at + kBlock), row.data() + at);
      copy_to_device(anchors_.get() + replica * columns, row.data(), row.size() * sizeof(float));
      in_flight->erase(replica);
    }
  return anchors_.get();
}

GroupTable DeviceExchange::upload(const std::vector<std::vector<int>>& groups) {
  const FlatGroups flat = flat_groups(groups);
  members_ = DeviceTable<int>(flat.members);
  begins_ = DeviceTable<int>(flat.begins);
  return {members_.get(), begins_.get()};
}

}  // namespace longhaul
