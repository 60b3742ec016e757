// Counter-based random streams: Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3",
// SC 2011).
//
// A stream is named by (seed, purpose, replica, step) and needs no state but its position, so that adding a
// replica, changing the number of threads or the device changes no other stream. All draws of Longhaul come
// from here and are made on the host.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace longhaul {

enum class Purpose : std::uint32_t {
  kInitialWeights = 1,
  kTrainingData = 2,
  kGroups = 4,
  kStepTime = 5,
  kSyntheticSource = 6,
  kPlacement = 7,
  kLoss = 8,
  kRankOrder = 9,
  kMessageTime = 11,
  kMasks = 12,
  kUnits = 13,
  kRoutes = 14,
  kSubspace = 15,
  kSkips = 16,
  kFaults = 17,
  kAccessRates = 20,
  kLinkJitter = 21,
  kBackground = 22,
  kHostNoise = 23,
  kSampleLength = 24,
};

using PhiloxCounter = std::array<std::uint32_t, 4>;
using PhiloxKey = std::array<std::uint32_t, 2>;

// One block of the generator: ten rounds over `counter` under `key`.
PhiloxCounter philox4x32(PhiloxCounter counter, PhiloxKey key);

class RandomStream {
 public:
  // `part` tells streams of one replica and step apart, where it has several.
  RandomStream(std::uint64_t seed, Purpose purpose, std::uint32_t replica = 0, std::uint32_t step = 0,
               std::uint16_t part = 0);

  // Goes on at block `block` of the stream; a normal draw at the begin of a block uses just that block.
  void skip_to(std::uint32_t block);

  std::uint32_t bits32();
  std::uint64_t bits64();
  double uniform() { return static_cast<double>(bits64() >> 11) * 0x1.0p-53; }  // in [0, 1), 53 bits
  std::uint64_t below(std::uint64_t bound);   // in [0, bound), unbiased; bound > 0
  double normal();                            // mean 0, variance 1 (Box-Muller)
  double lognormal(double mu, double sigma);  // exp(mu + sigma * normal())

 private:
  PhiloxKey key_;
  PhiloxCounter counter_;
  PhiloxCounter block_{};
  int used_ = 4;
};

// A uniformly random permutation of 0 … n-1 (Fisher-Yates).
std::vector<int> random_permutation(int n, RandomStream& stream);

}  // namespace longhaul
