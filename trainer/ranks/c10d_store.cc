#include <chrono>
#include <thread>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "core/child_main.h"
#include "trainer/ranks/rank_store.h"
#include "trainer/ranks/socket.h"

namespace longhaul {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kLook = std::chrono::milliseconds(50);  // between two attempts

// c10d's messages carry a stack trace behind their first line.
std::string first_line(const std::exception& error) {
  const std::string text = error.what();
  return text.substr(0, text.find('\n'));
}

class C10dStore : public RankStore {
 public:
  explicit C10dStore(c10::intrusive_ptr<c10d::Store> store) : store_(std::move(store)) {}

  void set(const std::string& key, const std::string& text) override {
    ask([&] { store_->set(key, std::vector<std::uint8_t>(text.begin(), text.end())); });
  }
  std::optional<std::string> find(const std::string& key) override {
    std::optional<std::string> text;
    ask([&] {
      if (!store_->check({key})) return;
      const std::vector<std::uint8_t> found = store_->get(key);
      text.emplace(found.begin(), found.end());
    });
    return text;
  }
  std::int64_t count(const std::string& key) override {
    std::int64_t times = 0;
    ask([&] { times = store_->add(key, 1); });
    return times;
  }

 private:
  template <typename Question>
  static void ask(const Question& question) {
    try {
      question();
    } catch (const std::exception& error) {
      throw StoreLost(first_line(error));
    }
  }

  c10::intrusive_ptr<c10d::Store> store_;
};

bool listens(const RankEnvironment& environment) {
  return environment.rank == 0 && !environment.is_agents_store;
}

c10d::TCPStoreOptions options_of(const RankEnvironment& environment) {
  c10d::TCPStoreOptions options;
  options.port = static_cast<std::uint16_t>(environment.port);
  options.isServer = listens(environment);
  options.waitWorkers = false;
  options.timeout = std::chrono::seconds(2);
  return options;
}

[[noreturn]] void refuse(const RankEnvironment& environment, const std::string& reason) {
  const std::string where = text_of(environment.address, environment.port);
  if (environment.is_agents_store)
    throw RunError("rank " + std::to_string(environment.rank) + ": no connection to torchrun's store at " +
                   where + " (MASTER_ADDR, MASTER_PORT): " + reason +
                   "; torchrun has to be of the PyTorch that longhaul-train was built with");
  if (environment.rank > 0)
    throw RunError("rank " + std::to_string(environment.rank) + ": no connection through " + where +
                   ", where rank 0 should listen (MASTER_ADDR, MASTER_PORT): " + reason);
  throw RunError("rank 0 cannot listen at " + where + " (MASTER_ADDR, MASTER_PORT): " + reason +
                 "; MASTER_ADDR has to be an address of this machine, and MASTER_PORT free on it");
}

}  // namespace

// In short attempts, so that Ctrl-C is seen while rank 0 has not come yet.
std::unique_ptr<RankStore> open_c10d_store(const RankEnvironment& environment, int patience_s) {
  const Clock::time_point deadline = Clock::now() + std::chrono::seconds(patience_s);
  for (;;) {
    check_interrupt();
    try {
      const auto store = c10::make_intrusive<c10d::TCPStore>(environment.address, options_of(environment));
      store->setTimeout(std::chrono::seconds(60));
      return std::make_unique<C10dStore>(
          c10::make_intrusive<c10d::PrefixStore>("longhaul/attempt" + environment.attempt, store));
    } catch (const std::exception& error) {
      if (listens(environment) || Clock::now() > deadline) refuse(environment, first_line(error));
    }
    std::this_thread::sleep_for(kLook);
  }
}

}  // namespace longhaul
