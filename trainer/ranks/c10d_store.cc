#include <algorithm>
#include <chrono>
#include <future>
#include <thread>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include "core/base/child_main.h"
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

// The store's own calls wait without an end for a keeper that has vanished, and for a stranger at its port.
// So each has a thread, which is left behind where no answer comes in time.
template <typename Question>
auto answer_within(std::chrono::seconds limit, Question question) {
  auto task = std::make_shared<std::packaged_task<decltype(question())()>>(std::move(question));
  auto answer = task->get_future();
  std::thread([task] { (*task)(); }).detach();
  if (answer.wait_for(limit) != std::future_status::ready)
    throw StoreLost("no answer for " + std::to_string(limit.count()) + " s");
  try {
    return answer.get();
  } catch (const std::exception& error) {
    throw StoreLost(first_line(error));
  }
}

class C10dStore : public RankStore {
  template <typename Question>
  auto ask(Question question) {
    if (!lost_.empty()) throw StoreLost(lost_);
    try {
      return answer_within(limit_, std::move(question));
    } catch (const StoreLost& error) {
      lost_ = error.what();
      throw;
    }
  }

 public:
  C10dStore(c10::intrusive_ptr<c10d::Store> store, std::chrono::seconds limit)
      : store_(std::move(store)), limit_(limit) {}

  void set(const std::string& key, const std::string& text) override {
    ask([store = store_, key, bytes = std::vector<std::uint8_t>(text.begin(), text.end())] {
      store->set(key, bytes);
      return true;
    });
  }
  std::optional<std::string> find(const std::string& key) override {
    return ask([store = store_, key]() -> std::optional<std::string> {
      if (!store->check({key})) return std::nullopt;
      const std::vector<std::uint8_t> found = store->get(key);
      return std::string(found.begin(), found.end());
    });
  }
  std::int64_t count(const std::string& key) override {
    return ask([store = store_, key] { return store->add(key, 1); });
  }

 private:
  c10::intrusive_ptr<c10d::Store> store_;
  std::chrono::seconds limit_;
  std::string lost_;  // why; empty: it is not
};

bool listens(const RankEnvironment& environment) {
  return environment.rank == 0 && !environment.is_agents_store;
}

c10d::TCPStoreOptions options_of(const RankEnvironment& environment) {
  c10d::TCPStoreOptions options;
  options.port = static_cast<std::uint16_t>(environment.port);
  options.isServer = listens(environment);
  options.waitWorkers = false;
  options.timeout = std::chrono::seconds(10);
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

// Until something listens there; c10d itself writes a warning with a stack trace for each attempt.
void wait_for_keeper(const RankEnvironment& environment, Clock::time_point deadline) {
  for (;;) {
    try {
      connect_to(resolve(environment.address, environment.port), deadline, check_interrupt);
      return;
    } catch (const RunError& error) {
      if (Clock::now() > deadline) refuse(environment, error.what());
    }
    check_interrupt();
    std::this_thread::sleep_for(kLook);
  }
}

}  // namespace

std::unique_ptr<RankStore> open_c10d_store(const RankEnvironment& environment, int patience_s) {
  const std::chrono::seconds limit(std::clamp(patience_s, 2, 30));
  if (!listens(environment)) wait_for_keeper(environment, Clock::now() + std::chrono::seconds(patience_s));
  try {
    auto store = answer_within(limit, [address = environment.address, options = options_of(environment)] {
      auto opened = c10::make_intrusive<c10d::TCPStore>(address, options);
      opened->check({"longhaul"});  // older ones connect to anything
      return opened;
    });
    store->setTimeout(limit);
    return std::make_unique<C10dStore>(
        c10::make_intrusive<c10d::PrefixStore>("longhaul/attempt" + environment.attempt, std::move(store)),
        limit);
  } catch (const StoreLost& error) {
    refuse(environment, error.what());
  }
}

}  // namespace longhaul
