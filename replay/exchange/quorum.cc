#include "replay/exchange/quorum.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "core/base/index.h"

namespace longhaul {
namespace {

// Of the members that were ready behind the quorum.
std::vector<double> lags_s(const std::map<int, double>& ready_s, double quorum_s, int quorum) {
  std::vector<double> lags;
  for (const auto& [replica, ready] : ready_s) lags.push_back(ready - quorum_s);
  std::sort(lags.begin(), lags.end());
  lags.erase(lags.begin(), lags.begin() + std::min(quorum, static_cast<int>(lags.size())));
  return lags;
}

}  // namespace

Quorum::Quorum(const ExchangeContext& context, const OperationRule& rule, int rule_index,
               std::function<void()> on_begin)
    : context_(context), rule_(rule), rule_index_(rule_index), on_begin_(std::move(on_begin)) {}

void Quorum::open(std::size_t members) {
  grace_.end();
  members_ = members;
  ready_s_.clear();
  begun_s_ = -1;
  number_ = -1;
}

void Quorum::add(int replica) {
  const double now_s = context_.clock.now_s();
  ready_s_[replica] = now_s;
  if (has_begun()) {
    if (number_ >= 0) context_.lags->of(rule_index_, rule_.completion).add_late(number_, now_s - quorum_s_);
    return;
  }
  const auto quorum = as_index(rule_.completion.quorum);
  if (size() == quorum) quorum_s_ = now_s;
  if (size() == members_) return begin();
  if (size() != quorum) return;
  const double grace = context_.lags->grace_s(rule_index_, rule_.completion);
  if (std::isinf(grace)) return;
  grace_.after(context_.clock, grace, [this] { begin(); });
}

void Quorum::begin() {
  grace_.end();
  begun_s_ = context_.clock.now_s();
  if (rule_.completion.adaptive)
    number_ = context_.lags->of(rule_index_, rule_.completion)
                  .add(lags_s(ready_s_, quorum_s_, rule_.completion.quorum));
  on_begin_();
}

}  // namespace longhaul
