#include "trainer/codecs/reduction.h"

#include <algorithm>
#include <stdexcept>

#include "core/base/index.h"
#include "trainer/codecs/quantize.h"

namespace longhaul {
namespace {

class Block {
 public:
  explicit Block(const Quantized& format)
      : code_(format.numbers), bytes_(as_index(code_.bytes(format.block))) {}

  // values [count] as they arrive when they are sent.
  void send(float* values, std::int64_t count) {
    code_.write(values, count, bytes_.data());
    code_.read(bytes_.data(), count, 0, count, values);
  }

 private:
  NumberCode code_;
  std::vector<std::uint8_t> bytes_;
};

// Each member's 1/n begins with a block.
void round_at_servers(Block& sent, std::int64_t block, int members, float* errors, std::vector<float>& mean) {
  const auto columns = static_cast<std::int64_t>(mean.size()), chunk = (columns + members - 1) / members;
  for (std::int64_t begin = 0; begin < columns; begin += chunk)
    for (std::int64_t at = begin, end = std::min(columns, begin + chunk); at < end; at += block) {
      const std::int64_t count = std::min(block, end - at);
      for (std::int64_t i = at; i < at + count; ++i) errors[i] = mean[as_index(i)] += errors[i];
      sent.send(&mean[as_index(at)], count);
      for (std::int64_t i = at; i < at + count; ++i) errors[i] -= mean[as_index(i)];
    }
}

}  // namespace

std::vector<float> reduced_mean(const Codec& codec, std::int64_t columns, int members,
                                const ContributionsOf& contributions, float* server_errors) {
  constexpr std::int64_t kTogether = 1 << 16;  // columns, of which all members' are in memory
  const Quantized& format = std::get<Quantized>(codec.format);
  if (codec.reduction == Reduction::kOnce ||
      (codec.reduction == Reduction::kServers) != (server_errors != nullptr))
    throw std::logic_error("this mean is not rounded, or by servers without their errors");
  const bool is_ring = codec.reduction == Reduction::kRing;
  const std::int64_t block = format.block, blocks = (columns + block - 1) / block,
                     piece = std::max(block, kTogether / block * block);
  Block sent(format);
  std::vector<float> mean(as_index(columns)), rows(as_index(members * std::min(piece, columns)));
  for (std::int64_t begin = 0; begin < columns; begin += piece) {
    const std::int64_t width = std::min(piece, columns - begin);
    contributions(begin, begin + width, rows.data());
    for (std::int64_t at = 0; at < width; at += block) {
      const std::int64_t count = std::min(block, width - at);
      // Chunk k of the ring begins with block ⌊k · blocks / n⌋ and starts at member k.
      const std::int64_t first = is_ring ? (((begin + at) / block + 1) * members - 1) / blocks : 0;
      float* sum = mean.data() + begin + at;
      for (int hop = 0; hop < members; ++hop) {
        const float* own = rows.data() + (first + hop) % members * width + at;
        if (hop == 0)
          std::copy_n(own, count, sum);
        else if (is_ring)
          sent.send(sum, count);
        for (std::int64_t i = 0; hop > 0 && i < count; ++i) sum[i] += own[i];
      }
      if (is_ring && members > 1) sent.send(sum, count);
      for (std::int64_t i = 0; i < count; ++i) sum[i] /= static_cast<float>(members);
      if (codec.reduction == Reduction::kTwoShot && members > 1) sent.send(sum, count);
    }
  }
  if (server_errors && members > 1) round_at_servers(sent, block, members, server_errors, mean);
  return mean;
}

Codec contributed_as(Codec codec) {
  return codec.reduction == Reduction::kRing ? Codec(Wire::kFp32) : codec;
}

}  // namespace longhaul
