#include "trainer/checkpoint/training_state.h"

#include <algorithm>

#include "core/base/errors.h"

namespace longhaul {
namespace {

// Numbers of the wire have a type of the format; other codecs' messages are bytes.
std::string dtype_of(const Codec& codec) {
  const Wire* wire = std::get_if<Wire>(&codec.format);
  if (!wire) return "U8";
  return *wire == Wire::kFp32 ? "F32" : *wire == Wire::kBf16 ? "BF16" : "F16";
}

std::vector<Slot> kept_slots(const Arena& arena, Slot product, bool is_last) {
  if (is_last && product == Slot::kWeights) return {product};
  if (is_last) return {Slot::kWeights, product};
  std::vector<Slot> slots = arena.slots();
  slots.erase(std::find(slots.begin(), slots.end(), Slot::kGradient));
  return slots;
}

// Where the table lies in one piece, that piece: nothing is copied.
TensorView table_view(Replicas& replicas, Slot slot) {
  const Arena& arena = replicas.arena;
  TensorView view{slot.name, "F32", {arena.replicas(), arena.parameters()}};
  if (replicas.ranks.size() == 1)
    view.data = arena.row(slot, 0);
  else
    view.pieces = [&replicas, slot](const ByteSink& sink) {
      collect_rows(replicas.ranks, replicas.arena, slot, sink);
    };
  return view;
}

TensorView message_view(Replicas& replicas, const PostedMessages::Pending& pending) {
  const std::string dtype = dtype_of(pending.format.codec);
  TensorView view{pending.name, dtype, {dtype == "U8" ? pending.format.bytes() : pending.format.columns}};
  // A copy of the message shares its bytes: it may be used up before it is written.
  const std::optional<Message> message =
      pending.message ? std::optional<Message>(*pending.message) : std::nullopt;
  view.pieces = [&replicas, replica = pending.replica, message, bytes = view.bytes()](const ByteSink& sink) {
    fetch(replicas.ranks, holder_of(replicas.ranks, replicas.arena.replicas(), replica),
          message ? message->bytes().data() : nullptr, as_index(bytes), sink);
  };
  return view;
}

}  // namespace

CheckpointTensors::CheckpointTensors(const Checkpoint& checkpoint, Replicas& replicas)
    : replicas_(replicas), name_(checkpoint.tensors_file) {
  if (replicas.ranks.is_first()) file_.emplace(name_);
}

void CheckpointTensors::table(Slot slot) {
  const Arena& arena = replicas_.arena;
  distribute_rows(replicas_.ranks, replicas_.arena, slot,
                  reader(slot.name, 4 * arena.replicas() * arena.parameters()));
}

void CheckpointTensors::to_holder(const std::string& name, int replica, void* out, std::int64_t bytes) {
  const int holder = holder_of(replicas_.ranks, replicas_.arena.replicas(), replica);
  deliver(replicas_.ranks, holder, out, as_index(bytes), reader(name, bytes));
}

void CheckpointTensors::to_all(const std::string& name, std::vector<float>& numbers) {
  const std::size_t bytes = numbers.size() * sizeof(float);
  const auto length = static_cast<std::int64_t>(bytes);
  if (const ReadBytes read = reader(name, length)) read(0, length, numbers.data());
  broadcast(replicas_.ranks, 0, numbers.data(), bytes);
}

ReadBytes CheckpointTensors::reader(const std::string& name, std::int64_t expected) {
  if (!file_) return {};
  const SafetensorsFile::Entry& entry = file_->entry(name);
  if (entry.bytes != expected)
    throw InputError({name_, name, "has " + std::to_string(entry.bytes) + " bytes", std::to_string(expected),
                      "the checkpoint is of another training"});
  return [this, &entry](std::int64_t from, std::int64_t bytes, void* out) {
    file_->read(entry, from, bytes, out);
  };
}

TensorView held_tensor(Replicas& replicas, const std::string& name, const std::string& dtype,
                       std::int64_t elements, int replica, const void* data) {
  TensorView view{name, dtype, {elements}, data};
  if (replicas.ranks.size() == 1) return view;
  view.data = nullptr;
  view.pieces = [&replicas, replica, data, bytes = view.bytes()](const ByteSink& sink) {
    fetch(replicas.ranks, holder_of(replicas.ranks, replicas.arena.replicas(), replica), data,
          as_index(bytes), sink);
  };
  return view;
}

std::vector<TensorView> tensors_to_keep(Replicas& replicas, const OperationRunner& operations,
                                        const std::vector<Operation>& pending, bool is_last) {
  std::vector<TensorView> views;
  for (const Slot slot : kept_slots(replicas.arena, operations.update().product(), is_last))
    views.push_back(table_view(replicas, slot));
  if (is_last) return views;
  for (const PostedMessages::Pending& pending_here : operations.posted().pending(pending))
    views.push_back(message_view(replicas, pending_here));
  return views;
}

void restore_tensors(CheckpointTensors& tensors, Replicas& replicas, OperationRunner& operations,
                     const std::vector<Operation>& pending, bool is_last) {
  for (const Slot slot : kept_slots(replicas.arena, operations.update().product(), is_last))
    tensors.table(slot);
  const auto fetch_message = [&](const PostedMessages::Pending& pending_here) {
    return tensors.held<std::uint8_t>(pending_here.name, pending_here.replica, pending_here.format.bytes());
  };
  for (const Operation& operation : pending) operations.posted().put(operation, fetch_message);
}

}  // namespace longhaul
