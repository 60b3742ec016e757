#include "trainer/checkpoint/training_state.h"

#include <cstdlib>

#include "core/errors.h"

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

}  // namespace

std::vector<TensorView> tensors_to_keep(const Replicas& replicas, Update& update, bool is_last) {
  const Arena& arena = replicas.arena;
  std::vector<TensorView> views;
  for (const auto& [name, slot] : kTables)
    if (is_kept(arena, slot, is_last))
      views.push_back({name, "F32", {arena.replicas(), arena.parameters()}, arena.row(slot, 0)});
  if (update.in_flight() && !is_last)
    for (const auto& [replica, message] : *update.in_flight())
      views.push_back({kInFlight + std::to_string(replica),
                       dtype_of(replicas.wire),
                       {arena.parameters()},
                       message.packed_bytes().data()});
  return views;
}

void restore_tensors(const Checkpoint& checkpoint, Replicas& replicas, Update& update, bool is_last) {
  SafetensorsFile file(checkpoint.tensors_file);
  Arena& arena = replicas.arena;
  auto check = [&](const std::string& name, const SafetensorsFile::Entry& entry, std::int64_t bytes) {
    if (entry.bytes != bytes)
      throw InputError({checkpoint.tensors_file, name, "has " + std::to_string(entry.bytes) + " bytes",
                        std::to_string(bytes), "the checkpoint is of another training"});
  };
  for (const auto& [name, slot] : kTables) {
    if (!is_kept(arena, slot, is_last)) continue;
    const SafetensorsFile::Entry& entry = file.entry(name);
    check(name, entry, 4 * arena.replicas() * arena.parameters());
    file.read(entry, 0, entry.bytes, arena.row(slot, 0));
  }
  for (const auto& [name, entry] : file.entries()) {
    if (name.rfind(kInFlight, 0) != 0) continue;
    check(name, entry, arena.parameters() * bytes_per_parameter(replicas.wire));
    std::vector<std::uint8_t> packed(static_cast<std::size_t>(entry.bytes));
    file.read(entry, 0, entry.bytes, packed.data());
    (*update.in_flight())[std::atoi(name.c_str() + sizeof kInFlight - 1)] =
        Message::of_packed(std::move(packed), arena.parameters(), replicas.wire);
  }
}

Json to_json(const Evaluation& evaluation) {
  return {{"step", evaluation.step},
          {"phase", evaluation.phase},
          {"losses", evaluation.losses},
          {"loss_of_mean", evaluation.loss_of_mean},
          {"weight_spread", evaluation.weight_spread}};
}

Evaluation evaluation_from(const Json& json) {
  Evaluation evaluation;
  evaluation.step = json.at("step");
  evaluation.phase = json.at("phase").get<std::string>();
  evaluation.losses = json.at("losses").get<std::vector<double>>();
  evaluation.loss_of_mean = json.at("loss_of_mean");
  evaluation.weight_spread = json.at("weight_spread");
  return evaluation;
}

}  // namespace longhaul
