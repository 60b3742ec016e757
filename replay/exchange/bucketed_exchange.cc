#include "replay/exchange/bucketed_exchange.h"

#include <algorithm>
#include <utility>

#include "core/base/index.h"

namespace longhaul {

BucketedExchange::BucketedExchange(const ExchangeContext& context, const Operation& exchange, int rule_index,
                                   std::vector<int> group, MemberDone on_member_done)
    : GroupOperation(exchange, rule_index, std::move(group)),
      clock_(context.clock),
      members_(this->group().size()),
      on_member_done_(std::move(on_member_done)) {
  if (exchange.rule->together) at_a_time_ = as_index(library_named(context.spec.library).at_a_time);
  for (const std::int64_t bytes : bytes_of_operations(exchange)) {
    const std::size_t operation = runs_.size();
    runs_.push_back(make_exchange_run(context,
                                      {*exchange.rule, rule_index, exchange.post_step, this->group(), bytes,
                                       static_cast<int>(operation), exchange.targets, exchange.parts},
                                      [this, operation](int replica) { end_operation(operation, replica); }));
  }
}

void BucketedExchange::release(int replica) {
  Member& member = at(replica);
  member.released += rule().buckets == 1 ? runs_.size() : 1;
  if (member.released == runs_.size()) {
    member.ready_s = clock_.now_s();
    if (++ready_ == members_.size())
      for (const auto& run : runs_) run->count();
  }
  member.chain = {};
  post_next(replica);
}

// A release is never later than the start of all chains. What is posted may be done at once, and the last one
// may be the end of this exchange.
void BucketedExchange::post_next(int replica) {
  Member& member = at(replica);
  if (member.is_posting || member.posted == member.released) return;
  member.is_posting = true;
  while (member.posted < member.released && member.posted - member.done < at_a_time_)
    runs_[member.posted++]->post(replica, member.chain);
  member.is_posting = false;
  if (member.done == runs_.size()) on_member_done_(replica);
}

void BucketedExchange::end_operation(std::size_t operation, int replica) {
  Member& member = at(replica);
  member.last = operation;
  member.chain = runs_[operation]->times(replica).parts;
  if (++member.done == runs_.size()) ++finished_;
  if (member.is_posting) return;
  if (member.done == runs_.size()) return on_member_done_(replica);
  post_next(replica);
}

MemberTimes BucketedExchange::times(int replica) const {
  const Member& member = at(replica);
  MemberTimes times;
  times.ready_s = member.ready_s;
  if (member.done == runs_.size()) {
    const MemberTimes& last = runs_[member.last]->times(replica);
    times.done_s = last.done_s, times.parts = last.parts;
    if (runs_.front()->senders_to(replica))
      times.parts = last_seconds(times.parts, times.done_s - start_s(replica));
  }
  for (const auto& run : runs_) times.bytes_sent += run->times(replica).bytes_sent;
  return times;
}

double BucketedExchange::done_s() const {
  double last = 0;
  for (const auto& run : runs_) last = std::max(last, run->done_s());
  return last;
}

double BucketedExchange::start_s() const {
  double last = 0;
  for (const Member& member : members_) last = std::max(last, member.ready_s);
  return last;
}

double BucketedExchange::start_s(int replica) const {
  const std::vector<int>* senders = runs_.front()->senders_to(replica);
  if (!senders) return start_s();
  double last = at(replica).ready_s;
  for (const int sender : *senders) last = std::max(last, members_[as_index(sender)].ready_s);
  return last;
}

std::int64_t BucketedExchange::transfers() const {
  std::int64_t transfers = 0;
  for (const auto& run : runs_) transfers += run->transfers();
  return transfers;
}

std::vector<std::string> BucketedExchange::waiting() const {
  for (const auto& run : runs_)
    if (!run->is_finished()) return run->waiting();
  return {};
}

}  // namespace longhaul
