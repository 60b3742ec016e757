#include "trainer/codecs/sender_mean.h"

#include <algorithm>
#include <stdexcept>

#include "core/base/index.h"
#include "trainer/codecs/dct.h"

namespace longhaul {

namespace {

template <typename Format>
std::vector<Kept> kept_by(const Format&, const EncodedRow&) {
  throw std::logic_error("a message of this codec has all columns");
}
template <typename Format>
std::vector<float> columns_of_kept(const Format&, const std::vector<float>&) {
  throw std::logic_error("a message of this codec has all columns");
}

}  // namespace

std::vector<Kept> kept_by(const Message& message) {
  const MessageFormat& format = message.format();
  const EncodedRow encoded{message.bytes().data(), format.columns, format.draw};
  return std::visit([&](const auto& codec) { return kept_by(codec, encoded); }, format.codec.format);
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
  return std::visit([&](const auto& codec) { return columns_of_kept(codec, mean); }, format.codec.format);
}

std::vector<float> mean_of_senders(const std::vector<const Message*>& messages) {
  const MessageFormat& format = messages.front()->format();
  std::vector<SenderSum> sums(as_index(format.columns));
  for (const Message* message : messages) add_kept(kept_by(*message), 0, format.columns, sums.data());
  return mean_of_sums(format, sums);
}

}  // namespace longhaul
