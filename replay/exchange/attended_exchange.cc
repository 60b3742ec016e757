#include "replay/exchange/attended_exchange.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/index.h"

namespace longhaul {
namespace {

// Of those that came behind the quorum.
std::vector<double> lags_s(const std::map<int, double>& came_s, double quorum_s, int quorum) {
  std::vector<double> lags;
  for (const auto& [replica, came] : came_s) lags.push_back(came - quorum_s);
  std::sort(lags.begin(), lags.end());
  lags.erase(lags.begin(), lags.begin() + std::min(quorum, static_cast<int>(lags.size())));
  return lags;
}

}  // namespace

AttendedExchange::AttendedExchange(const ExchangeContext& context, const Operation& exchange, int rule_index,
                                   std::vector<int> group, const std::vector<int>& listeners, bool discards,
                                   MemberDone on_member_done)
    : GroupOperation(exchange, rule_index, group),
      context_(context),
      discards_(discards && exchange.rule->completion.is_all()),
      on_member_done_(std::move(on_member_done)),
      order_(std::move(group)) {
  for (const int replica : order_)
    members_[replica].listens = std::find(listeners.begin(), listeners.end(), replica) != listeners.end();
  open();
}

void AttendedExchange::open() {
  is_open_ = order_.size() > 1;
  participants_ = is_open_ && !waits_for_all() ? std::vector<int>() : members_that(false);
  run_.reset();
  if (is_open_ && waits_for_all()) run_ = run_among(order_);
  came_s_.clear();
  begun_s_ = number_ = -1;
}

std::vector<int> AttendedExchange::members_that(bool listen) const {
  std::vector<int> replicas;
  for (const int replica : order_)
    if (members_.at(replica).listens == listen) replicas.push_back(replica);
  return replicas;
}

std::unique_ptr<BucketedExchange> AttendedExchange::run_among(const std::vector<int>& members) {
  // Targets are numbers of members (net/collectives/collective.h).
  Operation exchange = exchange_;
  if (!exchange.targets.empty()) {
    std::map<int, int> place;
    for (std::size_t i = 0; i < members.size(); ++i) place[members[i]] = static_cast<int>(i);
    exchange.targets.assign(members.size(), {});
    for (std::size_t i = 0; i < members.size(); ++i)
      for (const int target : exchange_.targets[as_index(members[i])])
        if (place.count(target)) exchange.targets[i].push_back(place[target]);
  }
  return std::make_unique<BucketedExchange>(context_, exchange, rule_index(), members,
                                            [this](int replica) { end(replica); });
}

// Nothing is sent any more, and nobody will be done.
void AttendedExchange::give_up() {
  is_open_ = false;
  grace_.end();
  if (!run_) return;
  for (const int replica : run_->group()) wasted_bytes_[replica] += run_->times(replica).bytes_sent;
  run_->give_up();
  transfers_given_up_ += run_->transfers();
  context_.given_up->push_back(std::shared_ptr<BucketedExchange>(std::move(run_)));
}

bool AttendedExchange::takes_part(int replica) const {
  return std::find(participants_.begin(), participants_.end(), replica) != participants_.end();
}

void AttendedExchange::cut(int replica) {
  const auto found = members_.find(replica);
  if (found == members_.end() || found->second.released == 0 || is_done(replica) || is_finished()) return;
  if (is_fetched_ || is_discarded_) return;
  cut_.insert(replica);
  give_up();
}

void AttendedExchange::begin_anew() {
  give_up();
  if (!cut_.empty()) return;
  open();
  const std::vector<int> order = order_;  // a release may be the end of it
  for (const int replica : order)
    for (int bucket = 0; bucket < members_.at(replica).released; ++bucket)
      hand_in(replica, bucket + 1 == rule().buckets);
}

void AttendedExchange::hand_in(int replica, bool is_last_bucket) {
  if (!is_open_) {
    if (is_last_bucket) end(replica);
  } else if (waits_for_all()) {
    run_->release(replica);
  } else {
    come(replica);
  }
}

void AttendedExchange::come(int replica) {
  came_s_[replica] = context_.clock.now_s();
  if (begun_s_ >= 0) {
    if (number_ >= 0)
      context_.lags->of(rule_index(), rule().completion).add_late(number_, came_s_[replica] - quorum_s_);
    if (servers_) servers_->add_waiting(replica);
    return;
  }
  const auto quorum = as_index(rule().completion.quorum);
  if (came_s_.size() == quorum) quorum_s_ = came_s_[replica];
  if (came_s_.size() == order_.size()) return begin();
  if (came_s_.size() != quorum) return;
  const double grace = context_.lags->grace_s(rule_index(), rule().completion);
  if (std::isinf(grace)) return;
  grace_.after(context_.clock, grace, [this] { begin(); });
}

void AttendedExchange::begin() {
  grace_.end();
  begun_s_ = context_.clock.now_s();
  const Completion& completion = rule().completion;
  if (completion.adaptive)
    number_ = context_.lags->of(rule_index(), completion).add(lags_s(came_s_, quorum_s_, completion.quorum));
  for (const int replica : order_)
    if (came_s_.count(replica)) participants_.push_back(replica);
  if (completion.fetches)
    servers_.emplace(context_, step(), rule_index(), exchange_.bytes, 0,
                     [this](int replica, const SyncParts& way) {
                       fetched_[replica] = {context_.clock.now_s(), way};
                       tell(replica);
                     });
  if (participants_.size() == 1) return end(participants_[0]);
  run_ = run_among(participants_);
  for (const int replica : participants_) run_->release(replica);
}

// Last what may end the object.
void AttendedExchange::end(int replica) {
  Member& member = members_.at(replica);
  if (member.done_s >= 0) return;
  member.done_s = context_.clock.now_s();
  if (settled_s_ < 0) settled_s_ = member.done_s;
  if (servers_ && rule().completion.fetches) servers_->add_source(replica);
  tell(replica);
}

// Its end is told once.
void AttendedExchange::tell(int replica) {
  has_told_end_ = has_told_end_ || is_finished();
  on_member_done_(replica);
}

void AttendedExchange::release(int replica) {
  const auto found = members_.find(replica);
  if (found == members_.end() || found->second.done_s >= 0) return;
  Member& member = found->second;
  if (++member.released == rule().buckets && member.ready_s < 0) member.ready_s = context_.clock.now_s();
  if (is_fetched_ || !cut_.empty()) return;
  hand_in(replica, member.released == rule().buckets);
}

void AttendedExchange::lose(int replica) {
  const auto found = members_.find(replica);
  if (found == members_.end() || is_done(replica) || is_finished()) return;
  const bool contributed = !found->second.listens;
  // One that a quorum has passed by is not missed.
  const bool is_missed = !is_open_ || begun_s_ < 0 || waits_for_all() || takes_part(replica);
  members_.erase(found);
  cut_.erase(replica);
  order_.erase(std::find(order_.begin(), order_.end(), replica));
  if (servers_) servers_->remove(replica);
  if (is_missed && !is_discarded_ && !is_fetched_) go_on(contributed && discards_);
  if (is_finished() && !has_told_end_) tell(-1);
}

// Without those who are lost.
void AttendedExchange::go_on(bool fails) {
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
  order_ = all;
  if (!is_open_ || waits_for_all()) participants_ = members_that(false);
}

void AttendedExchange::fetch_result() {
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

bool AttendedExchange::admit(int replica, bool listens) {
  if (members_.count(replica) > 0 || is_discarded_ || is_fetched_) return false;
  const bool have_all_released = std::all_of(members_.begin(), members_.end(), [&](const auto& item) {
    return item.second.released >= rule().buckets;
  });
  if (!members_.empty() && (is_finished() || have_all_released)) return false;
  order_.insert(std::lower_bound(order_.begin(), order_.end(), replica), replica);
  members_[replica].listens = listens;
  begin_anew();
  return true;
}

void AttendedExchange::promote(int replica) {
  const auto found = members_.find(replica);
  if (found == members_.end() || !found->second.listens || is_finished()) return;
  found->second.listens = false;
  redo(replica, false);
}

void AttendedExchange::redo(int replica, bool has_row) {
  const auto found = members_.find(replica);
  if (found == members_.end() || is_done(replica) || is_finished()) return;
  cut_.erase(replica);
  if (!has_row) found->second.released = 0, found->second.ready_s = -1;
  begin_anew();
}

MemberTimes AttendedExchange::times(int replica) const {
  const auto found = members_.find(replica);
  if (found == members_.end()) return {};
  const Member& member = found->second;
  MemberTimes times{member.ready_s, member.done_s, 0, {}};
  if (run_ && std::count(run_->group().begin(), run_->group().end(), replica)) {
    times = run_->times(replica);
    if (member.ready_s >= 0) times.ready_s = member.ready_s;
  } else if (const auto came = came_s_.find(replica); is_open_ && begun_s_ >= 0 && came != came_s_.end()) {
    times.done_s = std::max(begun_s_, came->second);
  }
  if (const auto fetched = fetched_.find(replica); fetched != fetched_.end()) {
    times.parts = fetched->second.way;
    times.parts.waiting_s += fetched->second.at_s - times.done_s - times.parts.total_s();
    times.done_s = fetched->second.at_s;
  }
  if (const auto wasted = wasted_bytes_.find(replica); wasted != wasted_bytes_.end())
    times.bytes_sent += wasted->second;
  times.bytes_sent += servers_ ? servers_->bytes_sent(replica) : 0;
  return times;
}

std::map<int, std::int64_t> AttendedExchange::bytes_of_lost() const {
  std::map<int, std::int64_t> bytes;
  for (const auto& [replica, wasted] : wasted_bytes_)
    if (members_.count(replica) == 0) bytes[replica] = wasted;
  return bytes;
}

bool AttendedExchange::is_done(int replica) const {
  const auto found = members_.find(replica);
  if (found == members_.end() || found->second.done_s >= 0) return true;
  const bool is_passed_by = is_open_ && begun_s_ >= 0 && !takes_part(replica);
  return is_passed_by && (!rule().completion.fetches || fetched_.count(replica) > 0);
}

bool AttendedExchange::is_finished() const {
  if (is_open_)
    return (waits_for_all() || begun_s_ >= 0) && (!run_ || run_->is_finished()) &&
           (!rule().completion.fetches || participants_.size() + fetched_.size() == order_.size());
  if (!cut_.empty()) return false;
  return std::all_of(members_.begin(), members_.end(),
                     [](const auto& item) { return item.second.done_s >= 0; });
}

double AttendedExchange::start_s() const {
  if (!is_open_) return settled_s_;
  return waits_for_all() ? run_->start_s() : begun_s_;
}

double AttendedExchange::done_s() const {
  double last = settled_s_;
  for (const auto& [replica, member] : members_) last = std::max(last, member.done_s);
  return last;
}

std::int64_t AttendedExchange::transfers() const {
  return transfers_given_up_ + (run_ ? run_->transfers() : 0) + (servers_ ? servers_->transfers() : 0);
}

std::vector<std::string> AttendedExchange::waiting() const {
  if (run_) return run_->waiting();
  if (!is_open_)
    return {fmt::format("exchange {} of step {}: {} members have not posted it", rule().name, step(),
                        members_.size())};
  if (begun_s_ >= 0)
    return {fmt::format("exchange {} of step {}: {} replicas need its result", rule().name, step(),
                        order_.size() - participants_.size() - fetched_.size())};
  return {fmt::format("exchange {} of step {}: {} of {} replicas are ready, and {} are needed", rule().name,
                      step(), came_s_.size(), order_.size(), rule().completion.quorum)};
}

}  // namespace longhaul
