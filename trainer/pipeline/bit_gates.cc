#include "trainer/pipeline/bit_gates.h"

#include <algorithm>
#include <cmath>

#include "core/base/index.h"
#include "trainer/optimizer/adamw.h"

namespace longhaul {
namespace {

double sigmoid(double gate) {
  return 1 / (1 + std::exp(-gate));
}

// −dln s/db: how fast the step size falls with the bits.
double relative_slope(int bits) {
  const double half = std::ldexp(1, bits - 1);
  return half * std::log(2.) / (half - 1);
}

}  // namespace

double learned_bits(const LearnedBits& spec, double gate) {
  return spec.floor + (spec.ceiling - spec.floor) * sigmoid(gate);
}

int used_bits(const LearnedBits& spec, double gate) {
  return static_cast<int>(std::nearbyint(learned_bits(spec, gate)));
}

double gate_gradient(const LearnedBits& spec, double gate, double rounding, int hops) {
  const double open = sigmoid(gate), by_bits = -relative_slope(used_bits(spec, gate)) * rounding;
  return (by_bits * (spec.ceiling - spec.floor) + spec.penalty / hops * 2 * open) * open * (1 - open);
}

BitGates::BitGates(const LearnedBits& spec, const Boundaries& boundaries, int replicas)
    : spec_(spec),
      given_(boundaries),
      hops_(static_cast<int>(boundaries.before.size())),
      gates_(as_index(replicas * hops_), static_cast<float>(spec.gate)),
      first_(gates_.size()),
      second_(gates_.size()),
      boundaries_(as_index(replicas)) {
  restored();
}

std::vector<int> BitGates::bits(int replica) const {
  std::vector<int> bits;
  for (int hop = 0; hop < hops_; ++hop) bits.push_back(used_bits(spec_, double{gates(replica)[hop]}));
  return bits;
}

Boundaries BitGates::with_bits(const std::vector<int>& bits) const {
  std::vector<std::optional<Quantized>> formats;
  for (const int number : bits) formats.push_back(spec_.format_of(number));
  Boundaries boundaries = given_;
  boundaries.activations = HopFormats(std::move(formats));
  if (spec_.gradients) boundaries.gradients = boundaries.activations;
  return boundaries;
}

Boundaries BitGates::boundaries_of_mean() const {
  std::vector<int> bits;
  for (int hop = 0; hop < hops_; ++hop) {
    double sum = 0;
    for (std::size_t i = as_index(hop); i < gates_.size(); i += as_index(hops_))
      sum += learned_bits(spec_, double{gates_[i]});
    bits.push_back(static_cast<int>(std::nearbyint(sum / static_cast<double>(boundaries_.size()))));
  }
  return with_bits(bits);
}

void BitGates::step(int step, int replica, const RoundingEffects& rounding) {
  if (step < spec_.first_step) return;
  const bool is_finite =
      std::all_of(rounding.begin(), rounding.end(), [](double value) { return std::isfinite(value); });
  if (!is_finite) return;
  std::vector<float> gradient;
  for (int hop = 0; hop < hops_; ++hop)
    gradient.push_back(static_cast<float>(
        gate_gradient(spec_, double{gates(replica)[hop]}, rounding[as_index(hop)], hops_)));
  OptimizerSpec adam;
  adam.beta2 = 0.999;
  adamw_step(adam, spec_.lr, step - spec_.first_step + 1, 1, {{0, hops_, false}},
             {gates_.data() + row(replica), gradient.data(), first_.data() + row(replica),
              second_.data() + row(replica)});
  boundaries_[as_index(replica)] = with_bits(bits(replica));
}

std::vector<std::pair<std::string, std::vector<float>*>> BitGates::tables() {
  return {{"bit_gates", &gates_}, {"bit_gates_first_moment", &first_}, {"bit_gates_second_moment", &second_}};
}

void BitGates::restored() {
  for (std::size_t replica = 0; replica < boundaries_.size(); ++replica)
    boundaries_[replica] = with_bits(bits(static_cast<int>(replica)));
}

}  // namespace longhaul
