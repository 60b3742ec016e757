#include "trainer/ranks/mpi_ranks.h"

#include <mpi.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <stdexcept>
#include <thread>
#include <utility>

#include "core/base/child_main.h"
#include "core/base/errors.h"
#include "core/base/index.h"

namespace longhaul {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostAtOnce = 1 << 30;  // bytes: MPI counts in int
constexpr std::chrono::microseconds kBusy{200}, kNap{50};
constexpr std::chrono::seconds kToTell{10};        // that another one is silent
constexpr std::chrono::seconds kAfterASignal{30};  // longer than a checkpoint of another rank should take
constexpr std::chrono::milliseconds kWatch{200};
constexpr char kResume[] = "; start all ranks again with --resume to continue after the newest checkpoint";

// A container may forbid it: Open MPI then fails in the middle of a message.
bool may_copy_between_processes() {
  char from = 1, to = 0;
  const iovec source{&from, 1}, target{&to, 1};
  return ::process_vm_readv(::getpid(), &target, 1, &source, 1, 0) == 1;
}

bool is_number(const char* variable, int number) {
  const char* text = std::getenv(variable);
  return text && text == std::to_string(number);
}

// By what the launchers say: Open MPI's, and Slurm's.
bool are_all_on_this_machine(const LaunchedRank& launched) {
  return is_number("OMPI_COMM_WORLD_LOCAL_SIZE", launched.size) ||
         (!std::getenv("OMPI_COMM_WORLD_SIZE") && is_number("SLURM_STEP_NUM_NODES", 1));
}

// Open MPI's ranks listen for TCP on every interface unless they are told otherwise, also where they send
// nothing that way. What the user has said stays.
void use_shared_memory_alone() {
#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION < 5
  constexpr const char* kTransports = "self,vader";
#else
  constexpr const char* kTransports = "self,sm";
#endif
  ::setenv("OMPI_MCA_pml", "ob1", 0);
  ::setenv("OMPI_MCA_btl", kTransports, 0);
}

std::string in_words(std::chrono::seconds time) {
  return std::to_string(time.count()) + " s";
}

// Watches over calls of MPI from a thread of its own: they may wait for what never comes.
class Watch {
 public:
  Watch(std::chrono::seconds patience, RankWords words)
      : patience_(patience), words_(std::move(words)), thread_([this] { run(); }) {}
  ~Watch() {
    is_over_ = true;
    thread_.join();
  }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  const RankWords& words() const { return words_; }

  // While it lives this process is in a call of MPI.
  class Call {
   public:
    explicit Call(const Watch& watch) : watch_(watch) {
      watch_.entered_ = Clock::now().time_since_epoch().count();
    }
    ~Call() { watch_.entered_ = 0; }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

   private:
    const Watch& watch_;
  };

 private:
  void run() {
    for (Clock::rep told = 0; !is_over_; std::this_thread::sleep_for(kWatch)) {
      const Clock::rep entered = entered_;
      if (entered == 0) continue;
      const auto inside = std::chrono::duration_cast<std::chrono::seconds>(
          Clock::now() - Clock::time_point(Clock::duration(entered)));
      const std::string what = "MPI has not returned for " + in_words(inside);
      if (inside > patience_) words_.end(what + kResume, kRunFailed);
      if (inside > kAfterASignal && interrupted())
        words_.end("it was told to stop, and " + what + kResume, kInterrupted);
      if (inside <= kToTell || told == entered) continue;
      told = entered;
      words_.note(what + "; it is given up after " + in_words(patience_));
    }
  }

  const std::chrono::seconds patience_;
  const RankWords words_;
  mutable std::atomic<Clock::rep> entered_ = 0;
  std::atomic<bool> is_over_ = false;
  std::thread thread_;
};

class MpiRanks : public LaunchedRanks {
 public:
  MpiRanks(const LaunchedRank& launched, int patience_s, RankWords words)
      : patience_(patience_s), watch_(patience_, std::move(words)) {
    ::setenv("OMPI_MCA_mpi_yield_when_idle", "0", 1);  // the kernel lets one that yields wait for its turn
    if (!may_copy_between_processes()) ::setenv("OMPI_MCA_btl_vader_single_copy_mechanism", "none", 0);
    if (are_all_on_this_machine(launched)) use_shared_memory_alone();
    const Watch::Call call(watch_);
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
    const Watch::Call call(watch_);
    auto sending = std::make_unique<UnderWay>(*this, to);
    in_pieces(const_cast<void*>(data), bytes, [&](void* piece, int count) {
      MPI_Isend(piece, count, MPI_BYTE, to, channel, MPI_COMM_WORLD, sending->add(UnderWay::kAnySize));
    });
    return sending;
  }

  std::unique_ptr<Transfer> receive(int from, int channel, void* data, std::size_t bytes) override {
    const Watch::Call call(watch_);
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
    const Watch::Call call(watch_);
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
        const Watch::Call call(ranks_.watch_);
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

  static std::string silent(int other) {
    return (other < 0 ? "another rank" : "rank " + std::to_string(other)) + " has not answered for ";
  }

  // MPI's own wait keeps a processor busy that another rank may need.
  template <typename IsDone>
  void wait_until(int other, const IsDone& is_done) const {
    bool is_told = false;
    for (const Clock::time_point begin = Clock::now(); !is_done();) {
      const auto waited = Clock::now() - begin;
      if (waited > patience_) throw RunError(silent(other) + in_words(patience_) + kResume);
      if (waited > kAfterASignal && interrupted())
        watch_.words().end("it was told to stop, and " + silent(other) + in_words(kAfterASignal) + kResume,
                           kInterrupted);
      if (waited > kToTell && !is_told) {
        is_told = true;
        watch_.words().note(silent(other) + in_words(kToTell) + "; it is given up after " +
                            in_words(patience_));
      }
      if (waited > busy_) std::this_thread::sleep_for(kNap);
    }
  }

  int rank_ = 0, size_ = 1;
  RankHere here_;
  std::chrono::microseconds busy_{0};
  std::chrono::seconds patience_;
  Watch watch_;
};

}  // namespace

std::unique_ptr<LaunchedRanks> make_mpi_ranks(const LaunchedRank& launched, int patience_s, RankWords words) {
  return std::make_unique<MpiRanks>(launched, patience_s, std::move(words));
}

}  // namespace longhaul
