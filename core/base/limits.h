// How much a scenario or a file may say of something, so that products of counts fit their types and nothing
// is allocated for what nobody can replay.
#pragma once

#include <cstdint>

namespace longhaul {

constexpr int kMostOfACount = 1'000'000'000;  // of anything an int counts: the sum of two is an int too
constexpr int kMostReplicas = 1 << 20;        // with pipeline stages: workers
constexpr int kMostInAllToAll = 8192;         // its bytes are a table of each to each
// Bytes and bits of as many numbers fit 64 bits with room for collectives that send them several times.
constexpr std::int64_t kMostParameters = 1'000'000'000'000'000;
// Workers times parameters: all that a ring of all of them sends, in bytes.
constexpr double kMostTogether = 1e17;
constexpr int kMostLayers = 1 << 16;
constexpr std::int64_t kMostTokens = 1'000'000'000'000;  // of a replica and step; of a synthetic text
constexpr std::int64_t kMostTotalTokens = 1'000'000'000'000'000'000;  // of a training

// Nanoseconds in 63 bits, with room for the sum of a few.
constexpr double kLongestDuration_s = 1e9;
constexpr double kLongestRun_s = 9e9;        // 285 years; 63 bits are 292
constexpr double kLargestSize_bytes = 1e18;  // that a scenario names

}  // namespace longhaul
