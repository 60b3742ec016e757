// When an operation with a quorum begins (Completion, core/plan/operations.h), and who is ready then.
#pragma once

#include <cstdint>
#include <functional>
#include <map>

#include "core/plan/operations.h"
#include "replay/exchange/exchange_run.h"
#include "replay/work/life.h"

namespace longhaul {

// It begins when the quorum has been there for the grace time, or as soon as all members are ready. An
// adaptive grace time is fixed when the quorum is there, from the lags of operations of its rule that have
// begun by then; members that were passed by count once they are ready.
class Quorum {
 public:
  // `context` and `rule` must outlive it. `on_begin` may be called from add().
  Quorum(const ExchangeContext& context, const OperationRule& rule, int rule_index,
         std::function<void()> on_begin);

  // Waits for members anew, of whom there are so many.
  void open(std::size_t members);
  // It does not begin any more.
  void close() { grace_.end(); }
  // The member is ready, in time or not.
  void add(int replica);

  bool has_begun() const { return begun_s_ >= 0; }
  double begun_s() const { return begun_s_; }  // of the clock
  bool has(int replica) const { return ready_s_.count(replica) > 0; }
  double ready_s(int replica) const { return ready_s_.at(replica); }  // of one that it has
  std::size_t size() const { return ready_s_.size(); }

 private:
  void begin();

  const ExchangeContext& context_;
  const OperationRule& rule_;
  const int rule_index_;
  const std::function<void()> on_begin_;
  std::size_t members_ = 0;
  std::map<int, double> ready_s_;  // by replica
  double quorum_s_ = 0, begun_s_ = -1;
  std::int64_t number_ = -1;  // in the history, of an adaptive grace
  Life grace_;
};

}  // namespace longhaul
