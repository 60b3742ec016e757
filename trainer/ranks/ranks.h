// Ranks: the processes that a training is spread over. Each holds a block of the arena's rows; what one needs
// of another goes through this interface, so that nothing else knows how it travels, and one process is
// the case that has nothing to send.
//
// All ranks call the same functions in the same order. One that ends or dies ends all (mpi_ranks.h).
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "trainer/replicas/arena.h"

namespace longhaul {

// Bytes under way. They must stay where they are until wait() returned or the transfer was destroyed.
class Transfer {
 public:
  virtual ~Transfer() = default;
  // Throws RunError where the other rank does not answer in time.
  virtual void wait() = 0;
};

// Transfers between the same two ranks arrive in the order of sending within a channel: one for those that
// are waited for at once, one for what was sent ahead of its use.
constexpr int kLockstep = 0, kAhead = 1;

class Ranks {
 public:
  virtual ~Ranks() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual std::unique_ptr<Transfer> send(int to, int channel, const void* data, std::size_t bytes) = 0;
  virtual std::unique_ptr<Transfer> receive(int from, int channel, void* data, std::size_t bytes) = 0;
  // While something else than a transfer is waited for, since `begin`. Throws RunError where that takes too
  // long.
  virtual void check_others(std::chrono::steady_clock::time_point) {}

  bool is_first() const { return rank() == 0; }
  bool is_last() const { return rank() == size() - 1; }
};

// The only process of a training.
Ranks& one_rank();

// Everyone's `data` becomes that of rank `from`. A binomial tree.
void broadcast(Ranks& ranks, int from, void* data, std::size_t bytes);
std::string broadcast(Ranks& ranks, int from, const std::string& text);

// The numbers of rank 0, then those of rank 1, …; as many from each.
std::vector<double> gather(Ranks& ranks, const std::vector<double>& mine);
// The text of each rank.
std::vector<std::string> gather(Ranks& ranks, const std::string& mine);
// Whether it is so on each rank.
bool all_of(Ranks& ranks, bool mine);

// The ranks hold blocks of rows of equal size, in their order.

// Of `replicas`, which the number of ranks divides.
inline RowBlock block_of(const Ranks& ranks, int replicas) {
  const int size = replicas / ranks.size();
  return {ranks.rank() * size, (ranks.rank() + 1) * size};
}

// The rank that holds `replica`.
inline int holder_of(const Ranks& ranks, int replicas, int replica) {
  return replica / (replicas / ranks.size());
}

}  // namespace longhaul
