// Open MPI, MPICH, PCCL and hivemind: which algorithm they take, as their tables have it (sources in
// net/libraries/), and what their messages cost on an idle star, worked out by hand. Latency and rate are
// such that a vector takes far less than a flight: what counts is the number of flights.
#include <gtest/gtest.h>

#include "net/library.h"
#include "tests/unit/replay/library_exchange.h"

namespace longhaul::mpi_library_test {

using namespace library_exchange;

constexpr std::int64_t kKiB = 1024, kMiB = 1024 * kKiB;

std::string chosen(const std::string& library, OperationKind kind, int members, std::int64_t bytes) {
  NetworkSpec network;
  network.library = library;
  const std::string asked = kind == OperationKind::kReduceScatter ? "reduce-scatter"
                            : kind == OperationKind::kAllGather   ? "all-gather"
                            : kind == OperationKind::kAllToAll    ? "pairwise"
                                                                  : kLibraryChoice;
  return lowered(network, rule_of(kind, asked), {members, bytes, 1}).collective->name();
}

TEST(MpiLibraries, ChooseAsTheirTablesSay) {
  const OperationKind reduce = OperationKind::kAllReduce, scatter = OperationKind::kReduceScatter,
                      gather = OperationKind::kAllGather, all = OperationKind::kAllToAll;
  const struct {
    const char* library;
    OperationKind kind;
    int members;
    std::int64_t bytes;
    const char* collective;
  } expected[] = {// Seen in the kernel's counters of Open MPI 4.1.4 among 4 and 8: whole vectors to 4 KiB,
                  // halves from 8 KiB.
                  {"open-mpi", reduce, 4, 4096, "recursive-doubling"},
                  {"open-mpi", reduce, 8, 4096, "recursive-doubling"},
                  {"open-mpi", reduce, 4, 8192, "halving-doubling-halves"},
                  {"open-mpi", reduce, 8, 8192, "halving-doubling-halves"},
                  {"open-mpi", reduce, 2, 1024, "recursive-doubling"},
                  {"open-mpi", reduce, 2, 4096, "ring"},
                  {"open-mpi", reduce, 3, 65536, "ring"},
                  {"open-mpi", reduce, 2, 262144, "halving-doubling-halves"},
                  {"open-mpi", reduce, 4, 12, "recursive-doubling"},  // a ring of three elements would be one
                  {"open-mpi", reduce, 64, 4096, "recursive-doubling"},
                  {"open-mpi", reduce, 200, 65536, "tree"},
                  {"open-mpi", scatter, 2, 2 * 64 * kKiB, "reduce-scatter-halving"},
                  {"open-mpi", scatter, 2, 2 * 128 * kKiB, "reduce-scatter-root"},
                  {"open-mpi", scatter, 8, 8 * 256 * kKiB, "reduce-scatter-halving"},
                  {"open-mpi", scatter, 8, 8 * 512 * kKiB, "reduce-scatter-root"},
                  {"open-mpi", gather, 8, 16 * kMiB, "all-gather-doubling"},
                  {"open-mpi", gather, 32, 64 * kKiB, "all-gather"},
                  {"open-mpi", all, 8, 16 * kMiB, "pairwise"},
                  {"open-mpi", all, 16, 16 * 256, "bruck"},
                  {"mpich", reduce, 8, 8, "recursive-doubling"},
                  {"mpich", reduce, 8, 28, "recursive-doubling"},  // seven elements
                  {"mpich", reduce, 8, 32, "halving-doubling"},
                  {"mpich", scatter, 8, 512 * kKiB - 4, "reduce-scatter-halving"},
                  {"mpich", scatter, 8, 512 * kKiB, "reduce-scatter-pairwise"},
                  {"mpich", gather, 8, 64 * kKiB - 4, "all-gather-doubling"},
                  {"mpich", gather, 8, 64 * kKiB, "all-gather"},
                  {"mpich", gather, 5, 16 * kKiB, "all-gather"},
                  {"mpich", all, 8, 8 * 256, "bruck"},
                  {"mpich", all, 8, 8 * 257, "pairwise"},
                  {"pccl", reduce, 8, kMiB, "ring"},
                  {"hivemind", reduce, 8, kMiB, "direct"}};
  for (const auto& [library, kind, members, bytes, collective] : expected)
    EXPECT_EQ(chosen(library, kind, members, bytes), collective)
        << library << " of " << members << ", " << bytes;
}

// Of an exchange in which every round meets a new partner: the connection takes four flights more, and a
// member is awake 3 ms after what it waited for.
constexpr double kOpening = 4 * kLatency, kOpenMpiWake = 3e-3, kMpichWake = 2e-3;

// Contributions of 32 KiB leave at once in the first round; above 64 KiB a message is a request, an answer
// and data.
TEST(OpenMpi, AMessageAboveItsEagerLimitIsThreeFlights) {
  const OperationRule gather = rule_of(OperationKind::kAllGather, "all-gather");
  for (const int members : {2, 4, 8}) {
    const std::int64_t small = 32 * kKiB, large = 64 * kKiB;
    const int rounds = floor_log2(members);
    const double opened_s = rounds * (kOpening + kOpenMpiWake);
    EXPECT_NEAR(exchange("open-mpi", gather, members, small).s,
                opened_s + (1 + 3 * (rounds - 1)) * kLatency + (members - 1) * wire_s(small), 2e-3);
    EXPECT_NEAR(exchange("open-mpi", gather, members, large).s,
                opened_s + 3 * rounds * kLatency + (members - 1) * wire_s(large), 2e-3);
  }
}

// Nothing waits for a round: all requests, answers and parts are under way together. The analytic network
// shares no link, so that each part takes its own time alone.
TEST(OpenMpi, AnAllToAllIsPostedAtOnce) {
  const OperationRule all = rule_of(OperationKind::kAllToAll, "pairwise");
  const double opened_s = kOpening + kOpenMpiWake;
  EXPECT_NEAR(exchange("open-mpi", all, 8, 8 * kKiB).s, opened_s + kLatency + wire_s(kKiB), 2e-3);
  EXPECT_NEAR(exchange("open-mpi", all, 8, 800 * kKiB).s, opened_s + 3 * kLatency + wire_s(100 * kKiB), 2e-3);
}

// Halves of 2 MiB are one flight, halves of 4 MiB request, answer, data and the receipt that ends the round.
TEST(Mpich, MessagesToTwoMegabytesLeaveAtOnce) {
  EXPECT_NEAR(exchange("mpich", kAverage, 2, 4 * kMiB).s, 2 * (kLatency + kMpichWake + wire_s(2 * kMiB)),
              5e-3);
  EXPECT_NEAR(exchange("mpich", kAverage, 2, 8 * kMiB).s, 2 * (4 * kLatency + kMpichWake + wire_s(4 * kMiB)),
              8e-3);
}

// Results of the first parts leave behind the last parts of the other share: the link never idles.
TEST(Hivemind, PartsComeBackWhileOthersAreSent) {
  const std::int64_t bytes = 8 * kMiB;  // shares of 4 MiB in 8 parts; as much goes back
  const Took took = exchange("hivemind", kAverage, 2, bytes);
  EXPECT_NEAR(took.s, kLatency + wire_s(bytes), 5e-3);
  EXPECT_EQ(took.transfers, 2 * 2 * 8);
}

TEST(Pccl, ARoundEndsWithItsWholeChunk) {
  const std::int64_t bytes = 4 * kMiB;
  EXPECT_NEAR(exchange("pccl", kAverage, 4, bytes).s, 6 * (kLatency + wire_s(bytes / 4)), 5e-3);
}

}  // namespace longhaul::mpi_library_test
