#include "trainer/ranks/row_transfer.h"

#include <algorithm>
#include <vector>

#include "core/base/index.h"

namespace longhaul {
namespace {

constexpr std::size_t kPieceBytes = 4 << 20;  // bytes

// work(from, count) over `bytes` in pieces.
template <typename Work>
void in_pieces(std::size_t bytes, const Work& work) {
  for (std::size_t from = 0; from < bytes; from += kPieceBytes)
    work(from, std::min(kPieceBytes, bytes - from));
}

std::size_t block_bytes(const Arena& arena) {
  return as_index(arena.held().size() * arena.parameters()) * sizeof(float);
}

}  // namespace

void fetch(Ranks& ranks, int from, const void* held, std::size_t bytes, const WriteBytes& sink) {
  if (from == 0) return ranks.is_first() ? sink(held, bytes) : void();
  if (ranks.rank() == from)
    return in_pieces(bytes, [&](std::size_t at, std::size_t count) {
      ranks.send(0, kLockstep, static_cast<const char*>(held) + at, count)->wait();
    });
  if (!ranks.is_first()) return;
  std::vector<char> piece(std::min(bytes, kPieceBytes));
  in_pieces(bytes, [&](std::size_t, std::size_t count) {
    ranks.receive(from, kLockstep, piece.data(), count)->wait();
    sink(piece.data(), count);
  });
}

void deliver(Ranks& ranks, int to, void* held, std::size_t bytes, const ReadBytes& read) {
  if (to == 0) return ranks.is_first() ? read(0, static_cast<std::int64_t>(bytes), held) : void();
  if (ranks.rank() == to)
    return in_pieces(bytes, [&](std::size_t at, std::size_t count) {
      ranks.receive(0, kLockstep, static_cast<char*>(held) + at, count)->wait();
    });
  if (!ranks.is_first()) return;
  std::vector<char> piece(std::min(bytes, kPieceBytes));
  in_pieces(bytes, [&](std::size_t at, std::size_t count) {
    read(static_cast<std::int64_t>(at), static_cast<std::int64_t>(count), piece.data());
    ranks.send(to, kLockstep, piece.data(), count)->wait();
  });
}

void collect_rows(Ranks& ranks, const Arena& arena, Slot slot, const WriteBytes& sink) {
  for (int from = 0; from < ranks.size(); ++from)
    fetch(ranks, from, arena.row(slot, arena.held().first), block_bytes(arena), sink);
}

void distribute_rows(Ranks& ranks, Arena& arena, Slot slot, const ReadBytes& read) {
  const auto block = static_cast<std::int64_t>(block_bytes(arena));
  for (int to = 0; to < ranks.size(); ++to)
    deliver(ranks, to, arena.row(slot, arena.held().first), block_bytes(arena),
            [&](std::int64_t from, std::int64_t bytes, void* out) { read(to * block + from, bytes, out); });
}

}  // namespace longhaul
