#include "replay/quorum_exchange.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace longhaul {

QuorumExchange::QuorumExchange(const ExchangeContext& context, const Operation& exchange, int rule_index,
                               std::vector<int> group, MemberDone on_member_done)
    : GroupOperation(exchange, rule_index, std::move(group)),
      context_(context),
      on_member_done_(std::move(on_member_done)) {}

void QuorumExchange::release(int replica) {
  ready_s_[replica] = context_.clock.now_s();
  if (has_begun()) {
    if (number_ >= 0) history().add_late(number_, ready_s_[replica] - quorum_s_);
    if (servers_) servers_->add_waiting(replica);
    return;
  }
  if (static_cast<int>(ready_s_.size()) == rule().completion.quorum) quorum_s_ = ready_s_[replica];
  if (ready_s_.size() == group().size()) return begin();
  if (static_cast<int>(ready_s_.size()) != rule().completion.quorum) return;
  const double grace = context_.lags->grace_s(rule_index(), rule().completion);
  if (std::isinf(grace)) return;
  context_.clock.after(grace, [this, lives = std::weak_ptr<bool>(lives_)] {
    if (!lives.expired() && !has_begun()) begin();
  });
}

LagHistory& QuorumExchange::history() {
  return context_.lags->of(rule_index(), rule().completion);
}

std::vector<double> QuorumExchange::lags_s() const {
  std::vector<double> lags;
  for (const auto& [replica, ready] : ready_s_) lags.push_back(ready - quorum_s_);
  std::sort(lags.begin(), lags.end());
  lags.erase(lags.begin(), lags.begin() + std::min<std::ptrdiff_t>(rule().completion.quorum,
                                                                   static_cast<std::ptrdiff_t>(lags.size())));
  return lags;
}

void QuorumExchange::begin() {
  begun_s_ = context_.clock.now_s();
  if (rule().completion.adaptive) number_ = history().add(lags_s());
  for (const int replica : group())
    if (ready_s_.count(replica)) participants_.push_back(replica);
  if (rule().completion.fetches)
    servers_.emplace(context_, step(), rule_index(), exchange_.bytes, 0,
                     [this](int replica, const SyncParts& way) {
                       fetched_[replica] = {context_.clock.now_s(), way};
                       on_member_done_(replica);
                     });
  if (participants_.size() == 1) return end(participants_[0]);
  run_ = std::make_unique<BucketedExchange>(context_, exchange_, rule_index(), participants_,
                                            [this](int replica) { end(replica); });
  for (const int replica : participants_) run_->release(replica);
}

// Last what may end the object.
void QuorumExchange::end(int replica) {
  if (servers_) servers_->add_source(replica);
  on_member_done_(replica);
}

bool QuorumExchange::is_finished() const {
  if (!has_begun() || (run_ && !run_->is_finished())) return false;
  return !servers_ || participants_.size() + fetched_.size() == group().size();
}

void QuorumExchange::give_up() {
  lives_.reset();
  if (run_) run_->give_up();
}

bool QuorumExchange::takes_part(int replica) const {
  return std::find(participants_.begin(), participants_.end(), replica) != participants_.end();
}

GroupOperation::MemberTimes QuorumExchange::times(int replica) const {
  const auto ready = ready_s_.find(replica);
  if (ready == ready_s_.end()) return {};
  if (!has_begun()) return {ready->second, -1, 0, {}};
  MemberTimes times{ready->second, std::max(begun_s_, ready->second), 0, {}};
  if (const auto fetched = fetched_.find(replica); fetched != fetched_.end()) {
    times.parts = fetched->second.way;
    times.parts.waiting_s += fetched->second.at_s - times.done_s - times.parts.total_s();
    times.done_s = fetched->second.at_s;
  } else if (run_ && takes_part(replica)) {
    times = run_->times(replica);
    times.ready_s = ready->second;
  }
  if (servers_) times.bytes_sent += servers_->bytes_sent(replica);
  return times;
}

bool QuorumExchange::is_done(int replica) const {
  if (!has_begun()) return false;
  if (!takes_part(replica)) return !servers_ || fetched_.count(replica) > 0;
  return !run_ || run_->is_done(replica);
}

std::vector<std::string> QuorumExchange::waiting() const {
  if (run_) return run_->waiting();
  if (has_begun())
    return {fmt::format("exchange {} of step {}: {} replicas need its result", rule().name, step(),
                        group().size() - participants_.size() - fetched_.size())};
  return {fmt::format("exchange {} of step {}: {} of {} replicas are ready, and {} are needed", rule().name,
                      step(), ready_s_.size(), group().size(), rule().completion.quorum)};
}

}  // namespace longhaul
