#include "core/base/random.h"

#include <cmath>
#include <numeric>

#include "core/base/index.h"

namespace longhaul {
namespace {

constexpr std::uint32_t kMultiplier0 = 0xD2511F53, kMultiplier1 = 0xCD9E8D57;
constexpr std::uint32_t kWeyl0 = 0x9E3779B9, kWeyl1 = 0xBB67AE85;

PhiloxCounter philox_round(const PhiloxCounter& c, const PhiloxKey& k) {
  const std::uint64_t p0 = std::uint64_t{kMultiplier0} * c[0];
  const std::uint64_t p1 = std::uint64_t{kMultiplier1} * c[2];
  return {static_cast<std::uint32_t>(p1 >> 32) ^ c[1] ^ k[0], static_cast<std::uint32_t>(p1),
          static_cast<std::uint32_t>(p0 >> 32) ^ c[3] ^ k[1], static_cast<std::uint32_t>(p0)};
}

}  // namespace

PhiloxCounter philox4x32(PhiloxCounter counter, PhiloxKey key) {
  for (int round = 0; round < 10; ++round) {
    counter = philox_round(counter, key);
    key[0] += kWeyl0;
    key[1] += kWeyl1;
  }
  return counter;
}

RandomStream::RandomStream(std::uint64_t seed, Purpose purpose, std::uint32_t replica, std::uint32_t step,
                           std::uint16_t part)
    : key_{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)},
      counter_{0, step, replica, static_cast<std::uint32_t>(purpose) | std::uint32_t{part} << 16} {}

void RandomStream::skip_to(std::uint32_t block) {
  counter_[0] = block;
  used_ = 4;
}

std::uint32_t RandomStream::bits32() {
  if (used_ == 4) {
    block_ = philox4x32(counter_, key_);
    ++counter_[0];
    used_ = 0;
  }
  return block_[as_index(used_++)];
}

std::uint64_t RandomStream::bits64() {
  const std::uint64_t high = bits32();
  return high << 32 | bits32();
}

std::uint64_t RandomStream::below(std::uint64_t bound) {
  const std::uint64_t rejected = (0 - bound) % bound;  // 2^64 mod bound: draws below it would be one too many
  for (;;) {
    const std::uint64_t draw = bits64();
    if (draw >= rejected) return draw % bound;
  }
}

double RandomStream::normal() {
  constexpr double kTwoPi = 6.283185307179586;
  const double radius = std::sqrt(-2 * std::log1p(-uniform()));
  return radius * std::cos(kTwoPi * uniform());
}

double RandomStream::lognormal(double mu, double sigma) {
  return std::exp(mu + sigma * normal());
}

std::vector<int> random_permutation(int n, RandomStream& stream) {
  std::vector<int> order(as_index(n));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[stream.below(i)]);
  return order;
}

}  // namespace longhaul
