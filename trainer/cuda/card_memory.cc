#include "trainer/cuda/card_memory.h"

#include <fmt/core.h>

#include <algorithm>

#include "core/errors.h"
#include "core/index.h"
#include "core/units.h"
#include "trainer/cuda/device_evaluation.h"
#include "trainer/cuda/device_exchange.h"
#include "trainer/cuda/device_microbatches.h"
#include "trainer/cuda/device_optimizer.h"
#include "trainer/model/stacked_decoder.h"

namespace longhaul {
namespace {

// The rest is for what libraries take, and for gaps between tensors.
constexpr double kShareOfFree = 0.8;

std::int64_t activations(const AcceleratorSpec& spec, std::int64_t replicas, std::int64_t sequences,
                         bool with_gradient) {
  StackedDecoder::Way way;
  way.fused_attention =
      StackedDecoder::fuses_attention(spec.train.model, Device::kCuda, spec.train.precision);
  way.narrow_is_given = with_gradient && !is_composed(spec.pipeline);
  const auto bytes = [&](bool recomputes) {
    way.recomputes = recomputes;
    return StackedDecoder::workspace_bytes(spec.train.model, spec.train.precision, replicas, sequences,
                                           with_gradient, way);
  };
  return std::min(bytes(false), bytes(true));
}

std::string words(std::int64_t bytes) {
  return human_bytes(static_cast<double>(bytes));
}

}  // namespace

CardMemory count_memory(const AcceleratorSpec& spec, const Arena& arena, const Ranks& ranks) {
  const std::int64_t held = arena.held().size(), parameters = arena.parameters();
  CardMemory memory;
  memory.tables = static_cast<std::int64_t>(arena.slots().size() * sizeof(float)) * held * parameters;
  memory.optimizer = DeviceOptimizer::bytes(
      spec.decay, {nullptr, nullptr, nullptr, nullptr, held, parameters}, spec.muon, spec.train.precision);
  memory.microbatches = DeviceMicrobatches::bytes(spec.pipeline, held, parameters);
  memory.evaluation = DeviceEvaluation::bytes(spec.train, spec.validation, held);
  memory.exchange = DeviceExchange::bytes(spec.plan, arena, ranks);
  memory.step =
      8 * held *
      (std::int64_t{spec.train.batch} * (spec.train.model.context + 1) + spec.pipeline.microbatches);
  memory.activations = activations(spec, 1, 1, true) + activations(spec, 1, 1, false);
  return memory;
}

ActivationMemory share_memory(const AcceleratorSpec& spec, const Arena& arena, const CardMemory& needed,
                              Ranks& ranks) {
  give_back_cached_memory();
  const std::vector<std::string> cards = gather(ranks, device_identity());
  std::ptrdiff_t sharing = 1;  // ranks on one card
  for (const std::string& card : cards)
    sharing = std::max(sharing, std::count(cards.begin(), cards.end(), card));
  const std::vector<double> free =
      gather(ranks, std::vector<double>{static_cast<double>(free_device_memory())});
  const double mine = *std::min_element(free.begin(), free.end()) / static_cast<double>(sharing),
               left = kShareOfFree * (mine - static_cast<double>(needed.fixed()));
  if (left < static_cast<double>(needed.activations))
    throw InputError(
        "train", "the GPU's memory is not enough: needed are " + in_words(needed, arena),
        fmt::format(
            "{}: {} are free on the card{}, of which activations may take {:.0f} % of what the rest leaves",
            words(needed.fixed() + static_cast<std::int64_t>(std::max(0., left))), human_bytes(mine),
            sharing > 1 ? fmt::format(" for each of {} ranks", sharing) : "", 100 * kShareOfFree),
        needed.fixed() > needed.activations
            ? "fewer replicas on the card (more ranks with cards of their own), or a smaller model"
            : "a shorter context, a smaller model, or train.precision \"bf16\"");
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
                                 arena.slots().size(), arena.held().size(), arena.parameters());
  const auto add = [&](std::int64_t bytes, const char* what) {
    if (bytes > 0) text += fmt::format(", {} for {}", words(bytes), what);
  };
  add(memory.optimizer, "the optimizer");
  add(memory.microbatches, "micro-batches");
  add(memory.exchange, "exchanges");
  add(memory.evaluation, "evaluations");
  add(memory.activations, "activations of one sequence");
  return text;
}

}  // namespace longhaul
