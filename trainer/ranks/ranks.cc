#include "trainer/ranks/ranks.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "core/base/errors.h"
#include "core/base/index.h"
#include "core/base/units.h"
#include "trainer/ranks/mpi_ranks.h"

namespace longhaul {
namespace {

// −1: not set, or no number.
int number_in(const char* name) {
  const char* value = std::getenv(name);
  return parse_number<int>(value ? value : "").value_or(-1);
}

class OneRank : public Ranks {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  std::unique_ptr<Transfer> send(int, int, const void*, std::size_t) override { return no_other(); }
  std::unique_ptr<Transfer> receive(int, int, void*, std::size_t) override { return no_other(); }

 private:
  static std::unique_ptr<Transfer> no_other() {
    throw std::logic_error("one process has no other rank to talk to");
  }
};

// Each rank's block lies in `all` at its place; afterwards every block does.
void gather_blocks(Ranks& ranks, char* all, std::size_t bytes) {
  if (ranks.size() == 1 || bytes == 0) return;
  const auto block = [&](int rank) { return all + as_index(rank) * bytes; };
  if (ranks.is_first()) {
    std::vector<std::unique_ptr<Transfer>> coming;
    for (int from = 1; from < ranks.size(); ++from)
      coming.push_back(ranks.receive(from, kLockstep, block(from), bytes));
    for (const auto& transfer : coming) transfer->wait();
  } else {
    ranks.send(0, kLockstep, block(ranks.rank()), bytes)->wait();
  }
  broadcast(ranks, 0, all, bytes * as_index(ranks.size()));
}

}  // namespace

Ranks& one_rank() {
  static OneRank only;
  return only;
}

void broadcast(Ranks& ranks, int from, void* data, std::size_t bytes) {
  const int size = ranks.size(), me = (ranks.rank() - from + size) % size;  // counted from the sender
  if (size == 1 || bytes == 0) return;
  int reach = 1;  // it is known to the first `reach`
  for (; reach < size && me >= reach; reach *= 2)
    if (me < 2 * reach) ranks.receive((me - reach + from) % size, kLockstep, data, bytes)->wait();
  std::vector<std::unique_ptr<Transfer>> going;
  for (; reach < size; reach *= 2)
    if (me + reach < size) going.push_back(ranks.send((me + reach + from) % size, kLockstep, data, bytes));
  for (const auto& transfer : going) transfer->wait();
}

std::string broadcast(Ranks& ranks, int from, const std::string& text) {
  std::uint64_t bytes = text.size();
  broadcast(ranks, from, &bytes, sizeof bytes);
  std::string all = text;
  all.resize(bytes);
  broadcast(ranks, from, all.data(), bytes);
  return all;
}

std::vector<double> gather(Ranks& ranks, const std::vector<double>& mine) {
  std::vector<double> all(mine.size() * as_index(ranks.size()));
  std::copy(mine.begin(), mine.end(), all.begin() + static_cast<std::ptrdiff_t>(mine.size()) * ranks.rank());
  gather_blocks(ranks, reinterpret_cast<char*>(all.data()), mine.size() * sizeof(double));
  return all;
}

std::vector<std::string> gather(Ranks& ranks, const std::string& mine) {
  std::vector<std::string> all;
  for (int rank = 0; rank < ranks.size(); ++rank) all.push_back(broadcast(ranks, rank, mine));
  return all;
}

bool all_of(Ranks& ranks, bool mine) {
  const std::vector<double> all = gather(ranks, std::vector<double>{mine ? 1. : 0.});
  return std::all_of(all.begin(), all.end(), [](double is_so) { return is_so != 0; });
}

LaunchedRank launched_rank() {
  constexpr const char* kNames[][2] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                       {"PMI_RANK", "PMI_SIZE"},
                                       {"PMIX_RANK", "SLURM_STEP_NUM_TASKS"}};
  for (const auto& [rank, size] : kNames)
    if (number_in(rank) >= 0 && number_in(size) > number_in(rank)) return {number_in(rank), number_in(size)};
  return {};
}

void check_ranks_divide(int ranks, int replicas) {
  if (replicas % ranks == 0) return;
  std::string divisors;
  for (int size = 1; size <= replicas; ++size)
    if (replicas % size == 0) divisors += (divisors.empty() ? "" : ", ") + std::to_string(size);
  throw InputError("mpirun -n",
                   "found " + std::to_string(ranks) + " ranks, but the case has " + std::to_string(replicas) +
                       (replicas == 1 ? " replica" : " replicas"),
                   "a divisor of the replicas: " + divisors, "each rank holds equally many replicas");
}

}  // namespace longhaul
