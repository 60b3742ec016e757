#include "trainer/ranks/mpi_ranks.h"

#include <mpi.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <thread>

#include "core/base/errors.h"
#include "core/base/index.h"

namespace longhaul {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostAtOnce = 1 << 30;  // bytes: MPI counts in int
constexpr std::chrono::microseconds kBusy{200}, kNap{50};
constexpr char kResume[] = "; start all ranks again with --resume to continue after the newest checkpoint";

// A container may forbid it: Open MPI then fails in the middle of a message.
bool may_copy_between_processes() {
  char from = 1, to = 0;
  const iovec source{&from, 1}, target{&to, 1};
  return ::process_vm_readv(::getpid(), &target, 1, &source, 1, 0) == 1;
}

class MpiRanks : public LaunchedRanks {
 public:
  MpiRanks(const LaunchedRank& launched, int patience_s) : patience_(patience_s) {
    ::setenv("OMPI_MCA_mpi_yield_when_idle", "0", 1);  // the kernel lets one that yields wait for its turn
    if (!may_copy_between_processes()) ::setenv("OMPI_MCA_btl_vader_single_copy_mechanism", "none", 0);
    int level = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    if (size_ != launched.size || rank_ != launched.rank)
      throw RunError(
          "started as rank " + std::to_string(launched.rank) + " of " + std::to_string(launched.size) +
          ", but MPI finds rank " + std::to_string(rank_) + " of " + std::to_string(size_) +
          "; start longhaul-train by the mpirun of the MPI that it was built with, or by srun --mpi=pmix");
    MPI_Comm here;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &here);
    MPI_Comm_rank(here, &here_.number);
    MPI_Comm_size(here, &here_.size);
    MPI_Comm_free(&here);
    if (here_.size <= static_cast<int>(std::thread::hardware_concurrency())) busy_ = kBusy;
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  RankHere here() const override { return here_; }

  std::unique_ptr<Transfer> send(int to, int channel, const void* data, std::size_t bytes) override {
    auto sending = std::make_unique<UnderWay>(*this, to);
    in_pieces(const_cast<void*>(data), bytes, [&](void* piece, int count) {
      MPI_Isend(piece, count, MPI_BYTE, to, channel, MPI_COMM_WORLD, sending->add(UnderWay::kAnySize));
    });
    return sending;
  }

  std::unique_ptr<Transfer> receive(int from, int channel, void* data, std::size_t bytes) override {
    auto receiving = std::make_unique<UnderWay>(*this, from);
    in_pieces(data, bytes, [&](void* piece, int count) {
      MPI_Irecv(piece, count, MPI_BYTE, from, channel, MPI_COMM_WORLD, receiving->add(count));
    });
    return receiving;
  }

  void check_others(Clock::time_point begin) override {
    if (Clock::now() > begin + patience_)
      throw RunError("another rank has kept this one waiting for " + std::to_string(patience_.count()) +
                     " s" + kResume);
  }

  void finish() override {
    UnderWay all(*this, -1);
    MPI_Ibarrier(MPI_COMM_WORLD, all.add(UnderWay::kAnySize));
    all.wait();
    MPI_Finalize();
  }

  void abort(int exit_status) override { MPI_Abort(MPI_COMM_WORLD, exit_status); }

 private:
  // MPI itself ends all ranks with a message where a transfer fails.
  class UnderWay : public Transfer {
   public:
    static constexpr int kAnySize = -1;
    UnderWay(const MpiRanks& ranks, int other) : ranks_(ranks), other_(other) {}
    // Of one that was not waited for; MPI is not called any more but for its abort.
    ~UnderWay() override {
      for (MPI_Request& request : requests_)
        if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
    }

    MPI_Request* add(int expected_bytes) {
      expected_.push_back(expected_bytes);
      requests_.push_back(MPI_REQUEST_NULL);
      return &requests_.back();
    }

    void wait() override {
      if (requests_.empty()) return;
      std::vector<MPI_Status> statuses(requests_.size());
      ranks_.wait_until(other_, [&] {
        int are_done = 0;
        MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &are_done, statuses.data());
        return are_done != 0;
      });
      for (std::size_t i = 0; i < statuses.size(); ++i) check_size(statuses[i], expected_[i]);
      requests_.clear();
    }

   private:
    static void check_size(const MPI_Status& status, int expected) {
      int bytes = 0;
      MPI_Get_count(&status, MPI_BYTE, &bytes);
      if (expected != kAnySize && bytes != expected)
        throw std::logic_error("a message of " + std::to_string(expected) +
                               " bytes was waited for, but one of " + std::to_string(bytes) + " bytes came");
    }

    const MpiRanks& ranks_;
    int other_;
    std::vector<MPI_Request> requests_;
    std::vector<int> expected_;
  };

  template <typename Begin>
  static void in_pieces(void* data, std::size_t bytes, const Begin& begin) {
    std::size_t at = 0;
    do {
      const std::size_t count = std::min(bytes - at, kMostAtOnce);
      begin(static_cast<char*>(data) + at, static_cast<int>(count));
      at += count;
    } while (at < bytes);
  }

  // MPI's own wait keeps a processor busy that another rank may need.
  template <typename IsDone>
  void wait_until(int other, const IsDone& is_done) const {
    for (const Clock::time_point begin = Clock::now(); !is_done();) {
      const auto waited = Clock::now() - begin;
      if (waited > patience_)
        throw RunError((other < 0 ? "another rank" : "rank " + std::to_string(other)) +
                       " has not answered for " + std::to_string(patience_.count()) + " s" + kResume);
      if (waited > busy_) std::this_thread::sleep_for(kNap);
    }
  }

  int rank_ = 0, size_ = 1;
  RankHere here_;
  std::chrono::microseconds busy_{0};
  std::chrono::seconds patience_;
};

}  // namespace

std::unique_ptr<LaunchedRanks> make_mpi_ranks(const LaunchedRank& launched, int patience_s) {
  return std::make_unique<MpiRanks>(launched, patience_s);
}

}  // namespace longhaul
