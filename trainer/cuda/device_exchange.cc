#include "trainer/cuda/device_exchange.h"

#include "core/base/index.h"
#include "trainer/updates/diloco.h"
#include "trainer/updates/noloco.h"

namespace longhaul {
namespace {

// What φ travels as where a payload is φ alone, plain and whole.
std::optional<Wire> wire_of_phi(const Payload& payload) {
  return payload.size() == 1 && payload.front().tensor == "phi" ? plain_wire(payload) : std::nullopt;
}

// The same where it is sent ahead and can wait on the card.
std::optional<Wire> format_ahead(const OperationPlan& plan, const Ranks& ranks) {
  if (ranks.size() > 1) return std::nullopt;
  for (const OperationRule& rule : plan.rules)
    if (const std::optional<Wire> wire = wire_of_phi(rule.payload); wire && !rule.is_blocking()) return wire;
  return std::nullopt;
}

std::int64_t bytes_ahead(const std::optional<Wire>& format, const Arena& arena) {
  return format ? bytes_per_parameter(*format) * arena.replicas() * arena.parameters() : 0;
}

}  // namespace

DeviceExchange::DeviceExchange(Replicas& replicas, const OperationPlan& plan, TableOf table_of)
    : replicas_(replicas),
      table_of_(std::move(table_of)),
      members_(as_index(replicas.arena.replicas())),
      begins_(as_index(replicas.arena.replicas()) + 1),
      format_(format_ahead(plan, replicas.ranks)),
      anchors_(as_index(bytes_ahead(format_, replicas.arena))) {}

std::int64_t DeviceExchange::bytes(const OperationPlan& plan, const Arena& arena, const Ranks& ranks) {
  return static_cast<std::int64_t>(sizeof(int)) * (2 * arena.replicas() + 1) +
         bytes_ahead(format_ahead(plan, ranks), arena);
}

bool DeviceExchange::send_ahead(const Operation& operation, CudaStream stream) {
  if (!format_ || wire_of_phi(operation.rule->payload) != format_) return false;
  groups_ = sorted_groups(operation, replicas_.arena.replicas());
  pack_on_device(table_of_(Slot::kSlowWeights), anchors_.get(), *format_, replicas_.arena.replicas(),
                 replicas_.arena.parameters(), stream);
  log_payload(replicas_, operation, groups_);
  ahead_ = operation;
  return true;
}

void DeviceExchange::keep_in(OperationRunner& runner) const {
  if (!ahead_) return;
  runner.posted().put(*ahead_, [&](const PostedMessages::Pending& pending) {
    std::vector<std::uint8_t> bytes(as_index(pending.format.bytes()));
    copy_to_host(bytes.data(), anchors_.get() + pending.replica * pending.format.bytes(), bytes.size());
    return bytes;
  });
}

void DeviceExchange::awaited(const Operation& operation) {
  if (ahead_ && ahead_->rule == operation.rule && ahead_->post_step == operation.post_step) ahead_.reset();
}

bool DeviceExchange::run(const Operation& operation, const OperationRunner& runner, CudaStream stream) {
  const std::optional<Wire> wire = plain_wire(operation);
  if (!wire) return false;
  wire_ = *wire;
  operation_ = &operation;
  runner_ = &runner;
  groups_ = sorted_groups(operation, replicas_.arena.replicas());
  stream_ = stream;
  if (!runner.update().apply_on_device(operation, *this)) return false;
  log_payload(replicas_, operation, groups_);
  return true;
}

void DeviceExchange::average(Slot slot) {
  average_on_device(table_of_(slot), upload_groups(), static_cast<std::int64_t>(groups_.size()), wire_,
                    replicas_.arena.parameters(), stream_);
}

void DeviceExchange::outer_step(const DilocoStep& step) {
  outer_step_on_device(outer_tables(), static_cast<std::int64_t>(groups_.size()), step, stream_);
}

void DeviceExchange::outer_step(const NolocoStep& step) {
  outer_step_on_device(outer_tables(), static_cast<std::int64_t>(groups_.size()), step, stream_);
}

OuterTables DeviceExchange::outer_tables() {
  return {table_of_(Slot::kWeights),
          table_of_(Slot::kSlowWeights),
          table_of_(Slot::kOuterMomentum),
          anchors(),
          upload_groups(),
          wire_,
          replicas_.arena.parameters()};
}

// After a resume what was sent ahead is in host memory, packed as a checkpoint keeps it. At the first outer
// step there is none, and φ itself is what would have been sent.
const void* DeviceExchange::anchors() {
  if (ahead_ && ahead_->await_step == operation_->await_step) return anchors_.get();
  if (!runner_->posted().sent_ahead(*operation_, "phi", groups_.front().front())) return nullptr;
  for (const std::vector<int>& group : groups_)
    for (const int replica : group) {
      const std::vector<std::uint8_t>& packed =
          runner_->posted().sent_ahead(*operation_, "phi", replica)->bytes();
      copy_to_device(anchors_.get() + replica * static_cast<std::int64_t>(packed.size()), packed.data(),
                     packed.size());
    }
  return anchors_.get();
}

GroupTable DeviceExchange::upload_groups() {
  const FlatGroups flat(groups_);
  members_.set(flat.members);
  begins_.set(flat.begins);
  return {members_.get(), begins_.get()};
}

}  // namespace longhaul
