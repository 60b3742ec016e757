#include "replay/exchange/elastic_exchange.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "core/base/index.h"

namespace longhaul {

ElasticExchange::ElasticExchange(const ExchangeContext& context, const Operation& exchange, int rule_index,
                                 std::vector<int> group, const std::vector<int>& listeners, bool discards,
                                 MemberDone on_member_done)
    : GroupOperation(exchange, rule_index, group),
      context_(context),
      discards_(discards && exchange.rule->completion.is_all()),
      on_member_done_(std::move(on_member_done)),
      order_(std::move(group)),
      quorum_(context, *exchange.rule, rule_index, [this] { begin(); }) {
  for (const int replica : order_)
    members_[replica].listens = std::find(listeners.begin(), listeners.end(), replica) != listeners.end();
  open();
}

void ElasticExchange::open() {
  phase_ = order_.size() < 2 ? Phase::kAlone : waits_for_all() ? Phase::kRunning : Phase::kGathering;
  participants_ = phase_ == Phase::kGathering ? std::vector<int>() : members_that(false);
  run_.reset();
  if (phase_ == Phase::kRunning) run_ = run_among(order_);
  quorum_.open(order_.size());
}

std::vector<int> ElasticExchange::members_that(bool listen) const {
  std::vector<int> replicas;
  for (const int replica : order_)
    if (members_.at(replica).listens == listen) replicas.push_back(replica);
  return replicas;
}

std::unique_ptr<BucketedExchange> ElasticExchange::run_among(const std::vector<int>& members) {
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

// Nothing is sent any more, and no member will be done. What comes then is the next phase.
void ElasticExchange::abort() {
  quorum_.close();
  if (!run_) return;
  run_->give_up();
  for (const int replica : run_->group()) wasted_bytes_[replica] += run_->times(replica).bytes_sent;
  transfers_given_up_ += run_->transfers();
  context_.given_up->push_back(std::shared_ptr<BucketedExchange>(std::move(run_)));
}

bool ElasticExchange::takes_part(int replica) const {
  return std::find(participants_.begin(), participants_.end(), replica) != participants_.end();
}

void ElasticExchange::on_crash(int replica) {
  const auto found = members_.find(replica);
  if (found == members_.end() || found->second.released == 0 || is_done(replica) || is_finished()) return;
  if (phase_ == Phase::kFetching || phase_ == Phase::kFailed) return;
  crashed_.insert(replica);
  abort();
  phase_ = Phase::kInterrupted;
}

void ElasticExchange::restart() {
  abort();
  if (!crashed_.empty()) {
    phase_ = Phase::kInterrupted;
    return;
  }
  open();
  const std::vector<int> order = order_;  // a release may be the end of it
  for (const int replica : order)
    for (int bucket = 0; bucket < members_.at(replica).released; ++bucket)
      release_to_run(replica, bucket + 1 == rule().buckets);
}

void ElasticExchange::release_to_run(int replica, bool is_last_bucket) {
  if (!is_open()) {
    if (is_last_bucket) end(replica);
  } else if (waits_for_all()) {
    run_->release(replica);
  } else {
    const bool is_late = quorum_.has_begun();
    quorum_.add(replica);
    if (is_late && servers_) servers_->add_waiting(replica);
  }
}

// The quorum is there.
void ElasticExchange::begin() {
  phase_ = Phase::kRunning;
  for (const int replica : order_)
    if (quorum_.has(replica)) participants_.push_back(replica);
  if (rule().completion.fetches)
    servers_.emplace(context_, step(), rule_index(), exchange_.bytes, 0,
                     [this](int replica, const SyncParts& way) {
                       fetched_[replica] = {context_.clock.now_s(), way};
                       notify(replica);
                     });
  if (participants_.size() == 1) return end(participants_[0]);
  run_ = run_among(participants_);
  for (const int replica : participants_) run_->release(replica);
}

// Last what may end the object.
void ElasticExchange::end(int replica) {
  Member& member = members_.at(replica);
  if (member.done_s >= 0) {  // it took part again for one that repeats its step, and may be the last
    if (is_finished() && !has_told_end_) notify(-1);
    return;
  }
  member.done_s = context_.clock.now_s();
  if (settled_s_ < 0) settled_s_ = member.done_s;
  if (servers_ && rule().completion.fetches) servers_->add_source(replica);
  notify(replica);
}

// Its end is told once.
void ElasticExchange::notify(int replica) {
  has_told_end_ = has_told_end_ || is_finished();
  on_member_done_(replica);
}

void ElasticExchange::release(int replica) {
  const auto found = members_.find(replica);
  if (found == members_.end() || found->second.done_s >= 0) return;
  Member& member = found->second;
  if (++member.released == rule().buckets && member.ready_s < 0) member.ready_s = context_.clock.now_s();
  if (phase_ == Phase::kFetching || phase_ == Phase::kInterrupted) return;
  release_to_run(replica, member.released == rule().buckets);
}

void ElasticExchange::on_failure_detected(int replica) {
  const auto found = members_.find(replica);
  if (found == members_.end() || is_done(replica) || is_finished()) return;
  const bool contributed = !found->second.listens;
  // One that a quorum has passed by is not missed.
  const bool is_missed = phase_ != Phase::kRunning || waits_for_all() || takes_part(replica);
  members_.erase(found);
  crashed_.erase(replica);
  order_.erase(std::find(order_.begin(), order_.end(), replica));
  if (servers_) servers_->remove(replica);
  if (is_missed && phase_ != Phase::kFailed && phase_ != Phase::kFetching)
    continue_without_lost(contributed && discards_);
  if (is_finished() && !has_told_end_) notify(-1);
}

void ElasticExchange::continue_without_lost(bool fails) {
  const bool has_result =
      std::any_of(members_.begin(), members_.end(), [](const auto& item) { return item.second.done_s >= 0; });
  if (has_result && rule().kind != OperationKind::kSend) return fetch_result();
  if (fails) return fail();
  // Of sends to targets who is done keeps what it has.
  const std::vector<int> all = order_;
  order_.erase(std::remove_if(order_.begin(), order_.end(),
                              [&](int member) { return members_.at(member).done_s >= 0; }),
               order_.end());
  if (!order_.empty())
    restart();
  else if (phase_ == Phase::kInterrupted && crashed_.empty())
    phase_ = Phase::kAlone;
  order_ = all;
  if (!is_open() || waits_for_all()) participants_ = members_that(false);
}

void ElasticExchange::fail() {
  abort();
  phase_ = Phase::kFailed;
  crashed_.clear();
  participants_.clear();
  settled_s_ = context_.clock.now_s();
  const std::vector<int> order = order_;
  for (const int member : order)
    if (members_.at(member).released >= rule().buckets) end(member);
}

void ElasticExchange::fetch_result() {
  abort();
  phase_ = Phase::kFetching;
  crashed_.clear();
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

bool ElasticExchange::can_add(int replica) const {
  if (members_.count(replica) > 0 || phase_ == Phase::kFailed || phase_ == Phase::kFetching) return false;
  const bool have_all_released = std::all_of(members_.begin(), members_.end(), [&](const auto& item) {
    return item.second.released >= rule().buckets;
  });
  return members_.empty() || !(is_finished() || have_all_released);
}

bool ElasticExchange::add_member(int replica, bool listens) {
  if (!can_add(replica)) return false;
  order_.insert(std::lower_bound(order_.begin(), order_.end(), replica), replica);
  members_[replica].listens = listens;
  restart();
  return true;
}

void ElasticExchange::begin_contributing(int replica) {
  const auto found = members_.find(replica);
  if (found == members_.end() || !found->second.listens || is_finished()) return;
  found->second.listens = false;
  on_resume(replica, false);
}

void ElasticExchange::on_resume(int replica, bool has_row) {
  const auto found = members_.find(replica);
  if (found == members_.end() || is_done(replica) || is_finished()) return;
  crashed_.erase(replica);
  if (!has_row) found->second.released = 0, found->second.ready_s = -1;
  restart();
}

MemberTimes ElasticExchange::times(int replica) const {
  const auto found = members_.find(replica);
  if (found == members_.end()) return {};
  const Member& member = found->second;
  MemberTimes times{member.ready_s, member.done_s, 0, {}};
  if (run_ && std::count(run_->group().begin(), run_->group().end(), replica)) {
    times = run_->times(replica);
    if (member.ready_s >= 0) times.ready_s = member.ready_s;
  } else if (phase_ == Phase::kRunning && quorum_.has(replica)) {
    times.done_s = std::max(quorum_.begun_s(), quorum_.ready_s(replica));
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

std::map<int, std::int64_t> ElasticExchange::bytes_by_sender() const {
  std::map<int, std::int64_t> bytes = wasted_bytes_;
  if (run_)
    for (const int replica : run_->group()) bytes[replica] += run_->times(replica).bytes_sent;
  if (servers_)
    for (const auto& [replica, sent] : servers_->bytes_sent()) bytes[replica] += sent;
  return bytes;
}

bool ElasticExchange::is_done(int replica) const {
  const auto found = members_.find(replica);
  if (found == members_.end() || found->second.done_s >= 0) return true;
  const bool is_passed_by = phase_ == Phase::kRunning && !waits_for_all() && !takes_part(replica);
  return is_passed_by && (!rule().completion.fetches || fetched_.count(replica) > 0);
}

bool ElasticExchange::is_finished() const {
  if (phase_ == Phase::kGathering || phase_ == Phase::kInterrupted) return false;
  if (phase_ == Phase::kRunning)
    return (!run_ || run_->is_finished()) &&
           (!rule().completion.fetches || participants_.size() + fetched_.size() == order_.size());
  return std::all_of(members_.begin(), members_.end(),
                     [](const auto& item) { return item.second.done_s >= 0; });
}

double ElasticExchange::start_s() const {
  if (!is_open()) return settled_s_;
  return waits_for_all() ? run_->start_s() : quorum_.begun_s();
}

double ElasticExchange::start_s(int replica) const {
  return is_open() && waits_for_all() && takes_part(replica) ? run_->start_s(replica) : start_s();
}

double ElasticExchange::done_s() const {
  double last = settled_s_;
  for (const auto& [replica, member] : members_) last = std::max(last, member.done_s);
  return last;
}

std::int64_t ElasticExchange::transfers() const {
  return transfers_given_up_ + (run_ ? run_->transfers() : 0) + (servers_ ? servers_->transfers() : 0);
}

std::vector<std::string> ElasticExchange::waiting() const {
  if (run_) return run_->waiting();
  if (!is_open())
    return {fmt::format("exchange {} of step {}: {} members have not posted it", rule().name, step(),
                        members_.size())};
  if (phase_ == Phase::kRunning)
    return {fmt::format("exchange {} of step {}: {} replicas need its result", rule().name, step(),
                        order_.size() - participants_.size() - fetched_.size())};
  return {fmt::format("exchange {} of step {}: {} of {} replicas are ready, and {} are needed", rule().name,
                      step(), quorum_.size(), order_.size(), rule().completion.quorum)};
}

}  // namespace longhaul
