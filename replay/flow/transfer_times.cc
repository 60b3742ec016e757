#include "replay/flow/transfer_times.h"

#include <algorithm>

namespace longhaul {
namespace {

// Sharing below zero is what bursts and parallel connections gave back to each other: it is taken from what
// it was given for.
SyncParts settled(SyncParts spent) {
  for (double* part : {&spent.congestion_s, &spent.startup_s, &spent.bytes_s}) {
    const double given = std::max(std::min(-spent.sharing_s, *part), 0.);
    *part -= given;
    spent.sharing_s += given;
  }
  return spent;
}

}  // namespace

void TransferTimes::queue_behind(const SyncParts& until_now) {
  if (!behind_) behind_ = std::make_unique<Behind>();
  behind_->before.push_back(until_now);
}

void TransferTimes::end_first(SyncParts* parts) {
  spent.excess_s = 0;
  if (!behind_ && spent.parts.sharing_s >= 0) {
    if (parts) *parts += spent.parts;
    return;
  }
  SyncParts own = spent.parts;
  if (behind_ && behind_->is_first_behind) own -= behind_->before_first;
  if (parts) *parts += settled(own);
  if (!behind_) return;
  behind_->is_first_behind = !behind_->before.empty();
  if (!behind_->is_first_behind) return;
  behind_->before_first = behind_->before.front();
  behind_->before.pop_front();
}

}  // namespace longhaul
