#include "net/linux/crew.h"

#include <system_error>

namespace longhaul::linux_tcp {
namespace {

// Looks before a thread sleeps, some 50 microseconds: between two loops there is often less.
constexpr int kLooks = 1000;

}  // namespace

Crew::Crew(int threads)
    : parts_(new Part[static_cast<std::size_t>(threads)]), part_count_(static_cast<std::size_t>(threads)) {
  try {
    for (std::size_t own = 1; own < part_count_; ++own) helpers_.emplace_back([this, own] { help(own); });
  } catch (const std::system_error&) {
    // There are no more: those that there are share the parts.
  }
}

Crew::~Crew() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    is_over_ = true;
  }
  begun_.notify_all();
  for (std::thread& helper : helpers_) helper.join();
}

void Crew::run(std::size_t count, const std::function<void(std::size_t)>& work) {
  if (is_alone()) {
    for (std::size_t item = 0; item < count; ++item) work(item);
    return;
  }
  for (std::size_t i = 0; i < part_count_; ++i) {
    parts_[i].next.store(i * count / part_count_, std::memory_order_relaxed);
    parts_[i].end = (i + 1) * count / part_count_;
  }
  work_ = &work;
  left_.store(0);
  const std::uint64_t loop = (gate_.load() / Gate::kLoop + 1) * Gate::kLoop;
  gate_.store(loop | Gate::kOpen);
  if (sleepers_.load() > 0) {
    const std::lock_guard<std::mutex> lock(mutex_);
    begun_.notify_all();
  }
  take_part(0);
  const std::uint64_t joined = gate_.exchange(loop) % Gate::kOpen;
  while (left_.load() < joined) std::this_thread::yield();
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void Crew::help(std::size_t own) {
  std::uint64_t seen = 0;
  const auto may_join = [&](std::uint64_t gate) {
    return (gate & Gate::kOpen) != 0 && gate / Gate::kLoop != seen;
  };
  for (;;) {
    for (int look = 0; look < kLooks && !may_join(gate_.load()); ++look) std::this_thread::yield();
    std::uint64_t gate = gate_.load();
    if (!may_join(gate)) {
      std::unique_lock<std::mutex> lock(mutex_);
      ++sleepers_;
      begun_.wait(lock, [&] { return is_over_ || may_join(gate_.load()); });
      --sleepers_;
      if (is_over_) return;
      continue;
    }
    if (!gate_.compare_exchange_strong(gate, gate + 1)) continue;
    seen = gate / Gate::kLoop;
    take_part(own);
    left_.fetch_add(1);
  }
}

void Crew::take_part(std::size_t own) {
  for (std::size_t i = 0; i < part_count_; ++i) {
    Part& part = parts_[(own + i) % part_count_];
    for (;;) {
      const std::size_t item = part.next.fetch_add(1, std::memory_order_relaxed);
      if (item >= part.end) break;
      try {
        (*work_)(item);
      } catch (...) {
        note_failure(item);
      }
    }
  }
}

void Crew::note_failure(std::size_t item) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (failure_ && failed_ < item) return;
  failure_ = std::current_exception();
  failed_ = item;
}

}  // namespace longhaul::linux_tcp
