// The mean over those who sent a column: what k of the messages of a group have is their sum divided by k,
// what none has is zero. It is torch's scatter_reduce(mean, include_self=False), by which the authors' code
// of DeMo (bloc97/DeMo) and of SparseLoCo joins messages; DeMo's by coefficients, before they are transformed
// back. A column that was kept counts as sent, whatever its value.
#pragma once

#include <cstdint>
#include <vector>

#include "trainer/codecs/message.h"
#include "trainer/codecs/top_k.h"

namespace longhaul {

// What an encoded message has of a codec that chooses columns (Codec::chooses_columns()); of others all
// messages of a group have the same columns, and this mean is mean_of() of message.h.
std::vector<Kept> kept_by(const Message& message);

struct SenderSum {
  float sum = 0;
  std::int32_t senders = 0;
};

// sums [columns]: adds what was kept of places [begin, end). In the order of the replicas, in float32.
void add_kept(const std::vector<Kept>& kept, std::int64_t begin, std::int64_t end, SenderSum* sums);

// The columns [format.columns] of these sums.
std::vector<float> mean_of_sums(const MessageFormat& format, const std::vector<SenderSum>& sums);

// Of the messages of a group, in the order given.
std::vector<float> mean_of_senders(const std::vector<const Message*>& messages);

}  // namespace longhaul
