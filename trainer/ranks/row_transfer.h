// Rows between rank 0, which alone touches files, and the ranks that hold them; a piece at a time, so that
// rank 0 needs no memory for the rows of others.
#pragma once

#include <cstdint>
#include <functional>

#include "trainer/ranks/ranks.h"
#include "trainer/replicas/arena.h"

namespace longhaul {

using ReadBytes = std::function<void(std::int64_t from, std::int64_t bytes, void* out)>;
using WriteBytes = std::function<void(const void* data, std::size_t bytes)>;

// The whole table [R, P] in the order of the replicas: on rank 0 `sink` is given its bytes; the other ranks
// send theirs.
void collect_rows(Ranks& ranks, const Arena& arena, Slot slot, const WriteBytes& sink);
// The reverse: on rank 0 `read` fetches bytes of the whole table; the other ranks receive theirs.
void distribute_rows(Ranks& ranks, Arena& arena, Slot slot, const ReadBytes& read);

// `bytes` that rank `from` has at `held`, given to `sink` on rank 0; the reverse, to rank `to`.
void fetch(Ranks& ranks, int from, const void* held, std::size_t bytes, const WriteBytes& sink);
void deliver(Ranks& ranks, int to, void* held, std::size_t bytes, const ReadBytes& read);

}  // namespace longhaul
