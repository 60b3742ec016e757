#include "trainer/cuda/card_memory.h"

#include <c10/util/Exception.h>
#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "core/base/errors.h"
#include "core/base/index.h"
#include "core/base/units.h"
#include "trainer/cuda/device_evaluation.h"
#include "trainer/cuda/device_exchange.h"
#include "trainer/cuda/device_microbatches.h"
#include "trainer/cuda/device_optimizer.h"
#include "trainer/cuda/rank_exchange.h"
#include "trainer/device/device_products.h"
#include "trainer/model/stacked_decoder.h"

namespace longhaul {
namespace {

// The rest is for what libraries take, and for gaps between tensors.
constexpr double kShareOfFree = 0.8;

// At least: with layers computed again where that takes less, unless all is to be kept.
std::int64_t activations(const AcceleratorSpec& spec, std::int64_t replicas, std::int64_t sequences,
                         bool with_gradient, bool computes_again = true) {
  StackedDecoder::Way way;
  way.fused_attention =
      StackedDecoder::fuses_attention(spec.train.model, Device::kCuda, spec.train.precision);
  way.narrow_is_given = with_gradient && !is_composed(spec.pipeline);
  const auto bytes = [&](bool recomputes) {
    way.recomputes = recomputes;
    return StackedDecoder::workspace_bytes(spec.train.model, spec.train.precision, replicas, sequences,
                                           with_gradient, way);
  };
  return computes_again ? std::min(bytes(false), bytes(true)) : bytes(false);
}

std::string words(std::int64_t bytes) {
  return human_bytes(static_cast<double>(bytes));
}

// Of the arena's slots those that neither an inner step nor an evaluation uses.
std::vector<Slot> outer_slots(const Arena& arena, Slot product) {
  std::vector<Slot> slots = arena.slots();
  slots.erase(std::remove_if(slots.begin(), slots.end(),
                             [&](Slot slot) {
                               return slot == product || slot == Slot::kWeights || slot == Slot::kGradient ||
                                      slot == Slot::kFirstMoment || slot == Slot::kSecondMoment;
                             }),
              slots.end());
  return slots;
}

CardMemory count(const AcceleratorSpec& spec, const Arena& arena, const Ranks& ranks, int on_host) {
  const std::int64_t held = arena.held().size(), parameters = arena.parameters(),
                     table = static_cast<std::int64_t>(sizeof(float)) * held * parameters;
  CardMemory memory;
  memory.table_count = static_cast<int>(arena.slots().size()) - on_host;
  memory.tables = memory.table_count * table;
  memory.host_table_count = on_host;
  memory.host_tables = on_host * table;
  memory.optimizer = DeviceOptimizer::bytes(
      spec.decay, {nullptr, nullptr, nullptr, nullptr, held, parameters}, spec.muon, spec.train.precision);
  memory.microbatches = DeviceMicrobatches::bytes(spec.pipeline, held, parameters);
  memory.evaluation = DeviceEvaluation::bytes(spec.train, spec.validation, held);
  memory.exchange =
      DeviceExchange::bytes(spec.plan, arena, ranks) + (ranks.size() > 1 ? RankExchange::bytes(arena) : 0);
  // Of steps, of evaluations, and of the training's own decoder.
  memory.products = spec.train.precision == Precision::kBf16 ? 3 * kProductsWorkspace : 0;
  memory.step =
      8 * held *
      (std::int64_t{spec.train.batch} * (spec.train.model.context + 1) + spec.pipeline.microbatches);
  memory.activations = activations(spec, 1, 1, true) + activations(spec, 1, 1, false);
  return memory;
}

// What a rank may take of its card: the least of all.
struct Free {
  double bytes;
  std::ptrdiff_t sharing = 1;  // ranks on one card
};

Free free_for_a_rank(Ranks& ranks) {
  give_back_cached_memory();
  Free free{};
  const std::vector<std::string> cards = gather(ranks, device_identity());
  for (const std::string& card : cards)
    free.sharing = std::max(free.sharing, std::count(cards.begin(), cards.end(), card));
  const std::vector<double> all =
      gather(ranks, std::vector<double>{static_cast<double>(free_device_memory())});
  free.bytes = *std::min_element(all.begin(), all.end()) / static_cast<double>(free.sharing);
  return free;
}

// None where it is not enough.
std::optional<ActivationMemory> share(const AcceleratorSpec& spec, const Arena& arena,
                                      const CardMemory& needed, const Free& free) {
  const double left = kShareOfFree * (free.bytes - static_cast<double>(needed.fixed()));
  if (left < static_cast<double>(needed.activations)) return std::nullopt;
  const auto memory = static_cast<std::int64_t>(left);
  ActivationMemory shares;
  int longest = 1;
  for (const Batch& batch : spec.validation) longest = std::max(longest, batch.sequences);
  const std::int64_t wanted = activations(spec, spec.stacked ? arena.held().size() : 1, longest, false);
  shares.evaluation = std::max(activations(spec, 1, 1, false), std::min(wanted, memory / 8));
  shares.step = memory - shares.evaluation;
  return shares;
}

std::string in_words(const CardMemory& memory, const Arena& arena) {
  std::string text = fmt::format("{} at least: {} for {} tables of {} replicas of {} parameters",
                                 words(memory.fixed() + memory.activations), words(memory.tables),
                                 memory.table_count, arena.held().size(), arena.parameters());
  const auto add = [&](std::int64_t bytes, const char* what) {
    if (bytes > 0) text += fmt::format(", {} for {}", words(bytes), what);
  };
  add(memory.optimizer, "the optimizer");
  add(memory.microbatches, "micro-batches");
  add(memory.exchange, "exchanges");
  add(memory.products, "products of matrices");
  add(memory.evaluation, "evaluations");
  add(memory.activations, "activations of one sequence");
  if (memory.host_tables > 0)
    text += fmt::format(" ({} for {} more tables lie in host memory)", words(memory.host_tables),
                        memory.host_table_count);
  return text;
}

[[noreturn]] void refuse(const MemoryPlan& plan, const Free& free) {
  const CardMemory& needed = plan.needed;
  const auto least = static_cast<std::int64_t>(static_cast<double>(needed.activations) / kShareOfFree);
  throw InputError(
      "train", "the GPU's memory is not enough: needed are " + plan.words,
      fmt::format("what {} are enough for: so much is free on the card{}, of which {} would have to be",
                  human_bytes(free.bytes),
                  free.sharing > 1 ? fmt::format(" for each of {} ranks", free.sharing) : "",
                  words(needed.fixed() + least)),
      needed.fixed() > needed.activations
          ? "fewer replicas on the card (more ranks with cards of their own), or a smaller model"
          : "a shorter context, a smaller model, or train.precision \"bf16\"");
}

}  // namespace

MemoryPlan plan_memory(const AcceleratorSpec& spec, const Arena& arena, Slot product, Ranks& ranks) {
  const std::vector<Slot> outer = outer_slots(arena, product);
  const Free free = free_for_a_rank(ranks);
  MemoryPlan plan;
  std::optional<ActivationMemory> shares;
  const auto place = [&](const std::vector<Slot>& on_host) {
    plan.on_host = on_host;
    plan.needed = count(spec, arena, ranks, static_cast<int>(on_host.size()));
    shares = share(spec, arena, plan.needed, free);
  };
  place(spec.outer_state == OuterState::kHost ? outer : std::vector<Slot>());
  const int sequences = spec.train.batch / spec.pipeline.microbatches;
  const bool is_short = !shares || shares->step < activations(spec, 1, sequences, true, false);
  if (spec.outer_state == OuterState::kAuto && is_short && !outer.empty()) place(outer);
  plan.words = in_words(plan.needed, arena);
  if (!shares) refuse(plan, free);
  plan.activations = *shares;
  return plan;
}

void with_memory(const MemoryPlan& plan, const std::function<void()>& work) {
  try {
    work();
  } catch (const c10::OutOfMemoryError& error) {
    throw RunError("the GPU's memory is full, although it was enough by count: needed are " + plan.words +
                   "; " + human_bytes(static_cast<double>(free_device_memory())) +
                   " are free. Is another program on the card? Fewer replicas on it, a shorter context, a "
                   "smaller model or train.precision \"bf16\" need less. LibTorch: " +
                   error.what_without_backtrace());
  }
}

}  // namespace longhaul
