#include "replay/restartable_exchange.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "core/base/index.h"
#include "replay/quorum_exchange.h"

namespace longhaul {

RestartableExchange::RestartableExchange(const ExchangeContext& context, const Operation& exchange,
                                         int rule_index, std::vector<int> group,
                                         const std::vector<int>& listeners, bool discards,
                                         MemberDone on_member_done)
    : GroupOperation(exchange, rule_index, group),
      context_(context),
      discards_(discards && exchange.rule->completion.is_all()),
      on_member_done_(std::move(on_member_done)),
      order_(std::move(group)) {
  for (const int replica : order_)
    members_[replica].listens = std::find(listeners.begin(), listeners.end(), replica) != listeners.end();
  make_run();
}

void RestartableExchange::make_run() {
  participants_.clear();
  for (const int replica : order_)
    if (!members_.at(replica).listens) participants_.push_back(replica);
  run_.reset();
  if (order_.size() < 2) return;
  // Targets are numbers of members (net/collectives/collective.h).
  Operation exchange = exchange_;
  if (!exchange.targets.empty()) {
    std::map<int, int> place;
    for (std::size_t i = 0; i < order_.size(); ++i) place[order_[i]] = static_cast<int>(i);
    exchange.targets.assign(order_.size(), {});
    for (std::size_t i = 0; i < order_.size(); ++i)
      for (const int target : exchange_.targets[as_index(order_[i])])
        if (place.count(target)) exchange.targets[i].push_back(place[target]);
  }
  const auto done = [this](int replica) { end(replica); };
  if (rule().completion.is_all())
    run_ = std::make_unique<BucketedExchange>(context_, exchange, rule_index(), order_, done);
  else
    run_ = std::make_unique<QuorumExchange>(context_, exchange, rule_index(), order_, done);
}

void RestartableExchange::give_up() {
  if (!run_) return;
  for (const int replica : run_->group())
    if (const auto member = members_.find(replica); member != members_.end())
      member->second.wasted_bytes += run_->times(replica).bytes_sent;
  run_->give_up();
  transfers_given_up_ += run_->transfers();
  context_.given_up->push_back(std::shared_ptr<GroupOperation>(std::move(run_)));
}

bool RestartableExchange::all_released() const {
  return std::all_of(members_.begin(), members_.end(),
                     [&](const auto& item) { return item.second.released >= rule().buckets; });
}

const std::vector<int>& RestartableExchange::participants() const {
  return run_ && !rule().completion.is_all() ? run_->participants() : participants_;
}

void RestartableExchange::cut(int replica) {
  const auto found = members_.find(replica);
  if (found == members_.end() || found->second.released == 0 || is_done(replica) || is_finished()) return;
  if (is_fetched_ || is_discarded_) return;
  participants_ = participants();
  cut_.insert(replica);
  give_up();
}

void RestartableExchange::begin_anew() {
  give_up();
  if (!cut_.empty()) return;
  make_run();
  const std::vector<int> order = order_;  // a release may be the end of it
  for (const int replica : order)
    for (int bucket = 0; bucket < members_.at(replica).released; ++bucket) {
      if (run_)
        run_->release(replica);
      else if (bucket + 1 == rule().buckets)
        end(replica);
    }
}

void RestartableExchange::end(int replica) {
  Member& member = members_.at(replica);
  if (member.done_s >= 0) return;
  member.done_s = context_.clock.now_s();
  if (settled_s_ < 0) settled_s_ = member.done_s;
  tell(replica);
}

// Its end is told once.
void RestartableExchange::tell(int replica) {
  has_told_end_ = has_told_end_ || is_finished();
  on_member_done_(replica);
}

void RestartableExchange::release(int replica) {
  const auto found = members_.find(replica);
  if (found == members_.end() || found->second.done_s >= 0) return;
  Member& member = found->second;
  if (++member.released == rule().buckets && member.ready_s < 0) member.ready_s = context_.clock.now_s();
  if (is_fetched_ || !cut_.empty()) return;
  if (run_) return run_->release(replica);
  if (member.released == rule().buckets) end(replica);
}

void RestartableExchange::lose(int replica) {
  const auto found = members_.find(replica);
  if (found == members_.end() || is_done(replica) || is_finished()) return;
  const bool contributed = !found->second.listens;
  // One that a quorum has passed by is not missed.
  const bool is_missed = !run_ || !run_->has_begun() || rule().completion.is_all() ||
                         std::count(run_->participants().begin(), run_->participants().end(), replica) > 0;
  members_.erase(found);
  cut_.erase(replica);
  order_.erase(std::find(order_.begin(), order_.end(), replica));
  if (servers_) servers_->remove(replica);
  if (is_missed && !is_discarded_ && !is_fetched_) go_on(contributed && discards_);
  if (is_finished() && !has_told_end_) tell(-1);
}

// Without those who are lost.
void RestartableExchange::go_on(bool fails) {
  const bool has_result =
      std::any_of(members_.begin(), members_.end(), [](const auto& item) { return item.second.done_s >= 0; });
  if (has_result && rule().kind != OperationKind::kSend) return fetch_result();
  if (fails) {
    give_up();
    is_discarded_ = true;
    cut_.clear();
    participants_.clear();
    settled_s_ = context_.clock.now_s();
    const std::vector<int> order = order_;
    for (const int member : order)
      if (members_.at(member).released >= rule().buckets) end(member);
    return;
  }
  // Of sends to targets who is done keeps what it has.
  const std::vector<int> all = order_;
  order_.erase(std::remove_if(order_.begin(), order_.end(),
                              [&](int member) { return members_.at(member).done_s >= 0; }),
               order_.end());
  if (!order_.empty()) begin_anew();
  participants_.clear();
  for (const int member : all)
    if (!members_.at(member).listens) participants_.push_back(member);
  order_ = all;
}

void RestartableExchange::fetch_result() {
  participants_ = participants();
  give_up();
  is_fetched_ = true;
  cut_.clear();
  servers_.emplace(context_, step(), rule_index(), exchange_.bytes, transfers_given_up_,
                   [this](int replica, const SyncParts&) { end(replica); });
  std::vector<int> sources;
  for (const int replica : order_) {
    if (is_done(replica))
      sources.push_back(replica);
    else
      servers_->add_waiting(replica);
  }
  for (const int source : sources) servers_->add_source(source);
}

bool RestartableExchange::admit(int replica, bool listens) {
  if (is_member(replica) || is_discarded_ || is_fetched_) return false;
  if (!members_.empty() && (is_finished() || all_released())) return false;
  order_.insert(std::lower_bound(order_.begin(), order_.end(), replica), replica);
  members_[replica].listens = listens;
  begin_anew();
  return true;
}

void RestartableExchange::promote(int replica) {
  const auto found = members_.find(replica);
  if (found == members_.end() || !found->second.listens || is_finished()) return;
  found->second.listens = false;
  redo(replica, false);
}

void RestartableExchange::redo(int replica, bool has_row) {
  const auto found = members_.find(replica);
  if (found == members_.end() || is_done(replica) || is_finished()) return;
  cut_.erase(replica);
  if (!has_row) found->second.released = 0, found->second.ready_s = -1;
  begin_anew();
}

GroupOperation::MemberTimes RestartableExchange::times(int replica) const {
  const auto found = members_.find(replica);
  if (found == members_.end()) return {};
  const Member& member = found->second;
  MemberTimes times{member.ready_s, member.done_s, 0, {}};
  if (run_ && std::count(run_->group().begin(), run_->group().end(), replica)) times = run_->times(replica);
  if (member.ready_s >= 0) times.ready_s = member.ready_s;
  times.bytes_sent += member.wasted_bytes + (servers_ ? servers_->bytes_sent(replica) : 0);
  return times;
}

bool RestartableExchange::is_done(int replica) const {
  const auto found = members_.find(replica);
  if (found == members_.end()) return true;
  if (found->second.done_s >= 0) return true;
  return run_ && !rule().completion.is_all() && run_->is_done(replica);  // passed by
}

bool RestartableExchange::is_finished() const {
  if (run_) return run_->is_finished();
  if (!cut_.empty()) return false;
  return std::all_of(members_.begin(), members_.end(),
                     [](const auto& item) { return item.second.done_s >= 0; });
}

double RestartableExchange::start_s() const {
  return run_ ? run_->start_s() : settled_s_;
}

double RestartableExchange::done_s() const {
  double last = settled_s_;
  for (const auto& [replica, member] : members_) last = std::max(last, member.done_s);
  return last;
}

std::int64_t RestartableExchange::transfers() const {
  return transfers_given_up_ + (run_ ? run_->transfers() : 0) + (servers_ ? servers_->transfers() : 0);
}

std::vector<std::string> RestartableExchange::waiting() const {
  if (run_) return run_->waiting();
  return {fmt::format("exchange {} of step {}: {} members have not posted it", rule().name, step(),
                      members_.size())};
}

}  // namespace longhaul
