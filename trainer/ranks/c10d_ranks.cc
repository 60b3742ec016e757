#include <ATen/ATen.h>

#include <chrono>
#include <cstdlib>
#include <thread>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "core/child_main.h"
#include "core/errors.h"
#include "trainer/ranks/rank_environment.h"

namespace longhaul {
namespace {

using Clock = std::chrono::steady_clock;
using Store = c10::intrusive_ptr<c10d::Store>;
using Work = decltype(std::declval<c10d::ProcessGroupGloo&>().barrier());  // its name differs by version

constexpr auto kLook = std::chrono::milliseconds(50);        // between two looks at who is there
constexpr auto kLastWords = std::chrono::milliseconds(500);  // for the ranks that found out first

std::string joined_key(int rank) {
  return "longhaul/joined/" + std::to_string(rank);
}

constexpr char kFailed[] = "longhaul/failed", kWords[] = "longhaul/first_words";
constexpr char kResume[] = "; start all ranks again with --resume to continue after the newest checkpoint";

// c10d's messages carry a stack trace behind their first line, Gloo's a place in its source before it.
std::string first_line(const std::exception& error) {
  const std::string text = error.what();
  const std::size_t place = text.rfind("[./gloo", 0) == 0 ? text.find("] ") + 2 : 0;
  return text.substr(place, text.find('\n') - place);
}

c10d::TCPStoreOptions store_options(const RankEnvironment& environment) {
  c10d::TCPStoreOptions options;
  options.port = static_cast<std::uint16_t>(environment.port);
  options.isServer = environment.rank == 0 && !environment.is_agents_store;
  options.waitWorkers = false;
  options.timeout = std::chrono::seconds(2);
  return options;
}

// In short attempts, so that Ctrl-C is seen while rank 0 is not there yet.
Store connect(const RankEnvironment& environment, Clock::time_point deadline) {
  const std::string where = environment.address + ":" + std::to_string(environment.port);
  for (;;) {
    check_interrupt();
    try {
      const Store store =
          c10::make_intrusive<c10d::TCPStore>(environment.address, store_options(environment));
      return c10::make_intrusive<c10d::PrefixStore>("longhaul/attempt" + environment.attempt, store);
    } catch (const std::exception& error) {
      if (environment.rank == 0 || Clock::now() > deadline)
        throw RunError("rank " + std::to_string(environment.rank) + ": no connection through " + where +
                       ", where rank 0 should listen (MASTER_ADDR, MASTER_PORT): " + first_line(error));
    }
    std::this_thread::sleep_for(kLook);
  }
}

std::vector<int> missing_ranks(c10d::Store& store, int size) {
  std::vector<int> missing;
  for (int rank = 0; rank < size; ++rank)
    if (!store.check({joined_key(rank)})) missing.push_back(rank);
  return missing;
}

void wait_for_all(c10d::Store& store, const RankEnvironment& environment, int patience_s,
                  Clock::time_point deadline) {
  store.set(joined_key(environment.rank), std::vector<std::uint8_t>{1});
  for (;;) {
    const std::vector<int> missing = missing_ranks(store, environment.size);
    if (missing.empty()) return;
    if (Clock::now() > deadline) {
      std::string ranks;
      for (int rank : missing) ranks += (ranks.empty() ? "" : ", ") + std::to_string(rank);
      throw RunError("of " + std::to_string(environment.size) + " ranks these did not come within " +
                     std::to_string(patience_s) + " s: " + ranks);
    }
    check_interrupt();
    std::this_thread::sleep_for(kLook);
  }
}

bool is_loopback(const std::string& address) {
  return address == "localhost" || address == "::1" || address.rfind("127.", 0) == 0;
}

c10::intrusive_ptr<c10d::ProcessGroupGloo> make_group(const Store& store, const RankEnvironment& environment,
                                                      int patience_s) {
  using Group = c10d::ProcessGroupGloo;
  const auto options = Group::Options::create(std::chrono::seconds(patience_s));
  const char* interface = std::getenv("GLOO_SOCKET_IFNAME");
  options->threads = 1;  // of collectives, which are not used
  options->devices = {interface                          ? Group::createDeviceForInterface(interface)
                      : is_loopback(environment.address) ? Group::createDeviceForHostname("127.0.0.1")
                                                         : Group::createDefaultDevice()};
  return c10::make_intrusive<Group>(store, environment.rank, environment.size, options);
}

class C10dRanks : public Ranks {
 public:
  C10dRanks(const RankEnvironment& environment, int patience_s)
      : rank_(environment.rank), size_(environment.size), patience_s_(patience_s) {
    const Clock::time_point deadline = Clock::now() + std::chrono::seconds(patience_s);
    store_ = connect(environment, deadline);
    store_->setTimeout(std::chrono::seconds(patience_s));
    meet(environment, deadline);
    try {
      group_ = make_group(store_, environment, patience_s);
    } catch (const std::exception& error) {
      throw RunError("the ranks found each other, but could not connect: " + first_line(error) +
                     "; GLOO_SOCKET_IFNAME names the network interface to use");
    }
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  std::unique_ptr<Transfer> send(int to, int channel, const void* data, std::size_t bytes) override {
    std::vector<at::Tensor> tensors = {view(const_cast<void*>(data), bytes)};
    return under_way(to, [&] { return group_->send(tensors, to, channel); });
  }

  std::unique_ptr<Transfer> receive(int from, int channel, void* data, std::size_t bytes) override {
    std::vector<at::Tensor> tensors = {view(data, bytes)};
    return under_way(from, [&] { return group_->recv(tensors, from, channel); });
  }

  void say_last(const std::string& words) override {
    try {
      const std::string mine = "rank " + std::to_string(rank_) + " ended: " + words;
      if (store_->add(kFailed, 1) == 1)  // the first to fail knows why; the others then fail because of it
        store_->set(kWords, std::vector<std::uint8_t>(mine.begin(), mine.end()));
    } catch (const std::exception&) {  // rank 0, which keeps them, is gone too
    }
    if (rank_ != 0) return;
    group_.reset();  // the others find rank 0 gone, and have the time to read why
    std::this_thread::sleep_for(3 * kLastWords);
  }

  [[noreturn]] void lost(int other, const std::exception& error) {
    const std::string words = first_words();
    if (!words.empty()) throw RunError(words + (words.find(kResume) == std::string::npos ? kResume : ""));
    const std::string reason = first_line(error);
    const bool is_slow = reason.find("imed out") != std::string::npos;
    throw RunError(
        "rank " + std::to_string(other) +
        (is_slow ? " has not answered for " + std::to_string(patience_s_) + " s (" : " is gone (") + reason +
        ")" + kResume);
  }

 private:
  class Under : public Transfer {
   public:
    Under(C10dRanks& ranks, int other, Work work) : ranks_(ranks), other_(other), work_(std::move(work)) {}
    void wait() override {
      try {
        work_->wait();
      } catch (const std::exception& error) {
        ranks_.lost(other_, error);
      }
    }

   private:
    C10dRanks& ranks_;
    int other_;
    Work work_;
  };

  template <typename Start>
  std::unique_ptr<Transfer> under_way(int other, const Start& start) {
    try {
      return std::make_unique<Under>(*this, other, start());
    } catch (const RunError&) {
      throw;
    } catch (const std::exception& error) {
      lost(other, error);
    }
  }

  void meet(const RankEnvironment& environment, Clock::time_point deadline) {
    try {
      wait_for_all(*store_, environment, patience_s_, deadline);
    } catch (const RunError&) {
      throw;
    } catch (const Interrupted&) {
      throw;
    } catch (const std::exception& error) {
      throw RunError("rank 0 ended before all ranks were there (" + first_line(error) +
                     "): its own output says why");
    }
  }

  static at::Tensor view(void* data, std::size_t bytes) {
    return at::from_blob(data, {static_cast<std::int64_t>(bytes)}, at::kByte);
  }

  // Of the rank that failed first: the one that this one waits for may have ended because of it.
  std::string first_words() {
    try {
      std::this_thread::sleep_for(kLastWords);
      if (!store_->check({kWords})) return "";
      const std::vector<std::uint8_t> words = store_->get(kWords);
      return std::string(words.begin(), words.end());
    } catch (const std::exception&) {  // rank 0, which keeps them, is gone
      return "";
    }
  }

  int rank_, size_, patience_s_;
  Store store_;
  c10::intrusive_ptr<c10d::ProcessGroupGloo> group_;
};

}  // namespace

std::unique_ptr<Ranks> make_c10d_ranks(const RankEnvironment& environment, int patience_s) {
  return std::make_unique<C10dRanks>(environment, patience_s);
}

}  // namespace longhaul
