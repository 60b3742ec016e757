#include "trainer/codecs/sender_mean.h"

#include <algorithm>
#include <stdexcept>

#include "core/base/index.h"
#include "trainer/codecs/dct.h"

namespace longhaul {

bool chooses_columns(const Codec& codec) {
  return std::holds_alternative<TopK>(codec.format) || std::holds_alternative<DctTopK>(codec.format);
}

std::vector<Kept> kept_by(const Message& message) {
  const MessageFormat& format = message.format();
  if (const TopK* top_k = std::get_if<TopK>(&format.codec.format))
    return kept_by_top_k(*top_k, message.bytes(), format.columns);
  if (const DctTopK* dct = std::get_if<DctTopK>(&format.codec.format))
    return kept_by_dct(*dct, message.bytes(), format.columns);
  throw std::logic_error("a message of " + to_string(format.codec) + " has all columns");
}

void add_kept(const std::vector<Kept>& kept, std::int64_t begin, std::int64_t end, SenderSum* sums) {
  auto item = std::lower_bound(kept.begin(), kept.end(), begin,
                               [](const Kept& a, std::int64_t place) { return a.place < place; });
  for (; item != kept.end() && item->place < end; ++item) {
    sums[item->place].sum += item->value;
    ++sums[item->place].senders;
  }
}

std::vector<float> mean_of_sums(const MessageFormat& format, const std::vector<SenderSum>& sums) {
  std::vector<float> mean(sums.size());
  for (std::size_t i = 0; i < sums.size(); ++i)
    if (sums[i].senders > 0) mean[i] = sums[i].sum / static_cast<float>(sums[i].senders);
  const DctTopK* dct = std::get_if<DctTopK>(&format.codec.format);
  return dct ? inverse_dct(*dct, mean) : mean;
}

std::vector<float> mean_of_senders(const std::vector<const Message*>& messages) {
  const MessageFormat& format = messages.front()->format();
  std::vector<SenderSum> sums(as_index(format.columns));
  for (const Message* message : messages) add_kept(kept_by(*message), 0, format.columns, sums.data());
  return mean_of_sums(format, sums);
}

}  // namespace longhaul
