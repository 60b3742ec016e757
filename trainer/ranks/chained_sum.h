// Sums over all replicas in the order of the replicas, wherever their rows are: the sum goes from rank to
// rank, each adds its rows. The bits are those of one process, and no rank needs the memory of more than a
// piece of a row; a reduction tree would be faster and would round differently.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "trainer/codecs/message.h"
#include "trainer/ranks/ranks.h"
#include "trainer/replicas/backend.h"

namespace longhaul {

// Columns that are summed, divided and told to all ranks at once; a multiple of kBlock.
constexpr std::int64_t kChunk = 1 << 22;

// `sum` [count] of elements of `width` bytes. add(begin, end) adds this rank's rows to what stands there; on
// the first rank nothing does. The sum of all stands on the last rank. Pieces follow each other, so that the
// ranks work at the same time.
void chained_sum(Ranks& ranks, std::int64_t count, std::size_t width, void* sum,
                 const std::function<void(std::int64_t begin, std::int64_t end)>& add);

// As mean_of of the messages of all replicas, over at most kChunk columns. `mine` are those of the replicas
// that are held here, in their order, as many on each rank. Every rank gets the mean.
std::vector<float> mean_over_ranks(Ranks& ranks, Backend& backend, const std::vector<Message>& mine,
                                   const ColumnRange& chunk);

// As mean_of_senders() of the messages of all replicas, over all their columns; `mine` and the order as
// above. A rank needs 8 bytes a column for the sums.
std::vector<float> mean_of_senders_over_ranks(Ranks& ranks, const std::vector<Message>& mine);

}  // namespace longhaul
