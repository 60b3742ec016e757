#include "trainer/speed.h"

#include <array>

namespace longhaul {
namespace {

// FLOP/s of data sheets, dense. A name matches where the card's name contains it; the first one counts.
struct KnownCard {
  const char* name;
  double bf16, float32;
};
constexpr std::array<KnownCard, 7> kCards = {{{"H100 PCIe", 756e12, 51e12},
                                              {"H100 NVL", 835e12, 60e12},
                                              {"H100", 989e12, 67e12},
                                              {"H200 NVL", 835e12, 60e12},
                                              {"H200", 989e12, 67e12},
                                              {"A100", 312e12, 19.5e12},
                                              {"L40S", 362e12, 91.6e12}}};

}  // namespace

double flop_per_token(const ModelShape& shape) {
  return 6. * static_cast<double>(shape.parameters()) + 6. * static_cast<double>(shape.layers) *
                                                            static_cast<double>(shape.hidden) *
                                                            static_cast<double>(shape.context);
}

std::optional<double> peak_flop_per_second(const std::string& card, Precision precision) {
  for (const KnownCard& known : kCards)
    if (card.find(known.name) != std::string::npos)
      return precision == Precision::kBf16 ? known.bf16 : known.float32;
  return std::nullopt;
}

void Speed::reached(double tokens, Clock::time_point now) {
  tokens_ = tokens;
  const double seconds = std::chrono::duration<double>(now - window_start_).count();
  if (seconds < 1) return;
  lately_ = (tokens - window_tokens_) / seconds;
  window_start_ = now;
  window_tokens_ = tokens;
}

Json Speed::summary(const ModelShape& shape, int steps, std::optional<double> peak,
                    Clock::time_point now) const {
  const double seconds = std::chrono::duration<double>(now - start_).count(),
               in_steps = seconds - evaluations_s - checkpoints_s;
  Json json = {{"steps", steps},
               {"tokens", tokens_},
               {"seconds", seconds},
               {"evaluations_s", evaluations_s},
               {"checkpoints_s", checkpoints_s}};
  if (seconds > 0) json["tokens_per_s"] = tokens_ / seconds;
  if (in_steps > 0) {
    json["tokens_per_s_in_steps"] = tokens_ / in_steps;
    json["flop_per_s"] = tokens_ / in_steps * flop_per_token(shape);
    if (peak) json["utilization"] = tokens_ / in_steps * flop_per_token(shape) / *peak;
  }
  json["flop_per_token"] = flop_per_token(shape);
  if (peak) json["peak_flop_per_s"] = *peak;
  return json;
}

}  // namespace longhaul
