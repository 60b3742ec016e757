#include "replay/exchange/exchange_run.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "core/base/index.h"
#include "replay/exchange/library_run.h"
#include "replay/exchange/rounds_run.h"

namespace longhaul {

ExchangeRun::ExchangeRun(const ExchangeContext& context, ExchangeOrder order, MemberDone on_member_done)
    : context_(context),
      order_(std::move(order)),
      exchange_(group_exchange(order_.group, order_.bytes, order_.rule.payload.size(), context.site_of,
                               order_.targets, order_.parts)),
      times_(order_.group.size()),
      on_member_done_(std::move(on_member_done)),
      left_(order_.group.size()) {}

// Groups are small, or everybody in order.
std::size_t ExchangeRun::member_of(int replica) const {
  const std::vector<int>& group = order_.group;
  const auto index = as_index(replica);
  if (index < group.size() && group[index] == replica) return index;
  return as_index(std::find(group.begin(), group.end(), replica) - group.begin());
}

void ExchangeRun::post(int replica, const SyncParts& chain) {
  const std::size_t index = member_of(replica);
  times_[index].ready_s = now_s();
  const bool is_last = ++posted_ == members();
  if (exchange_.senders.empty() ? is_last && order_.rule.buckets == 1 : !is_counting_) count();
  if (!is_last && context_.spec.barrier) return;
  if (!context_.spec.barrier) return call(index, chain);
  for (std::size_t i = 0; i < members(); ++i) call(i, chain);
}

void ExchangeRun::call(std::size_t member, const SyncParts& chain) {
  const double overhead_s = context_.spec.operation_overhead_s;
  if (overhead_s == 0) return start(member, chain);
  context_.clock.after(overhead_s, [this, member, chain, overhead_s] {
    if (is_given_up_) return;
    SyncParts led = chain;
    if (is_counting_) led.waiting_s += std::min(overhead_s, now_s() - start_s_);
    start(member, led);
  });
}

Transmission ExchangeRun::transmission(std::size_t from, std::size_t to, int number, std::int64_t bytes,
                                       bool is_in_turn) const {
  const int source = order_.group[from], target = order_.group[to];
  return {source, target, bytes, {order_.step, order_.rule_index, source, number, order_.bucket}, is_in_turn};
}

SyncParts ExchangeRun::counted(const SyncParts& chain, bool was_counted) const {
  if (was_counted) return chain;
  return is_counting_ ? last_seconds(chain, now_s() - start_s_) : SyncParts();
}

void ExchangeRun::finish(std::size_t member, const SyncParts& chain) {
  const int replica = order_.group[member];
  times_[member].done_s = now_s();
  times_[member].parts = exchange_.senders.empty() ? chain : last_seconds(chain, now_s() - start_s(replica));
  --left_;
  on_member_done_(replica);
}

double ExchangeRun::start_s() const {
  double last = 0;
  for (const MemberTimes& times : times_) last = std::max(last, times.ready_s);
  return last;
}

const std::vector<int>* ExchangeRun::senders_to(int replica) const {
  return exchange_.senders.empty() ? nullptr : &exchange_.senders[member_of(replica)];
}

double ExchangeRun::start_s(int replica) const {
  const std::vector<int>* senders = senders_to(replica);
  if (!senders) return start_s();
  double last = times(replica).ready_s;
  for (const int sender : *senders) last = std::max(last, times_[as_index(sender)].ready_s);
  return last;
}

double ExchangeRun::done_s() const {
  double last = 0;
  for (const MemberTimes& times : times_) last = std::max(last, times.done_s);
  return last;
}

std::vector<std::string> ExchangeRun::waiting() const {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < members(); ++i) {
    if (times_[i].done_s >= 0) continue;
    const Waiting waits = waiting(i);
    std::string line =
        fmt::format("exchange {} of step {}: replica {}", order_.rule.name, order_.step, order_.group[i]);
    if (waits.round < 0) {
      line += times_[i].ready_s < 0 ? " has not posted it" : " waits for all to be ready";
    } else {
      line += fmt::format(" in round {} waits for", waits.round + 1);
      for (const int peer : waits.peers) line += fmt::format(" replica {}", order_.group[as_index(peer)]);
    }
    lines.push_back(line);
  }
  return lines;
}

std::unique_ptr<ExchangeRun> make_exchange_run(const ExchangeContext& context, ExchangeOrder order,
                                               ExchangeRun::MemberDone on_member_done) {
  if (library_named(context.spec.library).is_plain())
    return std::make_unique<RoundsRun>(context, std::move(order), std::move(on_member_done));
  return std::make_unique<LibraryRun>(context, std::move(order), std::move(on_member_done));
}

}  // namespace longhaul
