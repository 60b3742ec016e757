// Where the time of a channel's transfers goes: SpentTime adds up what a sender does, TransferTimes gives
// each transfer of its queue its share (replay/network/sync_parts.h). Seconds.
#pragma once

#include <memory>

#include "replay/flow/containers.h"
#include "replay/network/sync_parts.h"

namespace longhaul {

// Since the channel was idle.
struct SpentTime {
  // Data goes out, of which `alone_s` are what the path alone would take; in a burst of its own, or in a
  // fluid.
  void sending(double elapsed_s, double alone_s, bool is_burst);

  // Acknowledgements are waited for, which counts as `part`. If the sender of a burst then waits anyway,
  // being slowed down cost no time: they come a round trip after the burst began.
  void waiting(double elapsed_s, double SyncParts::*part);

  SyncParts parts;
  double excess_s = 0;  // of its sharing, what the burst at hand took
};

class TransferTimes {
 public:
  // The channel was idle, and has a transfer.
  void start() { spent = {}; }

  // A transfer is queued behind others, when the channel has spent `until_now`.
  void queue_behind(const SyncParts& until_now);

  // The first transfer is done: what it took is added to `parts`, unless that is null.
  void end_first(SyncParts* parts);

  SpentTime spent;

 private:
  // Transfers that were queued behind another.
  struct Behind {
    SyncParts before_first;        // what does not count for the first one: it was spent before it was queued
    bool is_first_behind = false;  // whether there is such
    ShortQueue<SyncParts> before;  // the same of those behind the first
  };

  std::unique_ptr<Behind> behind_;  // null: nothing was ever queued behind
};

inline void SpentTime::sending(double elapsed_s, double alone_s, bool is_burst) {
  parts.bytes_s += alone_s;
  parts.sharing_s += elapsed_s - alone_s;
  if (is_burst) excess_s += elapsed_s - alone_s;
}

inline void SpentTime::waiting(double elapsed_s, double SyncParts::*part) {
  parts.*part += elapsed_s + excess_s;
  parts.sharing_s -= excess_s;
  excess_s = 0;
}

}  // namespace longhaul
