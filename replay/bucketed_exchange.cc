#include "replay/bucketed_exchange.h"

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
  const int buckets = exchange.rule->buckets;
  for (int bucket = 0; bucket < buckets; ++bucket)
    runs_.push_back(
        make_exchange_run(context,
                          {*exchange.rule, rule_index, exchange.post_step, this->group(),
                           bucket_bytes(exchange, bucket), bucket, exchange.targets, exchange.parts},
                          [this, bucket](int replica) { end_bucket(as_index(bucket), replica); }));
}

void BucketedExchange::release(int replica) {
  Member& member = members_[runs_.front()->member_of(replica)];
  if (++member.released == runs_.size()) {
    member.ready_s = clock_.now_s();
    if (++ready_ == members_.size())
      for (const auto& run : runs_) run->count();
  }
  post_next(replica, {});
}

// `chain` leads to the end of the bucket before; a release is never later than the start of all chains.
void BucketedExchange::post_next(int replica, const SyncParts& chain) {
  Member& member = members_[runs_.front()->member_of(replica)];
  if (member.posted == member.released) return;
  if (member.posted > 0 && !runs_[member.posted - 1]->is_done(replica)) return;
  runs_[member.posted++]->post(replica, chain);
}

void BucketedExchange::end_bucket(std::size_t bucket, int replica) {
  if (bucket + 1 < runs_.size()) return post_next(replica, runs_[bucket]->times(replica).parts);
  on_member_done_(replica);
}

MemberTimes BucketedExchange::times(int replica) const {
  const MemberTimes& last = runs_.back()->times(replica);
  MemberTimes times{members_[runs_.front()->member_of(replica)].ready_s, last.done_s, 0, last.parts};
  for (const auto& run : runs_) times.bytes_sent += run->times(replica).bytes_sent;
  return times;
}

double BucketedExchange::start_s() const {
  double last = 0;
  for (const Member& member : members_) last = std::max(last, member.ready_s);
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
