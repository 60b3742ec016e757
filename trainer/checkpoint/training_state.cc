#include "trainer/checkpoint/training_state.h"

#include <optional>

#include "core/errors.h"
#include "trainer/ranks/row_transfer.h"

namespace longhaul {
namespace {

const std::pair<const char*, Slot> kTables[] = {{"weights", Slot::kWeights},
                                                {"first_moment", Slot::kFirstMoment},
                                                {"second_moment", Slot::kSecondMoment},
                                                {"slow_weights", Slot::kSlowWeights},
                                                {"outer_momentum", Slot::kOuterMomentum}};

constexpr char kInFlight[] = "in_flight.phi.";  // and the replica that sent it

std::string dtype_of(Wire wire) {
  return wire == Wire::kFp32 ? "F32" : wire == Wire::kBf16 ? "BF16" : "F16";
}

bool is_kept(const Arena& arena, Slot slot, bool is_last) {
  return is_last ? slot == Slot::kWeights : arena.has(slot);
}

// Where the table lies in one piece, that piece: nothing is copied.
TensorView table_view(Replicas& replicas, const char* name, Slot slot) {
  const Arena& arena = replicas.arena;
  TensorView view{name, "F32", {arena.replicas(), arena.parameters()}};
  if (replicas.ranks.size() == 1)
    view.data = arena.row(slot, 0);
  else
    view.pieces = [&replicas, slot = slot](const ByteSink& sink) {
      collect_rows(replicas.ranks, replicas.arena, slot, sink);
    };
  return view;
}

// By replica, whether it has a message in flight.
std::vector<double> who_is_in_flight(Replicas& replicas, const std::map<int, Message>& in_flight) {
  const RowBlock held = replicas.arena.held();
  std::vector<double> mine;
  for (int replica = held.first; replica < held.end; ++replica)
    mine.push_back(static_cast<double>(in_flight.count(replica)));
  return gather(replicas.ranks, mine);
}

TensorView message_view(Replicas& replicas, const std::map<int, Message>& in_flight, int replica) {
  TensorView view{
      kInFlight + std::to_string(replica), dtype_of(replicas.wire), {replicas.arena.parameters()}};
  view.pieces = [&replicas, &in_flight, replica, bytes = view.bytes()](const ByteSink& sink) {
    const auto message = in_flight.find(replica);
    const void* held = message == in_flight.end() ? nullptr : message->second.packed_bytes().data();
    fetch(replicas.ranks, holder_of(replicas.ranks, replicas.arena.replicas(), replica), held,
          static_cast<std::size_t>(bytes), sink);
  };
  return view;
}

// What rank 0 finds in the file is checked there; what the others receive has its size.
class Restoring {
 public:
  Restoring(const Checkpoint& checkpoint, Replicas& replicas) : replicas_(replicas) {
    if (replicas.ranks.is_first()) file_.emplace(checkpoint.tensors_file);
    name_ = checkpoint.tensors_file;
  }

  void table(const std::string& name, Slot slot) {
    const Arena& arena = replicas_.arena;
    distribute_rows(replicas_.ranks, replicas_.arena, slot,
                    reader(name, 4 * arena.replicas() * arena.parameters()));
  }

  // The replicas that have a message in the file, on all ranks.
  std::vector<int> in_flight() {
    std::vector<double> is_there(static_cast<std::size_t>(replicas_.arena.replicas()));
    if (file_)
      for (std::size_t replica = 0; replica < is_there.size(); ++replica)
        is_there[replica] = static_cast<double>(file_->entries().count(kInFlight + std::to_string(replica)));
    broadcast(replicas_.ranks, 0, is_there.data(), is_there.size() * sizeof(double));
    std::vector<int> found;
    for (std::size_t replica = 0; replica < is_there.size(); ++replica)
      if (is_there[replica] != 0) found.push_back(static_cast<int>(replica));
    return found;
  }

  void message(int replica, std::map<int, Message>& in_flight) {
    const Arena& arena = replicas_.arena;
    const std::int64_t bytes = arena.parameters() * bytes_per_parameter(replicas_.wire);
    std::vector<std::uint8_t> packed(arena.held().contains(replica) ? static_cast<std::size_t>(bytes) : 0);
    deliver(replicas_.ranks, holder_of(replicas_.ranks, arena.replicas(), replica), packed.data(),
            static_cast<std::size_t>(bytes), reader(kInFlight + std::to_string(replica), bytes));
    if (arena.held().contains(replica))
      in_flight[replica] = Message::of_packed(std::move(packed), arena.parameters(), replicas_.wire);
  }

 private:
  // Of a tensor that must have `expected` bytes.
  ReadBytes reader(const std::string& name, std::int64_t expected) {
    if (!file_) return {};
    const SafetensorsFile::Entry& entry = file_->entry(name);
    if (entry.bytes != expected)
      throw InputError({name_, name, "has " + std::to_string(entry.bytes) + " bytes",
                        std::to_string(expected), "the checkpoint is of another training"});
    return [this, &entry](std::int64_t from, std::int64_t bytes, void* out) {
      file_->read(entry, from, bytes, out);
    };
  }

  Replicas& replicas_;
  std::string name_;
  std::optional<SafetensorsFile> file_;  // of rank 0
};

}  // namespace

std::vector<TensorView> tensors_to_keep(Replicas& replicas, Update& update, bool is_last) {
  std::vector<TensorView> views;
  for (const auto& [name, slot] : kTables)
    if (is_kept(replicas.arena, slot, is_last)) views.push_back(table_view(replicas, name, slot));
  if (!update.in_flight() || is_last) return views;
  const std::vector<double> is_in_flight = who_is_in_flight(replicas, *update.in_flight());
  for (int replica = 0; replica < replicas.arena.replicas(); ++replica)
    if (is_in_flight[static_cast<std::size_t>(replica)] != 0)
      views.push_back(message_view(replicas, *update.in_flight(), replica));
  return views;
}

void restore_tensors(const Checkpoint& checkpoint, Replicas& replicas, Update& update, bool is_last) {
  Restoring restoring(checkpoint, replicas);
  for (const auto& [name, slot] : kTables)
    if (is_kept(replicas.arena, slot, is_last)) restoring.table(name, slot);
  if (!update.in_flight()) return;
  for (int replica : restoring.in_flight()) restoring.message(replica, *update.in_flight());
}

Json to_json(const Evaluation& evaluation) {
  return {{"step", evaluation.step},
          {"phase", evaluation.phase},
          {"losses", evaluation.losses},
          {"loss_of_mean", evaluation.loss_of_mean},
          {"weight_spread", evaluation.weight_spread},
          {"sampling_error", evaluation.sampling_error ? Json(*evaluation.sampling_error) : Json()}};
}

Evaluation evaluation_from(const Json& json) {
  Evaluation evaluation;
  evaluation.step = json.at("step");
  evaluation.phase = json.at("phase").get<std::string>();
  evaluation.losses = json.at("losses").get<std::vector<double>>();
  evaluation.loss_of_mean = json.at("loss_of_mean");
  evaluation.weight_spread = json.at("weight_spread");
  if (!json.at("sampling_error").is_null())
    evaluation.sampling_error = json["sampling_error"].get<double>();
  return evaluation;
}

}  // namespace longhaul
